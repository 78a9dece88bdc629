// error: while (NAME:3:8): operand 0 is i32[] and body's result 0 is f32[]: they must have one type
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%c: tensor<i32>):
    %1 = stablehlo.compare LT, %c, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%c: tensor<i32>):
    %1 = stablehlo.convert %c : (tensor<i32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
