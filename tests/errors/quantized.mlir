// error: not supported: element type !quant.uniform (NAME:2:30)
func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2x!quant.uniform<i8:f32, 0.1>> {
  return %x : tensor<2x!quant.uniform<i8:f32, 0.1>>
}
