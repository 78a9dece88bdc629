// error: reduce (NAME:3:8): f32[3] and a region that combines complex<f32>: both must be of one kind, the region's no narrower
func.func @main(%x: tensor<3xf32>, %i: tensor<complex<f32>>) -> tensor<complex<f32>> {
  %r = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %c = stablehlo.add %a, %b : tensor<complex<f32>>
    stablehlo.return %c : tensor<complex<f32>>
  }) : (tensor<3xf32>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %r : tensor<complex<f32>>
}
