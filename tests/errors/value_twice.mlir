// error: NAME:4:3: %0 is defined twice
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<f32>
  %0 = stablehlo.abs %x : tensor<f32>
  return %0 : tensor<f32>
}
