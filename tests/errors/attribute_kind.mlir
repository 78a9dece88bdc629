// error: NAME:3:8: reverse: attribute 'dimensions' must be a list of integers, not "first"
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.reverse"(%x) <{dimensions = "first"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
