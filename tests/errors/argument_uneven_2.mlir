// error: argument 0 of @main: f32[3,2] cannot be cut into 2 equal tiles along dimension 0: its extent must be a multiple of 2
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}) -> tensor<3x2xf32> {
    return %x : tensor<3x2xf32>
  }
}
