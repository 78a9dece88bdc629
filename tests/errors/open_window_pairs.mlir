// error: custom_call @stablehlo.dynamic_reduce_window (NAME:9:8): it takes paddings in pairs
func.func private @red(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.add %a, %b : tensor<f32>
  return %c : tensor<f32>
}
func.func @main(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<?xf32> {
  %w = stablehlo.constant dense<2> : tensor<1xi64>
  %p = stablehlo.constant dense<2> : tensor<3xi64>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%a, %z, %w, %w, %w, %w, %p) {called_computations = [@red]} : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<3xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
