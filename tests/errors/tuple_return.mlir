// error: @main (NAME:2:1): result 0 is tuple[f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[]], declared as tuple[f32[]]
func.func @main(%a: tensor<f32>) -> tuple<tensor<f32>> {
  %t = stablehlo.tuple %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a : tuple<tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>>
  return %t : tuple<tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>,tensor<f32>>
}
