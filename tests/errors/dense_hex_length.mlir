// error: NAME:3:33: 5 bytes for a constant of type f32[2], which has 8
func.func @main() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<"0x0000803F00"> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
