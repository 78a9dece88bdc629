// Convolutions whose windows lie beside each other, which are one matrix product: against the same by windows that
// overlap by a column of zeros, which are not.
module @conv_beside {
  func.func public @main() {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %six0 = stablehlo.constant dense<6.0> : tensor<f32>
    %n = stablehlo.iota dim = 0 : tensor<9216xf32>
    %thirteen = stablehlo.constant dense<13.0> : tensor<9216xf32>
    %rest = stablehlo.remainder %n, %thirteen : tensor<9216xf32>
    %six = stablehlo.constant dense<6.0> : tensor<9216xf32>
    %numbers = stablehlo.subtract %rest, %six : tensor<9216xf32>
    %image = stablehlo.reshape %numbers : (tensor<9216xf32>) -> tensor<2x32x48x3xf32>
    %x = stablehlo.optimization_barrier %image : tensor<2x32x48x3xf32>
    %some = stablehlo.slice %numbers [7:391] : (tensor<9216xf32>) -> tensor<384xf32>
    %weights = stablehlo.reshape %some : (tensor<384xf32>) -> tensor<2x4x3x16xf32>
    %k = stablehlo.optimization_barrier %weights : tensor<2x4x3x16xf32>
    %wide = stablehlo.pad %k, %zero, low = [0, 0, 0, 0], high = [0, 1, 0, 0], interior = [0, 0, 0, 0] : (tensor<2x4x3x16xf32>, tensor<f32>) -> tensor<2x5x3x16xf32>

    // features first, the window steps by its length
    %xf = stablehlo.transpose %x, dims = [0, 3, 1, 2] : (tensor<2x32x48x3xf32>) -> tensor<2x3x32x48xf32>
    %first = stablehlo.optimization_barrier %xf : tensor<2x3x32x48xf32>
    %steps = stablehlo.convolution(%first, %k) dim_numbers = [b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1], window = {stride = [2, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x32x48xf32>, tensor<2x4x3x16xf32>) -> tensor<2x16x16x12xf32>
    %plain = stablehlo.convolution(%x, %wide) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 4], pad = [[0, 0], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x48x3xf32>, tensor<2x5x3x16xf32>) -> tensor<2x16x12x16xf32>
    %plain_first = stablehlo.transpose %plain, dims = [0, 3, 1, 2] : (tensor<2x16x12x16xf32>) -> tensor<2x16x16x12xf32>
    check.expect_eq %steps, %plain_first : tensor<2x16x16x12xf32>

    // a last row and columns that no window reaches
    %less = stablehlo.slice %first [0:2, 0:3, 0:31, 0:46] : (tensor<2x3x32x48xf32>) -> tensor<2x3x31x46xf32>
    %cut = stablehlo.optimization_barrier %less : tensor<2x3x31x46xf32>
    %whole = stablehlo.convolution(%cut, %k) dim_numbers = [b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1], window = {stride = [2, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x31x46xf32>, tensor<2x4x3x16xf32>) -> tensor<2x16x15x11xf32>
    %within = stablehlo.slice %plain_first [0:2, 0:16, 0:15, 0:11] : (tensor<2x16x16x12xf32>) -> tensor<2x16x15x11xf32>
    check.expect_eq %whole, %within : tensor<2x16x15x11xf32>

    // the derivative by the input: spread apart by as much as the window is long
    %back = stablehlo.convolution(%plain, %k) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[1, 1], [3, 3]], lhs_dilate = [2, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x12x16xf32>, tensor<2x4x3x16xf32>) -> tensor<2x32x48x3xf32>
    %back_wide = stablehlo.convolution(%plain, %wide) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[1, 1], [3, 4]], lhs_dilate = [2, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x12x16xf32>, tensor<2x5x3x16xf32>) -> tensor<2x32x48x3xf32>
    check.expect_eq %back, %back_wide : tensor<2x32x48x3xf32>

    // by the kernel: taps as far apart as there are results
    %by_kernel = stablehlo.convolution(%x, %plain) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {rhs_dilate = [2, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x48x3xf32>, tensor<2x16x12x16xf32>) -> tensor<2x4x3x16xf32>
    %by_wide = stablehlo.convolution(%x, %plain) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 0], [0, 1]], rhs_dilate = [2, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x48x3xf32>, tensor<2x16x12x16xf32>) -> tensor<2x5x3x16xf32>
    %four = stablehlo.slice %by_wide [0:2, 0:4, 0:3, 0:16] : (tensor<2x5x3x16xf32>) -> tensor<2x4x3x16xf32>
    check.expect_eq %by_kernel, %four : tensor<2x4x3x16xf32>

    // both, of an image with a row and columns that no window reached
    %tall = stablehlo.convolution(%plain, %k) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[1, 2], [3, 6]], lhs_dilate = [2, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x12x16xf32>, tensor<2x4x3x16xf32>) -> tensor<2x33x51x3xf32>
    %below = stablehlo.pad %back, %zero, low = [0, 0, 0, 0], high = [0, 1, 3, 0], interior = [0, 0, 0, 0] : (tensor<2x32x48x3xf32>, tensor<f32>) -> tensor<2x33x51x3xf32>
    check.expect_eq %tall, %below : tensor<2x33x51x3xf32>
    %more = stablehlo.pad %x, %six0, low = [0, 0, 0, 0], high = [0, 1, 3, 0], interior = [0, 0, 0, 0] : (tensor<2x32x48x3xf32>, tensor<f32>) -> tensor<2x33x51x3xf32>
    %padded = stablehlo.optimization_barrier %more : tensor<2x33x51x3xf32>
    %by_less = stablehlo.convolution(%padded, %plain) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, -1], [0, -3]], rhs_dilate = [2, 4]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x33x51x3xf32>, tensor<2x16x12x16xf32>) -> tensor<2x4x3x16xf32>
    check.expect_eq %by_less, %by_kernel : tensor<2x4x3x16xf32>
    return
  }
}
