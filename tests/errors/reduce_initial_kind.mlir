// error: reduce (NAME:3:8): i32[] and a region that combines f32: both must be of one kind, the region's no narrower
func.func @main(%x: tensor<3xf32>, %i: tensor<i32>) -> tensor<f32> {
  %r = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<3xf32>, tensor<i32>) -> tensor<f32>
  return %r : tensor<f32>
}
