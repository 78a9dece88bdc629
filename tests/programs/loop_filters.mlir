// In a loop a small window over images of one feature is a sum of shifted images: the same numbers as outside of it,
// with borders, strides, spread and reversed windows. All are whole, so that their order does not show.
module @loop_filters {
  func.func public @main() {
    %first = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ai = stablehlo.iota dim = 0 : tensor<1480xi32>
    %as = stablehlo.constant dense<17> : tensor<1480xi32>
    %ar = stablehlo.remainder %ai, %as : tensor<1480xi32>
    %af = stablehlo.convert %ar : (tensor<1480xi32>) -> tensor<1480xf32>
    %at = stablehlo.reshape %af : (tensor<1480xf32>) -> tensor<1x1x40x37xf32>
    %ax = stablehlo.optimization_barrier %at : tensor<1x1x40x37xf32>
    %aj = stablehlo.iota dim = 0 : tensor<9xf32>
    %aw = stablehlo.reshape %aj : (tensor<9xf32>) -> tensor<1x1x3x3xf32>
    %ak = stablehlo.optimization_barrier %aw : tensor<1x1x3x3xf32>
    %a0 = stablehlo.convolution(%ax, %ak) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x40x37xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x40x37xf32>
    %az = stablehlo.constant dense<0.0> : tensor<1x1x40x37xf32>
    %al:2 = stablehlo.while(%n = %first, %y = %az) : tensor<i32>, tensor<1x1x40x37xf32>
    cond {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %goes = stablehlo.compare LT, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %next = stablehlo.add %n, %one : tensor<i32>
      %m = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
      %ms = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<1x1x40x37xf32>
      %u = stablehlo.multiply %ax, %ms : tensor<1x1x40x37xf32>
      %v = stablehlo.convolution(%u, %ak) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x40x37xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x40x37xf32>
      stablehlo.return %next, %v : tensor<i32>, tensor<1x1x40x37xf32>
    }
    check.expect_eq %al#1, %a0 : tensor<1x1x40x37xf32>
    %bi = stablehlo.iota dim = 0 : tensor<4920xi32>
    %bs = stablehlo.constant dense<17> : tensor<4920xi32>
    %br = stablehlo.remainder %bi, %bs : tensor<4920xi32>
    %bf = stablehlo.convert %br : (tensor<4920xi32>) -> tensor<4920xf32>
    %bt = stablehlo.reshape %bf : (tensor<4920xf32>) -> tensor<3x41x40x1xf32>
    %bx = stablehlo.optimization_barrier %bt : tensor<3x41x40x1xf32>
    %bj = stablehlo.iota dim = 0 : tensor<6xf32>
    %bw = stablehlo.reshape %bj : (tensor<6xf32>) -> tensor<3x2x1x1xf32>
    %bk = stablehlo.optimization_barrier %bw : tensor<3x2x1x1xf32>
    %b0 = stablehlo.convolution(%bx, %bk) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 0], [-1, 2]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x41x40x1xf32>, tensor<3x2x1x1xf32>) -> tensor<3x20x40x1xf32>
    %bz = stablehlo.constant dense<0.0> : tensor<3x20x40x1xf32>
    %bl:2 = stablehlo.while(%n = %first, %y = %bz) : tensor<i32>, tensor<3x20x40x1xf32>
    cond {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %goes = stablehlo.compare LT, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %next = stablehlo.add %n, %one : tensor<i32>
      %m = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
      %ms = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<3x41x40x1xf32>
      %u = stablehlo.multiply %bx, %ms : tensor<3x41x40x1xf32>
      %v = stablehlo.convolution(%u, %bk) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 0], [-1, 2]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x41x40x1xf32>, tensor<3x2x1x1xf32>) -> tensor<3x20x40x1xf32>
      stablehlo.return %next, %v : tensor<i32>, tensor<3x20x40x1xf32>
    }
    check.expect_eq %bl#1, %b0 : tensor<3x20x40x1xf32>
    %ci = stablehlo.iota dim = 0 : tensor<1100xi32>
    %cs = stablehlo.constant dense<17> : tensor<1100xi32>
    %cr = stablehlo.remainder %ci, %cs : tensor<1100xi32>
    %cf = stablehlo.convert %cr : (tensor<1100xi32>) -> tensor<1100xf64>
    %ct = stablehlo.reshape %cf : (tensor<1100xf64>) -> tensor<1x1x1100xf64>
    %cx = stablehlo.optimization_barrier %ct : tensor<1x1x1100xf64>
    %cj = stablehlo.iota dim = 0 : tensor<5xf64>
    %cw = stablehlo.reshape %cj : (tensor<5xf64>) -> tensor<1x1x5xf64>
    %ck = stablehlo.optimization_barrier %cw : tensor<1x1x5xf64>
    %c0 = stablehlo.convolution(%cx, %ck) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[0, 2]], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x1100xf64>, tensor<1x1x5xf64>) -> tensor<1x1x1094xf64>
    %cz = stablehlo.constant dense<0.0> : tensor<1x1x1094xf64>
    %cl:2 = stablehlo.while(%n = %first, %y = %cz) : tensor<i32>, tensor<1x1x1094xf64>
    cond {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %goes = stablehlo.compare LT, %n, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %next = stablehlo.add %n, %one : tensor<i32>
      %m = stablehlo.convert %n : (tensor<i32>) -> tensor<f64>
      %ms = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f64>) -> tensor<1x1x1100xf64>
      %u = stablehlo.multiply %cx, %ms : tensor<1x1x1100xf64>
      %v = stablehlo.convolution(%u, %ck) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[0, 2]], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x1100xf64>, tensor<1x1x5xf64>) -> tensor<1x1x1094xf64>
      stablehlo.return %next, %v : tensor<i32>, tensor<1x1x1094xf64>
    }
    check.expect_eq %cl#1, %c0 : tensor<1x1x1094xf64>
    return
  }
}
