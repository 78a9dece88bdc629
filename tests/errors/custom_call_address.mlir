// error: not supported: custom_call @xla_python_cpu_callback, at NAME:4:8: nobody has defined it; a C program does with tt_define_call
func.func @main() -> tensor<f32> {
  %x = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.custom_call @xla_python_cpu_callback(%x) {api_version = 2 : i32, backend_config = "94000000000000"} : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
