// With a channel all partitions of the replicas in a group meet, and the first partition of the first
// replica gets the sum; or groups number devices.
module @collective_reduce attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main() {
    %replica = stablehlo.replica_id : tensor<ui32>
    %partition = stablehlo.partition_id : tensor<ui32>
    %two = stablehlo.constant dense<2> : tensor<ui32>
    %row = stablehlo.multiply %replica, %two : tensor<ui32>
    %id = stablehlo.add %row, %partition : tensor<ui32>
    %x = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
    %ten = stablehlo.constant dense<10> : tensor<i64>
    %y = stablehlo.add %x, %ten : tensor<i64>
    %all = "stablehlo.collective_reduce"(%y) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<i64>) -> tensor<i64>
    %sums = stablehlo.constant dense<[0, 0, 46, 0]> : tensor<4xi64>
    %0 = stablehlo.dynamic_slice %sums, %id, sizes = [1] : (tensor<4xi64>, tensor<ui32>) -> tensor<1xi64>
    %1 = stablehlo.reshape %0 : (tensor<1xi64>) -> tensor<i64>
    check.expect_eq %all, %1 : tensor<i64>
    %some = "stablehlo.collective_reduce"(%y) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[3, 0], [1, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<i64>) -> tensor<i64>
    %pairs = stablehlo.constant dense<[0, 23, 0, 23]> : tensor<4xi64>
    %2 = stablehlo.dynamic_slice %pairs, %id, sizes = [1] : (tensor<4xi64>, tensor<ui32>) -> tensor<1xi64>
    %3 = stablehlo.reshape %2 : (tensor<1xi64>) -> tensor<i64>
    check.expect_eq %some, %3 : tensor<i64>
    return
  }
}
