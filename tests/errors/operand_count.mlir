// error: add (NAME:3:8): it takes 2 operands, not 1
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.add"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
