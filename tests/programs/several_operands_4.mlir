// Collectives of several operands, of several element types where they may be; and a reducer of the
// program's own, which shows that devices are taken in their order: ((a0 * 2 + a1) * 2 + a2) * 2 + a3.
module @several attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() {
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %mine = stablehlo.reshape %f : (tensor<f32>) -> tensor<1xf32>
      %whole = stablehlo.reshape %id : (tensor<ui32>) -> tensor<1xui32>
      %ten = stablehlo.constant dense<10.0> : tensor<2x1xf32>
      %wide = stablehlo.broadcast_in_dim %mine, dims = [1] : (tensor<1xf32>) -> tensor<2x1xf32>
      %tens = stablehlo.multiply %ten, %wide : tensor<2x1xf32>
      %r:2 = "stablehlo.all_reduce"(%mine, %tens) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %two = stablehlo.constant dense<2.0> : tensor<f32>
        %d = stablehlo.multiply %a, %two : tensor<f32>
        %s = stablehlo.add %d, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<1xf32>, tensor<2x1xf32>) -> (tensor<1xf32>, tensor<2x1xf32>)
      %r0 = stablehlo.constant dense<11.0> : tensor<1xf32>
      %r1 = stablehlo.constant dense<110.0> : tensor<2x1xf32>
      stablehlo.custom_call @check.expect_eq(%r#0, %r0) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      stablehlo.custom_call @check.expect_eq(%r#1, %r1) {has_side_effect = true} : (tensor<2x1xf32>, tensor<2x1xf32>) -> ()
      %g:2 = "stablehlo.all_gather"(%mine, %whole) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1xf32>, tensor<1xui32>) -> (tensor<4xf32>, tensor<4xui32>)
      %g0 = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
      %g1 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xui32>
      stablehlo.custom_call @check.expect_eq(%g#0, %g0) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
      stablehlo.custom_call @check.expect_eq(%g#1, %g1) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
      %four = stablehlo.broadcast_in_dim %mine, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
      %ids = stablehlo.broadcast_in_dim %whole, dims = [0] : (tensor<1xui32>) -> tensor<4xui32>
      %x:2 = "stablehlo.all_to_all"(%four, %ids) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xui32>) -> (tensor<4xf32>, tensor<4xui32>)
      stablehlo.custom_call @check.expect_eq(%x#0, %g0) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
      stablehlo.custom_call @check.expect_eq(%x#1, %g1) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
      sdy.return
    } : () -> ()
    return
  }
}
