// error: dynamic_broadcast_in_dim (NAME:5:8): extent 0 of its result is -3
func.func @main() {
  %s = stablehlo.constant dense<-3> : tensor<1xi32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.dynamic_broadcast_in_dim %z, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return
}
