// error: dynamic_broadcast_in_dim (NAME:5:8): the result is f32[3], stated as f32[4]
func.func @main() {
  %s = stablehlo.constant dense<3> : tensor<1xi32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.dynamic_broadcast_in_dim %z, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<4xf32>
  return
}
