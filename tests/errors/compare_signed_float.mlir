// error: compare (NAME:4:8): f32[4]: SIGNED is for signed integers
func.func @main() -> tensor<4xi1> {
  %x = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.compare LT, %x, %x, SIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
