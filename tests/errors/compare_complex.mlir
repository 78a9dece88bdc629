// error: compare (NAME:3:8): complex<f32>[]: complex numbers have no order
func.func @main(%x: tensor<complex<f32>>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %x, %x : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<i1>
  return %0 : tensor<i1>
}
