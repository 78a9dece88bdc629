// A sum of floats of 8 bits over devices is rounded once: 16 + 7 * 1 is 23, which f8E4M3FN has as 24 (its
// steps are 2 there, and 23 is as near to 22, whose last bit is odd).  Rounded after each addition it would
// stay at 16.
module @psum_f8 attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xf8E4M3FN>, tensor<1xf8E4M3FN>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %zero = stablehlo.constant dense<0> : tensor<ui32>
    %is_first = stablehlo.compare EQ, %id, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %large = stablehlo.constant dense<16.0> : tensor<8xf8E4M3FN>
    %one = stablehlo.constant dense<1.0> : tensor<8xf8E4M3FN>
    %x = stablehlo.select %is_first, %large, %one : tensor<i1>, tensor<8xf8E4M3FN>
    %sum = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>):
      %s = stablehlo.add %a, %b : tensor<f8E4M3FN>
      stablehlo.return %s : tensor<f8E4M3FN>
    }) {replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
    %slice = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>):
      %s = stablehlo.add %a, %b : tensor<f8E4M3FN>
      stablehlo.return %s : tensor<f8E4M3FN>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids} : (tensor<8xf8E4M3FN>) -> tensor<1xf8E4M3FN>
    %expected = stablehlo.constant dense<24.0> : tensor<8xf8E4M3FN>
    stablehlo.custom_call @check.expect_eq(%sum, %expected) {has_side_effect = true} : (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>) -> ()
    %one_expected = stablehlo.constant dense<24.0> : tensor<1xf8E4M3FN>
    stablehlo.custom_call @check.expect_eq(%slice, %one_expected) {has_side_effect = true} : (tensor<1xf8E4M3FN>, tensor<1xf8E4M3FN>) -> ()
    return %sum, %slice : tensor<8xf8E4M3FN>, tensor<1xf8E4M3FN>
  }
}
