// error: clamp (NAME:4:8): it takes and gives arrays, not tokens
func.func @main() -> !stablehlo.token {
  %t = stablehlo.create_token : !stablehlo.token
  %r = "stablehlo.clamp"(%t, %t, %t) : (!stablehlo.token, !stablehlo.token, !stablehlo.token) -> !stablehlo.token
  return %r : !stablehlo.token
}
