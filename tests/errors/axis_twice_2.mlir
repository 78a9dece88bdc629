// error: argument 0 of @main: axis "i" cuts dimension 0 and dimension 1: it may cut one, once
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {"i"}]>}) -> tensor<4x2xf32> {
    return %x : tensor<4x2xf32>
  }
}
