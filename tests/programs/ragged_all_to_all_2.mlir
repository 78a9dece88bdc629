// Everybody sends rows of its own number; where they land is the sender's to say.
module @ragged_all_to_all attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main() {
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %mine = stablehlo.reshape %f : (tensor<f32>) -> tensor<1xf32>
      %t_rows = stablehlo.constant dense<[[0.0, 1.0, 2.0, 3.0], [10.0, 11.0, 12.0, 13.0]]> : tensor<2x4xf32>
      %z_rows = stablehlo.constant dense<0> : tensor<ui32>
      %s_rows = stablehlo.dynamic_slice %t_rows, %id, %z_rows, sizes = [1, 4] : (tensor<2x4xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x4xf32>
      %rows = stablehlo.reshape %s_rows : (tensor<1x4xf32>) -> tensor<4xf32>
      %t_ioff = stablehlo.constant dense<[[0, 1], [0, 2]]> : tensor<2x2xi32>
      %z_ioff = stablehlo.constant dense<0> : tensor<ui32>
      %s_ioff = stablehlo.dynamic_slice %t_ioff, %id, %z_ioff, sizes = [1, 2] : (tensor<2x2xi32>, tensor<ui32>, tensor<ui32>) -> tensor<1x2xi32>
      %ioff = stablehlo.reshape %s_ioff : (tensor<1x2xi32>) -> tensor<2xi32>
      %t_send = stablehlo.constant dense<[[1, 3], [2, 2]]> : tensor<2x2xi32>
      %z_send = stablehlo.constant dense<0> : tensor<ui32>
      %s_send = stablehlo.dynamic_slice %t_send, %id, %z_send, sizes = [1, 2] : (tensor<2x2xi32>, tensor<ui32>, tensor<ui32>) -> tensor<1x2xi32>
      %send = stablehlo.reshape %s_send : (tensor<1x2xi32>) -> tensor<2xi32>
      %t_ooff = stablehlo.constant dense<[[0, 0], [1, 3]]> : tensor<2x2xi32>
      %z_ooff = stablehlo.constant dense<0> : tensor<ui32>
      %s_ooff = stablehlo.dynamic_slice %t_ooff, %id, %z_ooff, sizes = [1, 2] : (tensor<2x2xi32>, tensor<ui32>, tensor<ui32>) -> tensor<1x2xi32>
      %ooff = stablehlo.reshape %s_ooff : (tensor<1x2xi32>) -> tensor<2xi32>
      %t_recv = stablehlo.constant dense<[[1, 2], [3, 2]]> : tensor<2x2xi32>
      %z_recv = stablehlo.constant dense<0> : tensor<ui32>
      %s_recv = stablehlo.dynamic_slice %t_recv, %id, %z_recv, sizes = [1, 2] : (tensor<2x2xi32>, tensor<ui32>, tensor<ui32>) -> tensor<1x2xi32>
      %recv = stablehlo.reshape %s_recv : (tensor<1x2xi32>) -> tensor<2xi32>
      %into = stablehlo.constant dense<-1.0> : tensor<6xf32>
      %y = stablehlo.custom_call @ragged_all_to_all(%rows, %into, %ioff, %send, %ooff, %recv) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<4xf32>, tensor<6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<6xf32>
      %t_want = stablehlo.constant dense<[[0.0, 10.0, 11.0, -1.0, -1.0, -1.0], [1.0, 2.0, 3.0, 12.0, 13.0, -1.0]]> : tensor<2x6xf32>
      %z_want = stablehlo.constant dense<0> : tensor<ui32>
      %s_want = stablehlo.dynamic_slice %t_want, %id, %z_want, sizes = [1, 6] : (tensor<2x6xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x6xf32>
      %want = stablehlo.reshape %s_want : (tensor<1x6xf32>) -> tensor<6xf32>
      stablehlo.custom_call @check.expect_eq(%y, %want) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
      sdy.return
    } : () -> ()
    return
  }
}
