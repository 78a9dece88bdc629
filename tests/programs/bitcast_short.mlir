// Pairs of floats become integers in vectors of an odd number of lanes.
func.func @main() {
  %x = stablehlo.constant dense<[[1.0, -2.0], [0.5, 3.0], [8.0, -0.25]]> : tensor<3x2xf32>
  %p = stablehlo.constant dense<7> : tensor<i64>
  %b = stablehlo.optimization_barrier %x : tensor<3x2xf32>
  %q = stablehlo.optimization_barrier %p : tensor<i64>
  %8 = stablehlo.constant dense<8.0> : tensor<3x2xf32>
  %9 = stablehlo.multiply %b, %8 : tensor<3x2xf32>
  %10 = stablehlo.bitcast_convert %9 : (tensor<3x2xf32>) -> tensor<3xi64>
  %11 = stablehlo.pad %10, %q, low = [1], high = [3], interior = [0] : (tensor<3xi64>, tensor<i64>) -> tensor<7xi64>
  // 8.0 is 0x41000000, -16.0 0xC1800000, 4.0 0x40800000, 24.0 0x41C00000, 64.0 0x42800000, -2.0 0xC0000000
  %e = stablehlo.constant dense<[7, -4503599626279976960, 4737786809075892224, -4611686017311703040, 7, 7, 7]> : tensor<7xi64>
  stablehlo.custom_call @check.expect_eq(%11, %e) {has_side_effect = true} : (tensor<7xi64>, tensor<7xi64>) -> ()
  return
}
