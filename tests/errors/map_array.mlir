// error: not supported: add of anything but scalars in the region of a map, at NAME:5:12
func.func @main(%a: tensor<4xf32>, %c: tensor<3xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.map"(%a) ({
    ^bb0(%x: tensor<f32>):
      %s = stablehlo.add %c, %c : tensor<3xf32>
      stablehlo.return %x : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
