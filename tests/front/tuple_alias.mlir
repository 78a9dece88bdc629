func.func @main(%t: tuple<tensor<2xf32>, tensor<3xf32>>, %x: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> (tuple<tensor<3xf32>, tensor<2xf32>>, tensor<4xf32>) {
  %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
  %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<3xf32>
  %u = stablehlo.tuple %b, %a : tuple<tensor<3xf32>, tensor<2xf32>>
  %y = stablehlo.add %x, %x : tensor<4xf32>
  return %u, %y : tuple<tensor<3xf32>, tensor<2xf32>>, tensor<4xf32>
}
