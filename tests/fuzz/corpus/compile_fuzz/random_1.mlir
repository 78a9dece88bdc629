module @grown attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%v1: tensor<ui32>, %v2: tensor<4x2x4xf64>, %v3: tensor<2x4xui32>, %v4: tensor<2x4xui32>) -> (tensor<2x1xui32>, tensor<2x4xui32>, tensor<2x1xui32>, tensor<2x1xui32>) {
  %v5 = stablehlo.broadcast_in_dim %v1, dims = [] : (tensor<ui32>) -> tensor<2x4xui32>
  %v6 = "stablehlo.xor"(%v4, %v5) : (tensor<2x4xui32>, tensor<2x4xui32>) -> tensor<2x4xui32>
  %v7 = stablehlo.broadcast_in_dim %v1, dims = [] : (tensor<ui32>) -> tensor<1xui32>
  %v8 = stablehlo.slice %v4 [0:2:1, 0:2:3] : (tensor<2x4xui32>) -> tensor<2x1xui32>
  %v9 = "stablehlo.count_leading_zeros"(%v3) : (tensor<2x4xui32>) -> tensor<2x4xui32>
  %v10 = stablehlo.constant dense<0> : tensor<i32>
  %w11:3 = stablehlo.while(%v12 = %v10, %v13 = %v6, %v14 = %v8) : tensor<i32>, tensor<2x4xui32>, tensor<2x1xui32>
  cond {
    %n11 = stablehlo.constant dense<4> : tensor<i32>
    %c11 = stablehlo.compare LT, %v12, %n11 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c11 : tensor<i1>
  } do {
    %v15 = stablehlo.concatenate %v7, %v7, dim = 0 : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
    %v16 = stablehlo.broadcast_in_dim %v1, dims = [] : (tensor<ui32>) -> tensor<2xui32>
    %v17 = "stablehlo.maximum"(%v15, %v16) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %v18 = "stablehlo.reshape"(%v15) : (tensor<2xui32>) -> tensor<2xui32>
    %v19 = stablehlo.constant dense<1> : tensor<i32>
    %v20 = "stablehlo.add"(%v12, %v19) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %v20, %v13, %v14 : tensor<i32>, tensor<2x4xui32>, tensor<2x1xui32>
  }
  %v21 = stablehlo.optimization_barrier %w11#0 : tensor<i32>
  %v22 = stablehlo.optimization_barrier %w11#1 : tensor<2x4xui32>
  %v23 = stablehlo.optimization_barrier %w11#2 : tensor<2x1xui32>
  %v24 = "stablehlo.negate"(%v23) : (tensor<2x1xui32>) -> tensor<2x1xui32>
  %v25 = "stablehlo.and"(%v9, %v6) : (tensor<2x4xui32>, tensor<2x4xui32>) -> tensor<2x4xui32>
  %v26 = stablehlo.constant dense<0> : tensor<i32>
  %w27:2 = stablehlo.while(%v28 = %v26, %v29 = %v24) : tensor<i32>, tensor<2x1xui32>
  cond {
    %n27 = stablehlo.constant dense<1> : tensor<i32>
    %c27 = stablehlo.compare LT, %v28, %n27 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c27 : tensor<i1>
  } do {
    %v30 = "stablehlo.shift_right_arithmetic"(%v24, %v23) : (tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x1xui32>
    %v31 = stablehlo.broadcast_in_dim %v30, dims = [0, 2] : (tensor<2x1xui32>) -> tensor<2x3x1xui32>
    %v32 = stablehlo.constant dense<1> : tensor<i32>
    %v33 = "stablehlo.add"(%v28, %v32) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %v33, %v30 : tensor<i32>, tensor<2x1xui32>
  }
  %v34 = stablehlo.optimization_barrier %w27#0 : tensor<i32>
  %v35 = stablehlo.optimization_barrier %w27#1 : tensor<2x1xui32>
  return %v35, %v25, %v24, %v23 : tensor<2x1xui32>, tensor<2x4xui32>, tensor<2x1xui32>, tensor<2x1xui32>
}
}
