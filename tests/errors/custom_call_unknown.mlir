// error: not supported: custom_call @nobody, at NAME:4:8: nobody has defined it; a C program does with tt_define_call
func.func @main() -> tensor<f32> {
  %x = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.custom_call @nobody(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
