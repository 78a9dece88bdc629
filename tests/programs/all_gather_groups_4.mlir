// all_gather in two groups, the second listed backwards: members come in the order listed.
module @all_gather_groups attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %y = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %mine = stablehlo.reshape %f : (tensor<f32>) -> tensor<1xf32>
      %all = "stablehlo.all_gather"(%mine) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [3, 2]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<1xf32>) -> tensor<2xf32>
      %first = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
      %second = stablehlo.constant dense<[3.0, 2.0]> : tensor<2xf32>
      %two = stablehlo.constant dense<2> : tensor<ui32>
      %early = stablehlo.compare LT, %id, %two : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %expected = stablehlo.select %early, %first, %second : tensor<i1>, tensor<2xf32>
      stablehlo.custom_call @check.expect_eq(%all, %expected) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
      %part = stablehlo.slice %all [0:1] : (tensor<2xf32>) -> tensor<1xf32>
      sdy.return %part : tensor<1xf32>
    } : () -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
