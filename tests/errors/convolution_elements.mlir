// error: convolution (NAME:3:8): f32[1,4,1] and i32[2,1,1] to f32[1,3,1]: both must be floats, both integers, or all of one type
func.func @main(%x: tensor<1x4x1xf32>, %w: tensor<2x1x1xi32>) -> tensor<1x3x1xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<2x1x1xi32>) -> tensor<1x3x1xf32>
  return %0 : tensor<1x3x1xf32>
}
