// error: cholesky (NAME:3:8): f32[2,3]: its last two dimensions must be a square matrix
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
