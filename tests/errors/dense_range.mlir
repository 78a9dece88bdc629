// error: NAME:3:33: 300 does not fit in i8
func.func @main() -> tensor<i8> {
  %0 = stablehlo.constant dense<300> : tensor<i8>
  return %0 : tensor<i8>
}
