// error: dot_general (NAME:3:8): f32[2,3,4] by f32[5,4,6]: batching dimensions 0 and 0 differ in extent
func.func @main(%x: tensor<2x3x4xf32>, %y: tensor<5x4x6xf32>) -> tensor<2x3x6xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<5x4x6xf32>) -> tensor<2x3x6xf32>
  return %0 : tensor<2x3x6xf32>
}
