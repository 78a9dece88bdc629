// The first of a group hands its value to the others; who is in no group gets zeros.
module @collective_broadcast attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() {
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %mine = stablehlo.reshape %f : (tensor<f32>) -> tensor<1xf32>
      %y = "stablehlo.collective_broadcast"(%mine) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[2, 0, 1]]> : tensor<1x3xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
      %t_want = stablehlo.constant dense<[[2.0], [2.0], [2.0], [0.0]]> : tensor<4x1xf32>
      %z_want = stablehlo.constant dense<0> : tensor<ui32>
      %s_want = stablehlo.dynamic_slice %t_want, %id, %z_want, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %want = stablehlo.reshape %s_want : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%y, %want) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      sdy.return
    } : () -> ()
    return
  }
}
