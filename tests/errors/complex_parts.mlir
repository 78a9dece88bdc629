// error: complex (NAME:3:8): f32[] and f64[]: both parts must have one type, f32 or f64
func.func @main(%x: tensor<f32>, %y: tensor<f64>) -> tensor<complex<f32>> {
  %0 = "stablehlo.complex"(%x, %y) : (tensor<f32>, tensor<f64>) -> tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}
