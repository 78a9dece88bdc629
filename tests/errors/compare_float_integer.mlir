// error: compare (NAME:4:8): i32[4]: FLOAT is for floating-point and complex
func.func @main() -> tensor<4xi1> {
  %x = stablehlo.constant dense<1> : tensor<4xi32>
  %0 = stablehlo.compare LT, %x, %x, FLOAT : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
