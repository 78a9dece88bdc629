// error: argument 0 of @main: mhlo.sharding "{devices=[4]<=[4]}" is for more devices than the 2 of the program
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
