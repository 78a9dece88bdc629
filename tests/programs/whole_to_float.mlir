// A convolution of integers that gives floats multiplies floats: no product wraps around.
func.func @main() {
  %x = stablehlo.constant dense<[[[4294967295], [1], [4294967295]]]> : tensor<1x3x1xui32>
  %w = stablehlo.constant dense<[[[4294967295]], [[2]]]> : tensor<2x1x1xui32>
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x1xui32>, tensor<2x1x1xui32>) -> tensor<1x2x1xf32>
  check.expect_almost_eq_const %a, dense<[[[1.84467441e+19], [1.28849019e+10]]]> : tensor<1x2x1xf32>
  func.return
}
