module @grown attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%v1: tensor<4xf32>, %v2: tensor<5x16xbf16>) -> (tensor<16x4x5xbf16>, tensor<i32>, tensor<5x16xbf16>, tensor<4xf32>) {
  %v3 = stablehlo.iota dim = 1 : tensor<5x16xbf16>
  %v4 = stablehlo.broadcast_in_dim %v2, dims = [1, 2] : (tensor<5x16xbf16>) -> tensor<4x5x16xbf16>
  %v5 = stablehlo.reverse %v3, dims = [0] : tensor<5x16xbf16>
  %v6 = stablehlo.transpose %v1, dims = [0] : (tensor<4xf32>) -> tensor<4xf32>
  %v7 = stablehlo.transpose %v4, dims = [2, 0, 1] : (tensor<4x5x16xbf16>) -> tensor<16x4x5xbf16>
  %v8 = "stablehlo.sign"(%v5) : (tensor<5x16xbf16>) -> tensor<5x16xbf16>
  %v9 = "stablehlo.add"(%v2, %v3) : (tensor<5x16xbf16>, tensor<5x16xbf16>) -> tensor<5x16xbf16>
  %v10 = stablehlo.constant dense<0> : tensor<i32>
  %w11:2 = stablehlo.while(%v12 = %v10, %v13 = %v7) : tensor<i32>, tensor<16x4x5xbf16>
  cond {
    %n11 = stablehlo.constant dense<2> : tensor<i32>
    %c11 = stablehlo.compare LT, %v12, %n11 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c11 : tensor<i1>
  } do {
    %v14 = "stablehlo.negate"(%v7) : (tensor<16x4x5xbf16>) -> tensor<16x4x5xbf16>
    %v15 = "stablehlo.minimum"(%v5, %v9) : (tensor<5x16xbf16>, tensor<5x16xbf16>) -> tensor<5x16xbf16>
    %v16 = "stablehlo.abs"(%v5) : (tensor<5x16xbf16>) -> tensor<5x16xbf16>
    %v17 = stablehlo.constant dense<1.0> : tensor<bf16>
    %v18 = stablehlo.reduce(%v3 init: %v17) applies stablehlo.maximum across dimensions = [] : (tensor<5x16xbf16>, tensor<bf16>) -> tensor<5x16xbf16>
    %v19 = "stablehlo.add"(%v13, %v14) : (tensor<16x4x5xbf16>, tensor<16x4x5xbf16>) -> tensor<16x4x5xbf16>
    %v20 = stablehlo.constant dense<-0.5> : tensor<bf16>
    %v21 = stablehlo.reduce(%v7 init: %v20) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<16x4x5xbf16>, tensor<bf16>) -> tensor<4xbf16>
    %v22 = stablehlo.constant dense<1> : tensor<i32>
    %v23 = "stablehlo.add"(%v12, %v22) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %v23, %v19 : tensor<i32>, tensor<16x4x5xbf16>
  }
  %v24 = stablehlo.optimization_barrier %w11#0 : tensor<i32>
  %v25 = stablehlo.optimization_barrier %w11#1 : tensor<16x4x5xbf16>
  return %v25, %v24, %v8, %v6 : tensor<16x4x5xbf16>, tensor<i32>, tensor<5x16xbf16>, tensor<4xf32>
}
}
