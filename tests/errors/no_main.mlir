// error: NAME has no function main
func.func @other(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
