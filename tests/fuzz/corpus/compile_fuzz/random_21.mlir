module @grown attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%v1: tensor<4x33xui8>, %v2: tensor<2xui8>, %v3: tensor<2xf64>) -> (tensor<4x33xui8>, tensor<2xf64>, tensor<2xf64>, tensor<4x33xui32>) {
  %v4 = stablehlo.iota dim = 0 : tensor<4x33xui32>
  %v5 = stablehlo.slice %v2 [0:0:2] : (tensor<2xui8>) -> tensor<0xui8>
  %v6 = stablehlo.constant dense<false> : tensor<2xi1>
  %v7 = stablehlo.select %v6, %v3, %v3 : tensor<2xi1>, tensor<2xf64>
  %v8 = "stablehlo.convert"(%v1) : (tensor<4x33xui8>) -> tensor<4x33xui8>
  %v9 = "stablehlo.multiply"(%v3, %v7) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  %v10 = stablehlo.transpose %v7, dims = [0] : (tensor<2xf64>) -> tensor<2xf64>
  %v11 = "stablehlo.sort"(%v1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a11: tensor<ui8>, %b11: tensor<ui8>):
    %s11 = stablehlo.compare LT, %a11, %b11, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %s11 : tensor<i1>
  }) : (tensor<4x33xui8>) -> tensor<4x33xui8>
  %v12 = stablehlo.constant dense<1.0> : tensor<f64>
  %v13 = stablehlo.pad %v10, %v12, low = [1], high = [0], interior = [0] : (tensor<2xf64>, tensor<f64>) -> tensor<3xf64>
  return %v11, %v10, %v9, %v4 : tensor<4x33xui8>, tensor<2xf64>, tensor<2xf64>, tensor<4x33xui32>
}
}
