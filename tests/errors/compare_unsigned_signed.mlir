// error: compare (NAME:4:8): i32[4]: UNSIGNED is for unsigned integers
func.func @main() -> tensor<4xi1> {
  %x = stablehlo.constant dense<1> : tensor<4xi32>
  %0 = stablehlo.compare LT, %x, %x, UNSIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
