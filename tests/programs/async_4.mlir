// Asynchronous collectives give what the others give.
module @async attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() {
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %mine = stablehlo.reshape %f : (tensor<f32>) -> tensor<1xf32>
      %s = "stablehlo.async_start"(%mine) ({
      ^bb0(%a: tensor<1xf32>):
        %g = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1xf32>) -> tensor<4xf32>
        stablehlo.return %g : tensor<4xf32>
      }) : (tensor<1xf32>) -> !stablehlo.future<tensor<4xf32>>
      %y = "stablehlo.async_done"(%s) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
      %want = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
      stablehlo.custom_call @check.expect_eq(%y, %want) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
      sdy.return
    } : () -> ()
    return
  }
}
