// Paddings that 32 bits do not hold, around arrays that they do: the edges take away what the
// interior has put in.
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %nine = stablehlo.constant dense<9.0> : tensor<f32>
  %a = stablehlo.pad %x, %nine, low = [3], high = [-4294967295], interior = [4294967295] : (tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
  check.expect_eq_const %a, dense<[9.0, 9.0, 9.0, 1.0, 9.0]> : tensor<5xf32>
  func.return
}
