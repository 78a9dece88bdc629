// error: cbrt (NAME:4:8): complex<f32>[2]: its elements must be floating-point
func.func @main() -> tensor<2xcomplex<f32>> {
  %x = stablehlo.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  %0 = "stablehlo.cbrt"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
