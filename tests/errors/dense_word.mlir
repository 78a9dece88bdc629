// error: NAME:3:33: expected a number, found 'many'
func.func @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<many> : tensor<f32>
  return %0 : tensor<f32>
}
