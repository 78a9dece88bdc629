// Windows side by side, in numbers that leave one over behind full vectors, or are one alone.
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %a = stablehlo.constant dense<[3, 7, 5]> : tensor<3xi8>
  %b = stablehlo.constant dense<9> : tensor<1xi8>
  %one = "stablehlo.select_and_scatter"(%a, %b, %zero) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 3>}> ({
  ^bb0(%x: tensor<i8>, %y: tensor<i8>):
    %0 = stablehlo.compare GE, %x, %y : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }, {
  ^bb0(%x: tensor<i8>, %y: tensor<i8>):
    %0 = stablehlo.add %x, %y : tensor<i8>
    stablehlo.return %0 : tensor<i8>
  }) : (tensor<3xi8>, tensor<1xi8>, tensor<i8>) -> tensor<3xi8>
  %one_expected = stablehlo.constant dense<[0, 9, 0]> : tensor<3xi8>
  stablehlo.custom_call @check.expect_eq(%one, %one_expected) {has_side_effect = true} : (tensor<3xi8>, tensor<3xi8>) -> ()

  %i = stablehlo.iota dim = 0 : tensor<130xf32>
  %source = stablehlo.iota dim = 0 : tensor<65xf32>
  %fzero = stablehlo.constant dense<0.0> : tensor<f32>
  %many = "stablehlo.select_and_scatter"(%i, %source, %fzero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %0 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %0 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<130xf32>, tensor<65xf32>, tensor<f32>) -> tensor<130xf32>
  %pairs = stablehlo.reshape %many : (tensor<130xf32>) -> tensor<65x2xf32>
  %first = stablehlo.slice %pairs [0:65, 0:1] : (tensor<65x2xf32>) -> tensor<65x1xf32>
  %second = stablehlo.slice %pairs [0:65, 1:2] : (tensor<65x2xf32>) -> tensor<65x1xf32>
  %none = stablehlo.constant dense<0.0> : tensor<65x1xf32>
  %number = stablehlo.iota dim = 0 : tensor<65x1xf32>
  stablehlo.custom_call @check.expect_eq(%first, %none) {has_side_effect = true} : (tensor<65x1xf32>, tensor<65x1xf32>) -> ()
  stablehlo.custom_call @check.expect_eq(%second, %number) {has_side_effect = true} : (tensor<65x1xf32>, tensor<65x1xf32>) -> ()
  return
}
