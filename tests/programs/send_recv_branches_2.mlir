// Device 0 sends in one branch what device 1 receives in the other, again and again.
module @send_recv_branches attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main() {
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %mine = stablehlo.reshape %f : (tensor<f32>) -> tensor<1xf32>
      %t0 = stablehlo.create_token : !stablehlo.token
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %many = stablehlo.constant dense<50> : tensor<i32>
      %which = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %start = stablehlo.constant dense<0.0> : tensor<1xf32>
      %sum:2 = stablehlo.while(%k = %zero, %x = %start) : tensor<i32>, tensor<1xf32>
      cond {
        %go = stablehlo.compare LT, %k, %many : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %got = "stablehlo.case"(%which) ({
          %kf = stablehlo.convert %k : (tensor<i32>) -> tensor<f32>
          %kr = stablehlo.reshape %kf : (tensor<f32>) -> tensor<1xf32>
          %t1 = "stablehlo.send"(%kr, %t0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1xf32>, !stablehlo.token) -> !stablehlo.token
          stablehlo.return %start : tensor<1xf32>
        }, {
          %r:2 = "stablehlo.recv"(%t0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<1xf32>, !stablehlo.token)
          stablehlo.return %r#0 : tensor<1xf32>
        }) : (tensor<i32>) -> tensor<1xf32>
        %next = stablehlo.add %x, %got : tensor<1xf32>
        %k1 = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %k1, %next : tensor<i32>, tensor<1xf32>
      }
      %t_want = stablehlo.constant dense<[[0.0], [1225.0]]> : tensor<2x1xf32>
      %z_want = stablehlo.constant dense<0> : tensor<ui32>
      %s_want = stablehlo.dynamic_slice %t_want, %id, %z_want, sizes = [1, 1] : (tensor<2x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %want = stablehlo.reshape %s_want : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%sum#1, %want) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      sdy.return
    } : () -> ()
    return
  }
}
