// reduce_precision to no bits of mantissa: what lies in the middle of two powers of two goes to that with
// the even exponent (as it is stored), as XLA has it.
func.func @main() {
  %x = stablehlo.constant dense<[0.75, 1.5, 3.0, -0.75, 0.375, 6.0, 12.0, 0.625]> : tensor<8xf32>
  %a = stablehlo.reduce_precision %x, format = e5m0 : tensor<8xf32>
  check.expect_eq_const %a, dense<[0.5, 2.0, 2.0, -0.5, 0.5, 8.0, 8.0, 0.5]> : tensor<8xf32>
  %y = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xf64>
  %b = stablehlo.reduce_precision %y, format = e5m0 : tensor<8xf64>
  check.expect_eq_const %b, dense<[0.5, 2.0, 2.0, -0.5, 0.5, 8.0, 8.0, 0.5]> : tensor<8xf64>
  func.return
}
