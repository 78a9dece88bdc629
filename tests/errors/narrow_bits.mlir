// error: NAME:3:34: 0x1F has more bits than f4E2M1FN
func.func @main() -> tensor<2xf4E2M1FN> {
  %0 = stablehlo.constant dense<[0x1F, 1.0]> : tensor<2xf4E2M1FN>
  return %0 : tensor<2xf4E2M1FN>
}
