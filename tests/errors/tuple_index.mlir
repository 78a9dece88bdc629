// error: get_tuple_element (NAME:4:8): tuple[f32[2]] has no element 1
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %t = stablehlo.tuple %a : tuple<tensor<2xf32>>
  %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}
