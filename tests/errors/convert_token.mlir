// error: convert (NAME:4:8): it takes and gives arrays, not tokens
func.func @main() -> tensor<f32> {
  %t = stablehlo.create_token : !stablehlo.token
  %r = "stablehlo.convert"(%t) : (!stablehlo.token) -> tensor<f32>
  return %r : tensor<f32>
}
