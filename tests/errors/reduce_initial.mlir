// error: reduce (NAME:3:8): initial value 0 is f32[1], and must be a scalar
func.func @main(%x: tensor<4xf32>, %z: tensor<1xf32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
