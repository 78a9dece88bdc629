// Elements put apart (base and lhs dilation) with padding before them: the first lanes of a vector
// stand before the array, where they are off, and the others are read.
func.func @main() {
  %x1 = stablehlo.constant dense<[1, 4]> : tensor<2xi8>
  %z1 = stablehlo.constant dense<0> : tensor<i8>
  %r1 = "stablehlo.reduce_window"(%x1, %z1) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, base_dilations = array<i64: 2>, window_dilations = array<i64: 1>, padding = dense<[[2, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %s = stablehlo.add %a, %b : tensor<i8>
    stablehlo.return %s : tensor<i8>
  }) : (tensor<2xi8>, tensor<i8>) -> tensor<3xi8>
  check.expect_eq_const %r1, dense<[0, 1, 4]> : tensor<3xi8>
  %x2 = stablehlo.constant dense<[1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6]> : tensor<40xi8>
  %z2 = stablehlo.constant dense<0> : tensor<i8>
  %r2 = "stablehlo.reduce_window"(%x2, %z2) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, base_dilations = array<i64: 2>, window_dilations = array<i64: 1>, padding = dense<[[2, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %s = stablehlo.add %a, %b : tensor<i8>
    stablehlo.return %s : tensor<i8>
  }) : (tensor<40xi8>, tensor<i8>) -> tensor<41xi8>
  check.expect_eq_const %r2, dense<[0, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6]> : tensor<41xi8>
  %x3 = stablehlo.constant dense<[1, 4, 7, 3, 6]> : tensor<5xui8>
  %z3 = stablehlo.constant dense<0> : tensor<ui8>
  %r3 = "stablehlo.reduce_window"(%x3, %z3) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, base_dilations = array<i64: 4>, window_dilations = array<i64: 1>, padding = dense<[[3, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %s = stablehlo.add %a, %b : tensor<ui8>
    stablehlo.return %s : tensor<ui8>
  }) : (tensor<5xui8>, tensor<ui8>) -> tensor<10xui8>
  check.expect_eq_const %r3, dense<[0, 1, 0, 4, 0, 7, 0, 3, 0, 6]> : tensor<10xui8>
  %x4 = stablehlo.constant dense<[1, 4, 7, 3, 6]> : tensor<5xi16>
  %z4 = stablehlo.constant dense<0> : tensor<i16>
  %r4 = "stablehlo.reduce_window"(%x4, %z4) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 3>, base_dilations = array<i64: 3>, window_dilations = array<i64: 1>, padding = dense<[[3, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i16>, %b: tensor<i16>):
    %s = stablehlo.add %a, %b : tensor<i16>
    stablehlo.return %s : tensor<i16>
  }) : (tensor<5xi16>, tensor<i16>) -> tensor<6xi16>
  check.expect_eq_const %r4, dense<[0, 1, 4, 7, 3, 6]> : tensor<6xi16>
  %x5 = stablehlo.constant dense<[1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0]> : tensor<20xf32>
  %z5 = stablehlo.constant dense<0.0> : tensor<f32>
  %r5 = "stablehlo.reduce_window"(%x5, %z5) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 3>, base_dilations = array<i64: 3>, window_dilations = array<i64: 1>, padding = dense<[[4, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<20xf32>, tensor<f32>) -> tensor<21xf32>
  check.expect_eq_const %r5, dense<[0.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0]> : tensor<21xf32>
  %x6 = stablehlo.constant dense<[1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0]> : tensor<9xf64>
  %z6 = stablehlo.constant dense<0.0> : tensor<f64>
  %r6 = "stablehlo.reduce_window"(%x6, %z6) <{window_dimensions = array<i64: 4>, window_strides = array<i64: 5>, base_dilations = array<i64: 5>, window_dilations = array<i64: 1>, padding = dense<[[7, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %s = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) : (tensor<9xf64>, tensor<f64>) -> tensor<10xf64>
  check.expect_eq_const %r6, dense<[0.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0]> : tensor<10xf64>
  %x7 = stablehlo.constant dense<[1, 4, 7, 3, 6]> : tensor<5xi64>
  %z7 = stablehlo.constant dense<0> : tensor<i64>
  %r7 = "stablehlo.reduce_window"(%x7, %z7) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 3>, base_dilations = array<i64: 3>, window_dilations = array<i64: 1>, padding = dense<[[1, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<5xi64>, tensor<i64>) -> tensor<6xi64>
  check.expect_eq_const %r7, dense<[0, 0, 0, 0, 0, 0]> : tensor<6xi64>
  %x8 = stablehlo.constant dense<[1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0]> : tensor<7xf32>
  %z8 = stablehlo.constant dense<0.0> : tensor<f32>
  %r8 = "stablehlo.reduce_window"(%x8, %z8) <{window_dimensions = array<i64: 5>, window_strides = array<i64: 3>, base_dilations = array<i64: 6>, window_dilations = array<i64: 1>, padding = dense<[[9, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<7xf32>, tensor<f32>) -> tensor<14xf32>
  check.expect_eq_const %r8, dense<[0.0, 0.0, 1.0, 1.0, 4.0, 4.0, 7.0, 7.0, 3.0, 3.0, 6.0, 6.0, 2.0, 2.0]> : tensor<14xf32>
  %x9 = stablehlo.constant dense<[[[1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4]]]> : tensor<1x1x16xi8>
  %k9 = stablehlo.constant dense<[[[1, 2]]]> : tensor<1x1x2xi8>
  %r9 = stablehlo.convolution(%x9, %k9) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[2, 2]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x16xi8>, tensor<1x1x2xi8>) -> tensor<1x1x17xi8>
  check.expect_eq_const %r9, dense<[[[0, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4]]]> : tensor<1x1x17xi8>
  %x10 = stablehlo.constant dense<[[[1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0]]]> : tensor<1x1x20xf32>
  %k10 = stablehlo.constant dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>
  %r10 = stablehlo.convolution(%x10, %k10) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [3], pad = [[3, 3]], lhs_dilate = [3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x20xf32>, tensor<1x1x2xf32>) -> tensor<1x1x21xf32>
  check.expect_eq_const %r10, dense<[[[0.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0]]]> : tensor<1x1x21xf32>
  %x11 = stablehlo.constant dense<[1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2]> : tensor<20xi8>
  %z11 = stablehlo.constant dense<0> : tensor<i8>
  %p11 = stablehlo.pad %x11, %z11, low = [2], high = [0], interior = [1] : (tensor<20xi8>, tensor<i8>) -> tensor<41xi8>
  %r11 = stablehlo.slice %p11 [0:41:2] : (tensor<41xi8>) -> tensor<21xi8>
  check.expect_eq_const %r11, dense<[0, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2]> : tensor<21xi8>
  %x12 = stablehlo.constant dense<[1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0]> : tensor<20xf32>
  %z12 = stablehlo.constant dense<0.0> : tensor<f32>
  %p12 = stablehlo.pad %x12, %z12, low = [3], high = [1], interior = [2] : (tensor<20xf32>, tensor<f32>) -> tensor<62xf32>
  %r12 = stablehlo.slice %p12 [0:62:3] : (tensor<62xf32>) -> tensor<21xf32>
  check.expect_eq_const %r12, dense<[0.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 7.0, 3.0, 6.0, 2.0]> : tensor<21xf32>
  %x13 = stablehlo.constant dense<[1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2, 5, 1, 4, 7, 3, 6, 2]> : tensor<20xi64>
  %z13 = stablehlo.constant dense<0> : tensor<i64>
  %p13 = stablehlo.pad %x13, %z13, low = [5], high = [0], interior = [2] : (tensor<20xi64>, tensor<i64>) -> tensor<63xi64>
  %r13 = stablehlo.slice %p13 [0:63:3] : (tensor<63xi64>) -> tensor<21xi64>
  check.expect_eq_const %r13, dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<21xi64>
  func.return
}
