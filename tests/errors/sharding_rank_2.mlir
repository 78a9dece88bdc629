// error: argument 0 of @main: a sharding of 1 dimensions for an array of rank 2
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) -> tensor<4x2xf32> {
    return %x : tensor<4x2xf32>
  }
}
