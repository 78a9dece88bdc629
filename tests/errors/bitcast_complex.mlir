// error: bitcast_convert (NAME:3:8): complex<f32>[4] as f32[4,2]: complex numbers keep their bits among themselves alone
func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4x2xf32> {
  %0 = stablehlo.bitcast_convert %x : (tensor<4xcomplex<f32>>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
