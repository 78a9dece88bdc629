// error: NAME:6:30: mesh @mesh is defined twice
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}) -> tensor<4x2xf32> {
    return %x : tensor<4x2xf32>
  }
  sdy.mesh @mesh = <["i"=2]> sdy.mesh @mesh = <["i"=2]>
}
