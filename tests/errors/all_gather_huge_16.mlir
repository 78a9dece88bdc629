// error: all_gather (NAME:4:10): dimension 0 of i1[1152921504606846976], 16 times: it has too many elements
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 16 : i32} {
  func.func @main(%x: tensor<1152921504606846976xi1>) -> tensor<16xi1> {
    %r = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<1x16xi64>}> : (tensor<1152921504606846976xi1>) -> tensor<16xi1>
    return %r : tensor<16xi1>
  }
}
