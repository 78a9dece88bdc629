// error: concatenate (NAME:3:8): f32[2,3] and f32[3,2] along dimension 0: all else must be equal
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> tensor<5x3xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
