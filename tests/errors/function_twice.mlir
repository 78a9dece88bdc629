// error: NAME:5:11: function @main is defined twice
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
