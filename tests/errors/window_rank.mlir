// error: reduce_window (NAME:3:8): window_dimensions has 1 entries, and 2 are needed
func.func @main(%x: tensor<4x4xf32>, %z: tensor<f32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
