// A comparison that calls the C library, as the sine of a large number does.  The sines of 5 4 6 0 3
// 1e20 1 2, to the hundredth: -.96 -.76 -.28 0 .14 .66 .84 .91
func.func @main() {
  %constant = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0e20]> : tensor<8xf32>
  %x = stablehlo.optimization_barrier %constant : tensor<8xf32>
  %r = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.sine %a : tensor<f32>
    %t = stablehlo.sine %b : tensor<f32>
    %0 = stablehlo.compare LT, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %v = stablehlo.constant dense<[5.0, 4.0, 6.0, 0.0, 3.0, 1.0e20, 1.0, 2.0]> : tensor<8xf32>
  stablehlo.custom_call @check.expect_eq(%r, %v) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
  func.return
}
