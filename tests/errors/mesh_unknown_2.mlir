// error: NAME:4:76: the module has no mesh @grid
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@grid, [{"i"}, {}]>}) -> tensor<4x2xf32> {
    return %x : tensor<4x2xf32>
  }
}
