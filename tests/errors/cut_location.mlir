// error: NAME:3:53: #loc4 is not defined, and the text ends before its braces close: is it cut?
func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.exponential %x : tensor<2xf32> loc(#loc4)
  %z = stablehlo.exponential %y : tensor<2xf32> loc(#lo