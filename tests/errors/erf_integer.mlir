// error: chlo.erf (NAME:4:8): i32[2]: its elements must be floating-point
func.func @main() -> tensor<2xi32> {
  %x = stablehlo.constant dense<1> : tensor<2xi32>
  %0 = "chlo.erf"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
