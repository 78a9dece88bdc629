module @grown attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%v1: tensor<4x2x2xi64>, %v2: tensor<17x8x3xi64>) -> (tensor<4x2x2xi64>, tensor<4x2x2xi64>, tensor<17x8x3xi64>, tensor<8x2x0xi64>) {
  %v3 = stablehlo.concatenate %v2, %v2, dim = 0 : (tensor<17x8x3xi64>, tensor<17x8x3xi64>) -> tensor<34x8x3xi64>
  %v4 = stablehlo.constant dense<2> : tensor<i64>
  %v5 = stablehlo.pad %v3, %v4, low = [-1, 0, 0], high = [1, 1, 2], interior = [0, 0, 1] : (tensor<34x8x3xi64>, tensor<i64>) -> tensor<34x9x7xi64>
  %v6 = "stablehlo.count_leading_zeros"(%v2) : (tensor<17x8x3xi64>) -> tensor<17x8x3xi64>
  %v7 = "stablehlo.shift_right_arithmetic"(%v5, %v5) : (tensor<34x9x7xi64>, tensor<34x9x7xi64>) -> tensor<34x9x7xi64>
  %v8 = stablehlo.slice %v5 [17:25:1, 2:4:1, 2:2:3] : (tensor<34x9x7xi64>) -> tensor<8x2x0xi64>
  %v9 = "stablehlo.not"(%v6) : (tensor<17x8x3xi64>) -> tensor<17x8x3xi64>
  %v10 = "stablehlo.multiply"(%v1, %v1) : (tensor<4x2x2xi64>, tensor<4x2x2xi64>) -> tensor<4x2x2xi64>
  %v11 = "stablehlo.maximum"(%v1, %v10) : (tensor<4x2x2xi64>, tensor<4x2x2xi64>) -> tensor<4x2x2xi64>
  return %v11, %v10, %v9, %v8 : tensor<4x2x2xi64>, tensor<4x2x2xi64>, tensor<17x8x3xi64>, tensor<8x2x0xi64>
}
}
