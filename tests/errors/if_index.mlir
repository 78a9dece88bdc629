// error: if (NAME:3:8): index f32[]: it must be a scalar i1
func.func @main(%i: tensor<f32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.if"(%i) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
