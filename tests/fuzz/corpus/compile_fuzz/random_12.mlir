module @grown attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%v1: tensor<33x8xi64>, %v2: tensor<12xi64>, %v3: tensor<33x8xi64>, %v4: tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>, tensor<12xi64>, tensor<12xi64>) {
  %v5 = "stablehlo.popcnt"(%v2) : (tensor<12xi64>) -> tensor<12xi64>
  %v6 = stablehlo.constant dense<3> : tensor<i32>
  %v7 = stablehlo.constant dense<2> : tensor<i32>
  %v8 = stablehlo.constant dense<3> : tensor<14x0xi64>
  %v9 = stablehlo.dynamic_update_slice %v3, %v8, %v6, %v7 : (tensor<33x8xi64>, tensor<14x0xi64>, tensor<i32>, tensor<i32>) -> tensor<33x8xi64>
  %v10 = "stablehlo.maximum"(%v4, %v5) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %v11 = "stablehlo.not"(%v4) : (tensor<12xi64>) -> tensor<12xi64>
  %v12 = "stablehlo.maximum"(%v10, %v2) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %v13 = "stablehlo.shift_right_logical"(%v1, %v9) : (tensor<33x8xi64>, tensor<33x8xi64>) -> tensor<33x8xi64>
  %v14 = stablehlo.constant dense<1> : tensor<i32>
  %w15:2 = "stablehlo.case"(%v14) ({
    %v16 = "stablehlo.or"(%v12, %v11) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
    %v17 = "stablehlo.multiply"(%v13, %v3) : (tensor<33x8xi64>, tensor<33x8xi64>) -> tensor<33x8xi64>
    %v18 = "stablehlo.sort"(%v10) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a18: tensor<i64>, %b18: tensor<i64>):
      %s18 = stablehlo.compare LT, %a18, %b18, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %s18 : tensor<i1>
    }) : (tensor<12xi64>) -> tensor<12xi64>
    %v19 = stablehlo.constant dense<-2> : tensor<i32>
    %w20:2 = "stablehlo.case"(%v19) ({
      stablehlo.return %v13, %v12 : tensor<33x8xi64>, tensor<12xi64>
    }, {
      stablehlo.return %v13, %v2 : tensor<33x8xi64>, tensor<12xi64>
    }, {
      %v21 = "stablehlo.shift_left"(%v3, %v17) : (tensor<33x8xi64>, tensor<33x8xi64>) -> tensor<33x8xi64>
      %v22 = "stablehlo.reshape"(%v16) : (tensor<12xi64>) -> tensor<1x3x4xi64>
      %v23 = stablehlo.constant dense<0> : tensor<i64>
      %v24 = stablehlo.pad %v13, %v23, low = [-1, 0], high = [1, 0], interior = [0, 0] : (tensor<33x8xi64>, tensor<i64>) -> tensor<33x8xi64>
      %v25 = "stablehlo.shift_right_logical"(%v2, %v12) : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
      stablehlo.return %v24, %v25 : tensor<33x8xi64>, tensor<12xi64>
    }) : (tensor<i32>) -> (tensor<33x8xi64>, tensor<12xi64>)
    %v26 = stablehlo.optimization_barrier %w20#0 : tensor<33x8xi64>
    %v27 = stablehlo.optimization_barrier %w20#1 : tensor<12xi64>
    stablehlo.return %v27, %v27 : tensor<12xi64>, tensor<12xi64>
  }, {
    %v28 = stablehlo.compare LT, %v12, %v5 : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    stablehlo.return %v2, %v10 : tensor<12xi64>, tensor<12xi64>
  }, {
    %v29 = stablehlo.broadcast_in_dim %v13, dims = [1, 2] : (tensor<33x8xi64>) -> tensor<5x33x8xi64>
    stablehlo.return %v2, %v4 : tensor<12xi64>, tensor<12xi64>
  }) : (tensor<i32>) -> (tensor<12xi64>, tensor<12xi64>)
  %v30 = stablehlo.optimization_barrier %w15#0 : tensor<12xi64>
  %v31 = stablehlo.optimization_barrier %w15#1 : tensor<12xi64>
  return %v31, %v12, %v11, %v10 : tensor<12xi64>, tensor<12xi64>, tensor<12xi64>, tensor<12xi64>
}
}
