// error: exponential (NAME:3:8): i32[4]: its elements must be floating-point or complex
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.exponential %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}
