// error: argument 0 of @main: unreduced axis "i" is listed twice or cuts a dimension
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}], unreduced={"i"}>}) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}
