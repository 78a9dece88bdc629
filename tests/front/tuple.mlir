// Takes a tuple and gives one: called from C it takes what is in them.
func.func @main(%t: tuple<tensor<f32>, tensor<2xf32>>) -> tuple<tensor<f32>, tensor<2xf32>> {
  %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<2xf32>>) -> tensor<f32>
  %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<2xf32>>) -> tensor<2xf32>
  %s = stablehlo.multiply %a, %a : tensor<f32>
  %r = stablehlo.tuple %s, %b : tuple<tensor<f32>, tensor<2xf32>>
  return %r : tuple<tensor<f32>, tensor<2xf32>>
}
