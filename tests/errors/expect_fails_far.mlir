// error: check.expect_close of f64[2], at NAME:7:3: 2 of 2 elements differ, the first at [0]: 1 where -1 is expected
// More steps lie between these than an int64_t counts.
func.func @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf64>
  %1 = stablehlo.constant dense<[-1.0, 3.0]> : tensor<2xf64>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  stablehlo.custom_call @check.expect_close(%0, %1) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()
  return %2 : tensor<f32>
}
