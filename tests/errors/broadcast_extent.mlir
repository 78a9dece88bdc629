// error: broadcast_in_dim (NAME:3:8): f32[3] to f32[2,4]: dimension 0 (3) does not spread to 4
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
