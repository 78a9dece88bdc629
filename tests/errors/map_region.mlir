// error: not supported: iota in the region of a map, at NAME:5:10
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %r = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<f32>):
    %0 = stablehlo.iota dim = 0 : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %y = stablehlo.add %x, %s : tensor<f32>
    stablehlo.return %y : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
