module @grown attributes {mhlo.num_partitions = 3 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=3]>
func.func public @main(%v2: tensor<9x8x1xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}) -> (tensor<9x4x1xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, tensor<3xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}, tensor<9x8x1xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, tensor<3xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
  %r:4 = sdy.manual_computation(%v2) in_shardings=[<@mesh, [{"i"}, {}, {}]>] out_shardings=[<@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}]>, <@mesh, [{"i"}, {}, {}]>, <@mesh, [{"i"}]>] manual_axes={"i"} (%v1: tensor<3x8x1xbf16>) {
  %v3 = "stablehlo.multiply"(%v1, %v1) : (tensor<3x8x1xbf16>, tensor<3x8x1xbf16>) -> tensor<3x8x1xbf16>
  %v4 = stablehlo.partition_id : tensor<ui32>
  %v5 = "stablehlo.convert"(%v4) : (tensor<ui32>) -> tensor<f32>
  %v6 = stablehlo.broadcast_in_dim %v5, dims = [] : (tensor<f32>) -> tensor<f32>
  %v7 = "stablehlo.multiply"(%v5, %v6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %v8 = stablehlo.broadcast_in_dim %v5, dims = [] : (tensor<f32>) -> tensor<f32>
  %v9 = stablehlo.compare GT, %v5, %v8 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %v10 = stablehlo.constant dense<0> : tensor<i32>
  %v11 = stablehlo.constant dense<9> : tensor<i32>
  %v12 = stablehlo.constant dense<2> : tensor<i32>
  %v13 = stablehlo.constant dense<1.0> : tensor<2x7x1xbf16>
  %v14 = stablehlo.dynamic_update_slice %v3, %v13, %v10, %v11, %v12 : (tensor<3x8x1xbf16>, tensor<2x7x1xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x8x1xbf16>
  %v15 = "stablehlo.all_to_all"(%v1) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 3 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<3x8x1xbf16>) -> tensor<3x8x1xbf16>
  %v16 = stablehlo.broadcast_in_dim %v9, dims = [] : (tensor<i1>) -> tensor<i1>
  %v17 = "stablehlo.xor"(%v16, %v9) : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %v18 = stablehlo.constant dense<8> : tensor<i32>
  %v19 = stablehlo.constant dense<0> : tensor<i32>
  %v20 = stablehlo.constant dense<4> : tensor<i32>
  %v21 = stablehlo.dynamic_slice %v14, %v18, %v19, %v20, sizes = [3, 4, 1] : (tensor<3x8x1xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x1xbf16>
  %v22 = "stablehlo.reshape"(%v17) : (tensor<i1>) -> tensor<1xi1>
  %v23 = "stablehlo.reshape"(%v9) : (tensor<i1>) -> tensor<1xi1>
  sdy.return %v21, %v22, %v15, %v23 : tensor<3x4x1xbf16>, tensor<1xi1>, tensor<3x8x1xbf16>, tensor<1xi1>
  } : (tensor<9x8x1xbf16>) -> (tensor<9x4x1xbf16>, tensor<3xi1>, tensor<9x8x1xbf16>, tensor<3xi1>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<9x4x1xbf16>, tensor<3xi1>, tensor<9x8x1xbf16>, tensor<3xi1>
}
}
