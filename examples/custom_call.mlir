func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %inverse = stablehlo.custom_call @inverse(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %y = stablehlo.add %inverse, %one : tensor<4xf32>
  return %y : tensor<4xf32>
}
