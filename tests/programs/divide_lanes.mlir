// A row of divisors that the compiler knows, zeros and -1 among them: each lane for itself.
func.func @main() {
  %x = stablehlo.constant dense<[-9223372036854775808, -600, -500, -400, -300, -200, -100, 0, 100, -9223372036854775808, 300, 400, 500, 600, 700]> : tensor<15xi64>
  %i = stablehlo.iota dim = 0 : tensor<15xi64>
  %7 = stablehlo.constant dense<7> : tensor<15xi64>
  %9 = stablehlo.constant dense<9> : tensor<15xi64>
  %1 = stablehlo.constant dense<1> : tensor<15xi64>
  %m = stablehlo.multiply %i, %7 : tensor<15xi64>
  %r = stablehlo.remainder %m, %9 : tensor<15xi64>
  %d = stablehlo.subtract %r, %1 : tensor<15xi64>
  %quotient = stablehlo.divide %x, %d : tensor<15xi64>
  %rest = stablehlo.remainder %x, %d : tensor<15xi64>
  check.expect_eq_const %quotient, dense<[-9223372036854775808, -100, -125, -200, -1, -28, -20, 0, 100, -9223372036854775808, 50, 100, 250, -1, 100]> : tensor<15xi64>
  check.expect_eq_const %rest, dense<[0, 0, 0, 0, -300, -4, 0, 0, 0, 0, 0, 0, 0, 600, 0]> : tensor<15xi64>
  return
}
