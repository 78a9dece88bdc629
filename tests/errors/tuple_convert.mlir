// error: not supported: a tuple in convert, at NAME:3:8
func.func @main(%a: tensor<4xf32>) -> tuple<tensor<f32>> {
  %b = stablehlo.convert %a : (tensor<4xf32>) -> tuple<tensor<f32>>
  return %b : tuple<tensor<f32>>
}
