// error: not supported: a TopK by @same, which does not compare its first two arguments by GT or LT, at NAME:7:10
func.func private @same(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @main(%x: tensor<6xf32>) -> tensor<3xf32> {
  %0:2 = stablehlo.custom_call @TopK(%x) {called_computations = [@same]} : (tensor<6xf32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %0#0 : tensor<3xf32>
}
