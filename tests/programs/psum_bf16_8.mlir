// A sum of bf16 over devices is rounded once: 256 + 7 * 1 is 263, which bf16 has as 264.  Rounded after
// each addition it would stay at 256.
module @psum_bf16 attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xbf16>, tensor<1xbf16>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %zero = stablehlo.constant dense<0> : tensor<ui32>
    %is_first = stablehlo.compare EQ, %id, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %large = stablehlo.constant dense<256.0> : tensor<8xbf16>
    %one = stablehlo.constant dense<1.0> : tensor<8xbf16>
    %x = stablehlo.select %is_first, %large, %one : tensor<i1>, tensor<8xbf16>
    %sum = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %s = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %s : tensor<bf16>
    }) {replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<8xbf16>) -> tensor<8xbf16>
    %slice = "stablehlo.reduce_scatter"(%x) ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %s = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %s : tensor<bf16>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids} : (tensor<8xbf16>) -> tensor<1xbf16>
    %expected = stablehlo.constant dense<264.0> : tensor<8xbf16>
    stablehlo.custom_call @check.expect_eq(%sum, %expected) {has_side_effect = true} : (tensor<8xbf16>, tensor<8xbf16>) -> ()
    %one_expected = stablehlo.constant dense<264.0> : tensor<1xbf16>
    stablehlo.custom_call @check.expect_eq(%slice, %one_expected) {has_side_effect = true} : (tensor<1xbf16>, tensor<1xbf16>) -> ()
    return %sum, %slice : tensor<8xbf16>, tensor<1xbf16>
  }
}
