// error: transpose (NAME:3:8): permutation names dimension 0 twice
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.transpose %x, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
