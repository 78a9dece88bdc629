// error: reduce_window (NAME:3:8): f64[4] and a region that combines f32: both must be of one kind, the region's no narrower
func.func @main(%x: tensor<4xf64>, %i: tensor<f32>) -> tensor<2xf32> {
  %r = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf64>, tensor<f32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
