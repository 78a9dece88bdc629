// Products whose batch lies last in both operands: of whole columns, and of columns of pages.
module @dot_columns {
  func.func public @main() {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.iota dim = 0 : tensor<2310xf32>
    %seven = stablehlo.constant dense<7.0> : tensor<2310xf32>
    %rest = stablehlo.remainder %n, %seven : tensor<2310xf32>
    %x3 = stablehlo.reshape %rest : (tensor<2310xf32>) -> tensor<3x11x70xf32>
    %y3 = stablehlo.reshape %n : (tensor<2310xf32>) -> tensor<3x11x70xf32>
    %x = stablehlo.optimization_barrier %x3 : tensor<3x11x70xf32>
    %y = stablehlo.optimization_barrier %y3 : tensor<3x11x70xf32>
    %got = stablehlo.dot_general %x, %y, batching_dims = [0, 2] x [0, 2], contracting_dims = [1] x [1] : (tensor<3x11x70xf32>, tensor<3x11x70xf32>) -> tensor<3x70xf32>
    %xy = stablehlo.multiply %x, %y : tensor<3x11x70xf32>
    %want = stablehlo.reduce(%xy init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x11x70xf32>, tensor<f32>) -> tensor<3x70xf32>
    check.expect_eq %got, %want : tensor<3x70xf32>

    // two dimensions are summed over, and the batch comes in another order than in memory
    %flat = stablehlo.dot_general %x, %y, batching_dims = [2] x [2], contracting_dims = [0, 1] x [0, 1] : (tensor<3x11x70xf32>, tensor<3x11x70xf32>) -> tensor<70xf32>
    %all = stablehlo.reduce(%xy init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x11x70xf32>, tensor<f32>) -> tensor<70xf32>
    check.expect_eq %flat, %all : tensor<70xf32>
    %turned = stablehlo.dot_general %x, %y, batching_dims = [2, 0] x [2, 0], contracting_dims = [1] x [1] : (tensor<3x11x70xf32>, tensor<3x11x70xf32>) -> tensor<70x3xf32>
    %wanted = stablehlo.transpose %want, dims = [1, 0] : (tensor<3x70xf32>) -> tensor<70x3xf32>
    check.expect_eq %turned, %wanted : tensor<70x3xf32>
    return
  }
}
