module @grown attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2, "j"=2]>
func.func public @main(%v1: tensor<12xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"j"}]>}, %v2: tensor<2x16xf64> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"i", "j"}]>}, %v3: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"i", "j"}]>}) -> (tensor<2x0xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"j"}, {}]>}, tensor<6x2xui32>, tensor<2x16xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {"j"}]>}, tensor<12xui32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %v4 = stablehlo.constant dense<0> : tensor<i32>
  %w5:2 = stablehlo.while(%v6 = %v4, %v7 = %v2) : tensor<i32>, tensor<2x16xf64>
  cond {
    %n5 = stablehlo.constant dense<1> : tensor<i32>
    %c5 = stablehlo.compare LT, %v6, %n5 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c5 : tensor<i1>
  } do {
    %v8 = "stablehlo.not"(%v3) : (tensor<8xi32>) -> tensor<8xi32>
    %v9 = stablehlo.constant dense<1> : tensor<i32>
    %v10 = "stablehlo.add"(%v6, %v9) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %v10, %v7 : tensor<i32>, tensor<2x16xf64>
  }
  %v11 = stablehlo.optimization_barrier %w5#0 : tensor<i32>
  %v12 = stablehlo.optimization_barrier %w5#1 : tensor<2x16xf64>
  %v13 = sdy.sharding_constraint %v1 <@mesh, [{"j"}]> : tensor<12xui32>
  %v14 = stablehlo.constant dense<4> : tensor<i32>
  %w15:1 = "stablehlo.case"(%v14) ({
    stablehlo.return %v11 : tensor<i32>
  }, {
    stablehlo.return %v11 : tensor<i32>
  }, {
    stablehlo.return %v11 : tensor<i32>
  }) : (tensor<i32>) -> (tensor<i32>)
  %v16 = stablehlo.optimization_barrier %w15#0 : tensor<i32>
  %v18 = stablehlo.constant dense<5> : tensor<2x1xi32>
  %v19 = stablehlo.constant dense<3> : tensor<2x1xi32>
  %v17 = stablehlo.iota dim = 0 : tensor<2x1xi32>
  %v20 = "stablehlo.multiply"(%v17, %v18) : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>
  %v21 = stablehlo.constant dense<17> : tensor<2x1xi32>
  %v22 = "stablehlo.remainder"(%v20, %v21) : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>
  %v23 = "stablehlo.subtract"(%v22, %v19) : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>
  %v24 = "stablehlo.gather"(%v12, %v23) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<2x16xf64>, tensor<2x1xi32>) -> tensor<2x16xf64>
  %v25 = "stablehlo.reshape"(%v13) : (tensor<12xui32>) -> tensor<6x2xui32>
  %v26 = stablehlo.slice %v24 [0:2:1, 4:4:3] : (tensor<2x16xf64>) -> tensor<2x0xf64>
  %v27 = stablehlo.slice %v3 [3:3:1] : (tensor<8xi32>) -> tensor<0xi32>
  %v28 = stablehlo.constant dense<1.0> : tensor<2x0xf64>
  %v29 = "stablehlo.multiply"(%v26, %v28) : (tensor<2x0xf64>, tensor<2x0xf64>) -> tensor<2x0xf64>
  return %v29, %v25, %v24, %v13 : tensor<2x0xf64>, tensor<6x2xui32>, tensor<2x16xf64>, tensor<12xui32>
}
}
