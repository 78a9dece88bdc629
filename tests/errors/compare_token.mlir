// error: compare (NAME:4:8): it takes and gives arrays, not tokens
func.func @main() -> tensor<i1> {
  %t = stablehlo.create_token : !stablehlo.token
  %r = "stablehlo.compare"(%t, %t) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (!stablehlo.token, !stablehlo.token) -> tensor<i1>
  return %r : tensor<i1>
}
