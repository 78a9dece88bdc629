// error: floor (NAME:3:8): complex<f32>[]: its elements must be floating-point
func.func @main(%x: tensor<complex<f32>>) -> tensor<complex<f32>> {
  %0 = stablehlo.floor %x : tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}
