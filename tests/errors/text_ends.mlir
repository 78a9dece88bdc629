// error: NAME:4:1: expected an operation, found the end of the text
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<f32>
