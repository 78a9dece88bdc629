module @grown attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=8]>
func.func public @main(%v2: tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}, %v4: tensor<24x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}, tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}, tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
  %r:4 = sdy.manual_computation(%v2, %v4) in_shardings=[<@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}]>] out_shardings=[<@mesh, [{"i"}]>, <@mesh, [{"i"}]>, <@mesh, [{"i"}, {}]>, <@mesh, [{"i"}]>] manual_axes={"i"} (%v1: tensor<1x4xi32>, %v3: tensor<3x1xi32>) {
  %v5 = stablehlo.constant dense<1> : tensor<i32>
  %v6 = stablehlo.reduce(%v3 init: %v5) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<3x1xi32>, tensor<i32>) -> tensor<i32>
  %v7 = "stablehlo.all_reduce"(%v6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
  ^bb0(%a7: tensor<i32>, %b7: tensor<i32>):
    %s7 = stablehlo.minimum %a7, %b7 : tensor<i32>
    stablehlo.return %s7 : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  %v8 = stablehlo.broadcast_in_dim %v6, dims = [] : (tensor<i32>) -> tensor<i32>
  %v9 = "stablehlo.remainder"(%v8, %v6) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %v10 = "stablehlo.all_reduce"(%v1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
  ^bb0(%a10: tensor<i32>, %b10: tensor<i32>):
    %s10 = stablehlo.maximum %a10, %b10 : tensor<i32>
    stablehlo.return %s10 : tensor<i32>
  }) : (tensor<1x4xi32>) -> tensor<1x4xi32>
  %v11 = "stablehlo.shift_right_logical"(%v7, %v9) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %v12 = stablehlo.partition_id : tensor<ui32>
  %v13 = "stablehlo.convert"(%v12) : (tensor<ui32>) -> tensor<f32>
  %v14 = stablehlo.pad %v3, %v9, low = [2, 1], high = [-1, 2], interior = [1, 0] : (tensor<3x1xi32>, tensor<i32>) -> tensor<6x4xi32>
  %v15 = stablehlo.broadcast_in_dim %v13, dims = [] : (tensor<f32>) -> tensor<f32>
  %v16 = "stablehlo.maximum"(%v15, %v13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %v17 = "stablehlo.reshape"(%v16) : (tensor<f32>) -> tensor<1xf32>
  %v18 = "stablehlo.reshape"(%v13) : (tensor<f32>) -> tensor<1xf32>
  %v19 = "stablehlo.reshape"(%v7) : (tensor<i32>) -> tensor<1xi32>
  sdy.return %v17, %v18, %v10, %v19 : tensor<1xf32>, tensor<1xf32>, tensor<1x4xi32>, tensor<1xi32>
  } : (tensor<8x4xi32>, tensor<24x1xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8x4xi32>, tensor<8xi32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<8xf32>, tensor<8xf32>, tensor<8x4xi32>, tensor<8xi32>
}
}
