// error: dynamic_slice (NAME:3:8): a slice of 5 of dimension 0 of f32[4]: it must fit inside
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<5xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
