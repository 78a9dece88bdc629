// error: check.expect_eq, at NAME:4:3: takes two arrays of one type
func.func @main() {
  %x = stablehlo.constant dense<1.0> : tensor<4xf32>
  check.expect_eq_const %x, dense<1.0> : tensor<3xf32>
  func.return
}
