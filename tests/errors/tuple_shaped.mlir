// error: custom_call @foo (NAME:4:8): it takes the lists of extents last, in the order of the results
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %s = stablehlo.constant dense<> : tensor<0xi64>
  %0 = stablehlo.custom_call @foo(%a, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<f32>, tensor<0xi64>) -> tuple<tensor<f32>>
  %b = stablehlo.get_tuple_element %0[0] : (tuple<tensor<f32>>) -> tensor<f32>
  return %b : tensor<f32>
}
