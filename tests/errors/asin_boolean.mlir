// error: chlo.asin (NAME:4:8): i1[2]: its elements must be floating-point or complex
func.func @main() -> tensor<2xi1> {
  %x = stablehlo.constant dense<true> : tensor<2xi1>
  %0 = "chlo.asin"(%x) : (tensor<2xi1>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
