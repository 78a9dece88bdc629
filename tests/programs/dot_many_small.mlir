// Many products of small matrices, and many rows by one small matrix, which are loops: against the same sums written out.
module @dot_many_small {
  func.func public @main() {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.iota dim = 0 : tensor<3000xf32>
    %seven = stablehlo.constant dense<7.0> : tensor<3000xf32>
    %eleven = stablehlo.constant dense<11.0> : tensor<3000xf32>
    %xs = stablehlo.remainder %n, %seven : tensor<3000xf32>
    %ys = stablehlo.remainder %n, %eleven : tensor<3000xf32>
    %x3 = stablehlo.reshape %xs : (tensor<3000xf32>) -> tensor<100x6x5xf32>
    %y3 = stablehlo.reshape %ys : (tensor<3000xf32>) -> tensor<100x5x6xf32>
    %x = stablehlo.optimization_barrier %x3 : tensor<100x6x5xf32>
    %y = stablehlo.optimization_barrier %y3 : tensor<100x5x6xf32>

    // one product for each of a batch
    %each = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<100x6x5xf32>, tensor<100x5x6xf32>) -> tensor<100x6x6xf32>
    %x4 = stablehlo.broadcast_in_dim %x, dims = [0, 1, 3] : (tensor<100x6x5xf32>) -> tensor<100x6x6x5xf32>
    %y4 = stablehlo.broadcast_in_dim %y, dims = [0, 3, 2] : (tensor<100x5x6xf32>) -> tensor<100x6x6x5xf32>
    %xy = stablehlo.multiply %x4, %y4 : tensor<100x6x6x5xf32>
    %sums = stablehlo.reduce(%xy init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<100x6x6x5xf32>, tensor<f32>) -> tensor<100x6x6xf32>
    check.expect_eq %each, %sums : tensor<100x6x6xf32>

    // the right one by its rows
    %yt = stablehlo.transpose %y, dims = [0, 2, 1] : (tensor<100x5x6xf32>) -> tensor<100x6x5xf32>
    %turned = stablehlo.optimization_barrier %yt : tensor<100x6x5xf32>
    %by_rows = stablehlo.dot_general %x, %turned, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<100x6x5xf32>, tensor<100x6x5xf32>) -> tensor<100x6x6xf32>
    check.expect_eq %by_rows, %sums : tensor<100x6x6xf32>

    // what is summed over in the middle, and one small matrix for all
    %f0 = stablehlo.slice %y [0:1, 0:5, 0:6] : (tensor<100x5x6xf32>) -> tensor<1x5x6xf32>
    %f1 = stablehlo.reshape %f0 : (tensor<1x5x6xf32>) -> tensor<5x6xf32>
    %f = stablehlo.optimization_barrier %f1 : tensor<5x6xf32>
    %middle = stablehlo.dot_general %x, %f, contracting_dims = [1] x [1] : (tensor<100x6x5xf32>, tensor<5x6xf32>) -> tensor<100x5x5xf32>
    %xm = stablehlo.broadcast_in_dim %x, dims = [0, 3, 1] : (tensor<100x6x5xf32>) -> tensor<100x5x5x6xf32>
    %fm = stablehlo.broadcast_in_dim %f, dims = [2, 3] : (tensor<5x6xf32>) -> tensor<100x5x5x6xf32>
    %xf = stablehlo.multiply %xm, %fm : tensor<100x5x5x6xf32>
    %middles = stablehlo.reduce(%xf init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<100x5x5x6xf32>, tensor<f32>) -> tensor<100x5x5xf32>
    check.expect_eq %middle, %middles : tensor<100x5x5xf32>

    // all rows by it
    %rows = stablehlo.dot_general %x, %f, contracting_dims = [2] x [0] : (tensor<100x6x5xf32>, tensor<5x6xf32>) -> tensor<100x6x6xf32>
    %fr = stablehlo.broadcast_in_dim %f, dims = [3, 2] : (tensor<5x6xf32>) -> tensor<100x6x6x5xf32>
    %xr = stablehlo.multiply %x4, %fr : tensor<100x6x6x5xf32>
    %all = stablehlo.reduce(%xr init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<100x6x6x5xf32>, tensor<f32>) -> tensor<100x6x6xf32>
    check.expect_eq %rows, %all : tensor<100x6x6xf32>
    return
  }
}
