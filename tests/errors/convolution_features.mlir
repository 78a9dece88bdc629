// error: convolution (NAME:3:8): f32[1,8,8,3] by f32[3,3,4,16]: 3 input features and batches of 1 in 1 and 1 groups do not go with a kernel of 4 by 16 features
func.func @main(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}
