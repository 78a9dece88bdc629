module @grown attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%v1: tensor<16x12xui8>, %v2: tensor<16x12xui8>) -> (tensor<1x1xui8>, tensor<4xi32>, tensor<ui8>, tensor<6x3xui8>) {
  %v3 = stablehlo.constant dense<0> : tensor<i32>
  %w4:3 = stablehlo.while(%v5 = %v3, %v6 = %v2, %v7 = %v1) : tensor<i32>, tensor<16x12xui8>, tensor<16x12xui8>
  cond {
    %n4 = stablehlo.constant dense<3> : tensor<i32>
    %c4 = stablehlo.compare LT, %v5, %n4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c4 : tensor<i1>
  } do {
    %v8 = stablehlo.reverse %v7, dims = [1] : tensor<16x12xui8>
    %v9 = stablehlo.constant dense<1> : tensor<i32>
    %v10 = "stablehlo.add"(%v5, %v9) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %v10, %v8, %v8 : tensor<i32>, tensor<16x12xui8>, tensor<16x12xui8>
  }
  %v11 = stablehlo.optimization_barrier %w4#0 : tensor<i32>
  %v12 = stablehlo.optimization_barrier %w4#1 : tensor<16x12xui8>
  %v13 = stablehlo.optimization_barrier %w4#2 : tensor<16x12xui8>
  %v14 = stablehlo.constant dense<0> : tensor<i32>
  %w15:4 = stablehlo.while(%v16 = %v14, %v17 = %v12, %v18 = %v12, %v19 = %v11) : tensor<i32>, tensor<16x12xui8>, tensor<16x12xui8>, tensor<i32>
  cond {
    %n15 = stablehlo.constant dense<0> : tensor<i32>
    %c15 = stablehlo.compare LT, %v16, %n15 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c15 : tensor<i1>
  } do {
    %v20 = "stablehlo.negate"(%v13) : (tensor<16x12xui8>) -> tensor<16x12xui8>
    %v21 = "stablehlo.convert"(%v18) : (tensor<16x12xui8>) -> tensor<16x12xui8>
    %v22 = "stablehlo.xor"(%v18, %v1) : (tensor<16x12xui8>, tensor<16x12xui8>) -> tensor<16x12xui8>
    %v23 = stablehlo.constant dense<1> : tensor<i32>
    %v24 = "stablehlo.add"(%v16, %v23) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %v24, %v22, %v22, %v19 : tensor<i32>, tensor<16x12xui8>, tensor<16x12xui8>, tensor<i32>
  }
  %v25 = stablehlo.optimization_barrier %w15#0 : tensor<i32>
  %v26 = stablehlo.optimization_barrier %w15#1 : tensor<16x12xui8>
  %v27 = stablehlo.optimization_barrier %w15#2 : tensor<16x12xui8>
  %v28 = stablehlo.optimization_barrier %w15#3 : tensor<i32>
  %v29 = "stablehlo.minimum"(%v11, %v28) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %v30 = "stablehlo.or"(%v27, %v13) : (tensor<16x12xui8>, tensor<16x12xui8>) -> tensor<16x12xui8>
  %v31 = stablehlo.slice %v30 [7:13:1, 0:8:3] : (tensor<16x12xui8>) -> tensor<6x3xui8>
  %v32 = "stablehlo.convert"(%v29) : (tensor<i32>) -> tensor<ui8>
  %v33 = stablehlo.broadcast_in_dim %v25, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %v34 = stablehlo.slice %v31 [3:4:1, 1:3:3] : (tensor<6x3xui8>) -> tensor<1x1xui8>
  return %v34, %v33, %v32, %v31 : tensor<1x1xui8>, tensor<4xi32>, tensor<ui8>, tensor<6x3xui8>
}
}
