module @grown attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
func.func public @main(%v2: tensor<16x3x17xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, %v4: tensor<16x3x17xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, %v6: tensor<16x3x17xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}) -> (tensor<32x3x17xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, tensor<16x3x17xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, tensor<16x6x17xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, tensor<16x3x17xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}) {
  %r:4 = sdy.manual_computation(%v2, %v4, %v6) in_shardings=[<@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}, {}, {}]>] out_shardings=[<@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}, {}, {}]>] manual_axes={"i"} (%v1: tensor<4x3x17xui32>, %v3: tensor<4x3x17xf64>, %v5: tensor<4x3x17xf32>) {
  %v7 = "stablehlo.convert"(%v1) : (tensor<4x3x17xui32>) -> tensor<4x3x17xui32>
  %v8 = "stablehlo.all_reduce"(%v1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a8: tensor<ui32>, %b8: tensor<ui32>):
    %s8 = stablehlo.maximum %a8, %b8 : tensor<ui32>
    stablehlo.return %s8 : tensor<ui32>
  }) : (tensor<4x3x17xui32>) -> tensor<4x3x17xui32>
  %v9 = stablehlo.concatenate %v7, %v7, dim = 1 : (tensor<4x3x17xui32>, tensor<4x3x17xui32>) -> tensor<4x6x17xui32>
  %v10 = "stablehlo.all_reduce"(%v9) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a10: tensor<ui32>, %b10: tensor<ui32>):
    %s10 = stablehlo.add %a10, %b10 : tensor<ui32>
    stablehlo.return %s10 : tensor<ui32>
  }) : (tensor<4x6x17xui32>) -> tensor<4x6x17xui32>
  %v11 = "stablehlo.subtract"(%v5, %v5) : (tensor<4x3x17xf32>, tensor<4x3x17xf32>) -> tensor<4x3x17xf32>
  %v12 = stablehlo.concatenate %v5, %v11, dim = 0 : (tensor<4x3x17xf32>, tensor<4x3x17xf32>) -> tensor<8x3x17xf32>
  %v14 = stablehlo.constant dense<1.0> : tensor<4x3x17xf32>
  %v13 = stablehlo.compare EQ, %v11, %v11 : (tensor<4x3x17xf32>, tensor<4x3x17xf32>) -> tensor<4x3x17xi1>
  %v15 = stablehlo.select %v13, %v11, %v14 : tensor<4x3x17xi1>, tensor<4x3x17xf32>
  %v16 = stablehlo.constant dense<-8.0> : tensor<4x3x17xf32>
  %v17 = stablehlo.constant dense<8.0> : tensor<4x3x17xf32>
  %v18 = "stablehlo.maximum"(%v15, %v16) : (tensor<4x3x17xf32>, tensor<4x3x17xf32>) -> tensor<4x3x17xf32>
  %v19 = "stablehlo.minimum"(%v18, %v17) : (tensor<4x3x17xf32>, tensor<4x3x17xf32>) -> tensor<4x3x17xf32>
  %v20 = "stablehlo.multiply"(%v19, %v17) : (tensor<4x3x17xf32>, tensor<4x3x17xf32>) -> tensor<4x3x17xf32>
  %v21 = "stablehlo.floor"(%v20) : (tensor<4x3x17xf32>) -> tensor<4x3x17xf32>
  %v22 = stablehlo.constant dense<0.0> : tensor<4x3x17xf32>
  %v23 = "stablehlo.add"(%v21, %v22) : (tensor<4x3x17xf32>, tensor<4x3x17xf32>) -> tensor<4x3x17xf32>
  %v24 = stablehlo.constant dense<0.125> : tensor<4x3x17xf32>
  %v25 = "stablehlo.multiply"(%v23, %v24) : (tensor<4x3x17xf32>, tensor<4x3x17xf32>) -> tensor<4x3x17xf32>
  %v26 = "stablehlo.all_reduce"(%v25) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
  ^bb0(%a26: tensor<f32>, %b26: tensor<f32>):
    %s26 = stablehlo.add %a26, %b26 : tensor<f32>
    stablehlo.return %s26 : tensor<f32>
  }) : (tensor<4x3x17xf32>) -> tensor<4x3x17xf32>
  %v27 = "stablehlo.convert"(%v12) : (tensor<8x3x17xf32>) -> tensor<8x3x17xf64>
  sdy.return %v12, %v11, %v9, %v8 : tensor<8x3x17xf32>, tensor<4x3x17xf32>, tensor<4x6x17xui32>, tensor<4x3x17xui32>
  } : (tensor<16x3x17xui32>, tensor<16x3x17xf64>, tensor<16x3x17xf32>) -> (tensor<32x3x17xf32>, tensor<16x3x17xf32>, tensor<16x6x17xui32>, tensor<16x3x17xui32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<32x3x17xf32>, tensor<16x3x17xf32>, tensor<16x6x17xui32>, tensor<16x3x17xui32>
}
}
