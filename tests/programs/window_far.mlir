// Small arrays whose elements are put so far apart that 32 bits do not hold the places between.
func.func @main() {
  %x = stablehlo.constant dense<[1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6]> : tensor<40xi8>
  %z = stablehlo.constant dense<0> : tensor<i8>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 4>, window_strides = array<i64: 134217728>, base_dilations = array<i64: 134217727>, window_dilations = array<i64: 134217728>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %s = stablehlo.add %a, %b : tensor<i8>
    stablehlo.return %s : tensor<i8>
  }) : (tensor<40xi8>, tensor<i8>) -> tensor<36xi8>
  check.expect_eq_const %r, dense<[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<36xi8>
  %i = stablehlo.reshape %x : (tensor<40xi8>) -> tensor<1x1x40xi8>
  %k = stablehlo.constant dense<1> : tensor<1x1x4xi8>
  %c = stablehlo.convolution(%i, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [134217728], pad = [[0, 0]], lhs_dilate = [134217727], rhs_dilate = [134217728]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x40xi8>, tensor<1x1x4xi8>) -> tensor<1x1x36xi8>
  check.expect_eq_const %c, dense<[[[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]]> : tensor<1x1x36xi8>
  func.return
}
