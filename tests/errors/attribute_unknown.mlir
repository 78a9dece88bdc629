// error: NAME:3:8: negate: unknown attribute 'speed'
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.negate"(%x) <{speed = 3 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
