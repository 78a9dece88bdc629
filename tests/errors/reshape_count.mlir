// error: reshape (NAME:3:8): f32[2,3] to f32[5]: 6 elements cannot become 5
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<5xf32> {
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
