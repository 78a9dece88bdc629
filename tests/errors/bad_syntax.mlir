// error: NAME:3:25: expected ',' between operands or ':' before the type, found '%x'
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %x %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
