// error: slice (NAME:3:8): [0:7:1] of dimension 1 of f32[2,3]: it must lie inside, with a stride of at least 1
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x7xf32> {
  %0 = stablehlo.slice %x [0:2, 0:7] : (tensor<2x3xf32>) -> tensor<2x7xf32>
  return %0 : tensor<2x7xf32>
}
