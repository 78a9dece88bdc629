// error: pad (NAME:3:8): padding value i32[] of f32[4]: it must be a scalar of that element
func.func @main(%x: tensor<4xf32>, %p: tensor<i32>) -> tensor<6xf32> {
  %0 = stablehlo.pad %x, %p, low = [1], high = [1], interior = [0] : (tensor<4xf32>, tensor<i32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
