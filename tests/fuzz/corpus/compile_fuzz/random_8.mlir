module @grown attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%v1: tensor<ui32>, %v2: tensor<1xf32>, %v3: tensor<1xf32>, %v4: tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>, tensor<5x12xi64>, tensor<1xf32>) {
  %v5 = "stablehlo.subtract"(%v3, %v2) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %v6 = stablehlo.constant dense<1> : tensor<12xi64>
  %v7 = "stablehlo.multiply"(%v6, %v4) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %v8 = stablehlo.broadcast_in_dim %v4, dims = [1] : (tensor<12xi64>) -> tensor<5x12xi64>
  %v9 = stablehlo.constant dense<1> : tensor<i64>
  %v10 = stablehlo.pad %v4, %v9, low = [0], high = [2], interior = [0] : (tensor<12xi64>, tensor<i64>) -> tensor<14xi64>
  %v11 = stablehlo.constant dense<true> : tensor<12xi1>
  %v12 = stablehlo.select %v11, %v7, %v4 : tensor<12xi1>, tensor<12xi64>
  %v13 = "stablehlo.multiply"(%v7, %v12) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %v14 = stablehlo.constant dense<0> : tensor<i32>
  %w15:2 = stablehlo.while(%v16 = %v14, %v17 = %v12) : tensor<i32>, tensor<12xi64>
  cond {
    %n15 = stablehlo.constant dense<4> : tensor<i32>
    %c15 = stablehlo.compare LT, %v16, %n15 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c15 : tensor<i1>
  } do {
    %v18 = stablehlo.broadcast_in_dim %v16, dims = [] : (tensor<i32>) -> tensor<i32>
    %v19 = "stablehlo.remainder"(%v16, %v18) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %v20 = stablehlo.reverse %v17, dims = [0] : tensor<12xi64>
    %v21 = stablehlo.constant dense<2> : tensor<i64>
    %v22 = stablehlo.reduce(%v13 init: %v21) applies stablehlo.minimum across dimensions = [0] : (tensor<12xi64>, tensor<i64>) -> tensor<i64>
    %v23 = stablehlo.compare LT, %v17, %v12 : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %v24 = stablehlo.reverse %v17, dims = [0] : tensor<12xi64>
    %v25 = stablehlo.constant dense<1> : tensor<i32>
    %v26 = "stablehlo.add"(%v16, %v25) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %v26, %v24 : tensor<i32>, tensor<12xi64>
  }
  %v27 = stablehlo.optimization_barrier %w15#0 : tensor<i32>
  %v28 = stablehlo.optimization_barrier %w15#1 : tensor<12xi64>
  %v29 = "stablehlo.sort"(%v4) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a29: tensor<i64>, %b29: tensor<i64>):
    %s29 = stablehlo.compare LT, %a29, %b29, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %s29 : tensor<i1>
  }) : (tensor<12xi64>) -> tensor<12xi64>
  return %v29, %v13, %v8, %v5 : tensor<12xi64>, tensor<12xi64>, tensor<5x12xi64>, tensor<1xf32>
}
}
