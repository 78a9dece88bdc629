// A ring of three sends before anybody receives; device 3 is in no pair.  Then two letters on one
// channel come in the order sent, with several operands.
module @send_recv attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() {
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %mine = stablehlo.reshape %f : (tensor<f32>) -> tensor<1xf32>
      %t0 = stablehlo.create_token : !stablehlo.token
      %t1 = "stablehlo.send"(%mine, %t0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<1xf32>, !stablehlo.token) -> !stablehlo.token
      %twice = stablehlo.add %mine, %mine : tensor<1xf32>
      %t2 = "stablehlo.send"(%twice, %id, %t1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<1xf32>, tensor<ui32>, !stablehlo.token) -> !stablehlo.token
      %t3 = stablehlo.after_all %t1, %t2 : !stablehlo.token
      %y:2 = "stablehlo.recv"(%t3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (!stablehlo.token) -> (tensor<1xf32>, !stablehlo.token)
      %z:3 = "stablehlo.recv"(%y#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (!stablehlo.token) -> (tensor<1xf32>, tensor<ui32>, !stablehlo.token)
      %t_want = stablehlo.constant dense<[[2.0], [0.0], [1.0], [0.0]]> : tensor<4x1xf32>
      %z_want = stablehlo.constant dense<0> : tensor<ui32>
      %s_want = stablehlo.dynamic_slice %t_want, %id, %z_want, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %want = stablehlo.reshape %s_want : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%y#0, %want) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %t_wantz = stablehlo.constant dense<[[4.0], [0.0], [2.0], [0.0]]> : tensor<4x1xf32>
      %z_wantz = stablehlo.constant dense<0> : tensor<ui32>
      %s_wantz = stablehlo.dynamic_slice %t_wantz, %id, %z_wantz, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %wantz = stablehlo.reshape %s_wantz : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%z#0, %wantz) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %t_wanti = stablehlo.constant dense<[[2], [0], [1], [0]]> : tensor<4x1xui32>
      %z_wanti = stablehlo.constant dense<0> : tensor<ui32>
      %s_wanti = stablehlo.dynamic_slice %t_wanti, %id, %z_wanti, sizes = [1, 1] : (tensor<4x1xui32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xui32>
      %wanti = stablehlo.reshape %s_wanti : (tensor<1x1xui32>) -> tensor<1xui32>
      %zi = stablehlo.reshape %z#1 : (tensor<ui32>) -> tensor<1xui32>
      stablehlo.custom_call @check.expect_eq(%zi, %wanti) {has_side_effect = true} : (tensor<1xui32>, tensor<1xui32>) -> ()
      sdy.return
    } : () -> ()
    return
  }
}
