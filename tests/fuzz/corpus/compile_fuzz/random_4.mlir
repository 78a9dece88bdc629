module @grown attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%v1: tensor<16x8xi32>, %v2: tensor<33xf32>) -> (tensor<33xf32>, tensor<33xf32>, tensor<16x8xi32>, tensor<66xf32>) {
  %v3 = stablehlo.constant dense<9> : tensor<i32>
  %w4:1 = "stablehlo.case"(%v3) ({
    stablehlo.return %v2 : tensor<33xf32>
  }, {
    %v5 = stablehlo.compare LT, %v1, %v1 : (tensor<16x8xi32>, tensor<16x8xi32>) -> tensor<16x8xi1>
    stablehlo.return %v2 : tensor<33xf32>
  }) : (tensor<i32>) -> (tensor<33xf32>)
  %v6 = stablehlo.optimization_barrier %w4#0 : tensor<33xf32>
  %v7 = "stablehlo.minimum"(%v6, %v2) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
  %v8 = stablehlo.constant dense<0.0> : tensor<f32>
  %v9 = stablehlo.pad %v2, %v8, low = [1], high = [2], interior = [0] : (tensor<33xf32>, tensor<f32>) -> tensor<36xf32>
  %v11 = stablehlo.constant dense<1.0> : tensor<33xf32>
  %v10 = stablehlo.compare EQ, %v7, %v7 : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xi1>
  %v12 = stablehlo.select %v10, %v7, %v11 : tensor<33xi1>, tensor<33xf32>
  %v13 = stablehlo.constant dense<-8.0> : tensor<33xf32>
  %v14 = stablehlo.constant dense<8.0> : tensor<33xf32>
  %v15 = "stablehlo.maximum"(%v12, %v13) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
  %v16 = "stablehlo.minimum"(%v15, %v14) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
  %v17 = "stablehlo.multiply"(%v16, %v14) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
  %v18 = "stablehlo.floor"(%v17) : (tensor<33xf32>) -> tensor<33xf32>
  %v19 = stablehlo.constant dense<0.0> : tensor<33xf32>
  %v20 = "stablehlo.add"(%v18, %v19) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
  %v21 = stablehlo.constant dense<0.125> : tensor<33xf32>
  %v22 = "stablehlo.multiply"(%v20, %v21) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
  %v23 = stablehlo.constant dense<0.0> : tensor<f32>
  %v24 = stablehlo.reduce(%v22 init: %v23) applies stablehlo.add across dimensions = [] : (tensor<33xf32>, tensor<f32>) -> tensor<33xf32>
  %v25 = "stablehlo.add"(%v24, %v7) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
  %v26 = stablehlo.concatenate %v24, %v6, dim = 0 : (tensor<33xf32>, tensor<33xf32>) -> tensor<66xf32>
  %v27 = stablehlo.constant dense<4> : tensor<i32>
  %w28:2 = "stablehlo.case"(%v27) ({
    %v29 = stablehlo.compare NE, %v6, %v24 : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xi1>
    %v30 = stablehlo.transpose %v2, dims = [0] : (tensor<33xf32>) -> tensor<33xf32>
    %v31 = stablehlo.constant dense<0.0> : tensor<f32>
    %v32 = stablehlo.reduce(%v24 init: %v31) applies stablehlo.minimum across dimensions = [0] : (tensor<33xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %v1, %v30 : tensor<16x8xi32>, tensor<33xf32>
  }) : (tensor<i32>) -> (tensor<16x8xi32>, tensor<33xf32>)
  %v33 = stablehlo.optimization_barrier %w28#0 : tensor<16x8xi32>
  %v34 = stablehlo.optimization_barrier %w28#1 : tensor<33xf32>
  %v35 = "stablehlo.reshape"(%v34) : (tensor<33xf32>) -> tensor<33xf32>
  return %v35, %v34, %v33, %v26 : tensor<33xf32>, tensor<33xf32>, tensor<16x8xi32>, tensor<66xf32>
}
}
