// The third operation gives a NaN for its second element; those behind it would hand it on.
module @log {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %one = stablehlo.constant dense<[0.5, -3.0, 1.0, 2.0]> : tensor<4xf32>
    %a = stablehlo.add %x, %one : tensor<4xf32>
    %b = stablehlo.log %a : tensor<4xf32>
    %c = stablehlo.exponential %b : tensor<4xf32>
    %d = stablehlo.multiply %c, %x : tensor<4xf32>
    return %d : tensor<4xf32>
  }
}
