// error: dynamic_slice (NAME:3:8): 1 start indices for an array of rank 2
func.func @main(%x: tensor<4x4xf32>, %i: tensor<i32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
