// error: check.expect_close of f32[2], at NAME:6:3: 1 of 2 elements differ, the first at [1]: 2 where 3 is expected
func.func @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<0.0> : tensor<f32>
  stablehlo.custom_call @check.expect_close(%0, %1) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return %2 : tensor<f32>
}
