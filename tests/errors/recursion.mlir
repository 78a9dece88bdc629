// error: calls go round in a circle: @main calls @f calls @f
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
