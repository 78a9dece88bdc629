// A program that says nowhere how an array lies is what each device does.  Groups of replicas with a
// channel hold every partition of theirs, all replicas of the first partition first.
module @placed attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main() {
    %r = stablehlo.replica_id : tensor<ui32>
    %p = stablehlo.partition_id : tensor<ui32>
    %ten = stablehlo.constant dense<10> : tensor<ui32>
    %rs = stablehlo.multiply %r, %ten : tensor<ui32>
    %mine = stablehlo.add %rs, %p : tensor<ui32>
    %x = stablehlo.reshape %mine : (tensor<ui32>) -> tensor<1xui32>
    %all = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<1xui32>) -> tensor<4xui32>
    check.expect_eq_const %all, dense<[0, 10, 1, 11]> : tensor<4xui32>
    %turned = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>} : (tensor<1xui32>) -> tensor<4xui32>
    check.expect_eq_const %turned, dense<[10, 0, 11, 1]> : tensor<4xui32>
    %flat = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>, use_global_device_ids} : (tensor<1xui32>) -> tensor<4xui32>
    check.expect_eq_const %flat, dense<[0, 1, 10, 11]> : tensor<4xui32>
    return
  }
}
