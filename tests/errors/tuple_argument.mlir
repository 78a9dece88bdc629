// error: func.call (NAME:8:8): argument 0 of @f is tuple[f32[], f32[], f32[]], not tuple[f32[]]
func.func private @f(%t: tuple<tensor<f32>, tensor<f32>, tensor<f32>>) -> tensor<f32> {
  %b = stablehlo.get_tuple_element %t[2] : (tuple<tensor<f32>, tensor<f32>, tensor<f32>>) -> tensor<f32>
  return %b : tensor<f32>
}
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %r = call @f(%t) : (tuple<tensor<f32>>) -> tensor<f32>
  return %r : tensor<f32>
}
