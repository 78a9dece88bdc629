// error: NAME:7:26: %1 is not defined here
func.func @main(%x: tensor<i32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.case"(%x) ({
    %1 = stablehlo.negate %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  %2 = stablehlo.add %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}
