// error: pad (NAME:3:8): padding dimension 0 of f32[4] by -3 and -2 leaves no extent
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) -> tensor<0xf32> {
  %0 = stablehlo.pad %x, %p, low = [-3], high = [-2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}
