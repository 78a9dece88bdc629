// error: not supported: a tuple in case, at NAME:4:8
func.func @main(%a: tensor<f32>, %i: tensor<i32>) -> tuple<tensor<f32>> {
  %t = stablehlo.tuple %a : tuple<tensor<f32>>
  %r = "stablehlo.case"(%i) ({ stablehlo.return %t : tuple<tensor<f32>> }) : (tensor<i32>) -> tuple<tensor<f32>>
  return %r : tuple<tensor<f32>>
}
