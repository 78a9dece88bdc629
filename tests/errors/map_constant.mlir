// error: not supported: constant of anything but scalars in the region of a map, at NAME:5:12
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.map"(%a) ({
    ^bb0(%x: tensor<f32>):
      %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %d = stablehlo.add %c, %c : tensor<2xf32>
      stablehlo.return %x : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
