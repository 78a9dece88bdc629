// error: batch_norm_inference (NAME:3:8): operand 1 is f32[4], and must be f32[3]
func.func @main(%x: tensor<4x3xf32>, %s: tensor<4xf32>) -> tensor<4x3xf32> {
  %r = "stablehlo.batch_norm_inference"(%x, %s, %s, %s, %s) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
