// error: case (NAME:3:8): branch 1's result 0 is f32[3] and the stated result 0 is f32[2]: they must have one type
func.func @main(%i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %y : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
