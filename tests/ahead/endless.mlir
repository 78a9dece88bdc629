// A loop that does not end, on one device.
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.while(%i = %x) : tensor<4xf32>
    cond {
      %true = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %true : tensor<i1>
    } do {
      %z = stablehlo.sine %i : tensor<4xf32>
      stablehlo.return %z : tensor<4xf32>
    }
  return %y : tensor<4xf32>
}
