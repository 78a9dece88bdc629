// Sums named by letters and products by groups of rows; expected values by NumPy: for unary_einsum
// np.einsum, for ragged_dot one product per group.
func.func @main() {
  %x = stablehlo.constant dense<[[[0.0, 0.0, 2.0, 4.0],  [-4.0, -3.0, 3.0, 4.0],  [-2.0, -2.0, 3.0, -1.0]], [[-2.0, 3.0, -2.0, -1.0],  [1.0, 0.0, -4.0, -4.0],  [3.0, 2.0, 3.0, 0.0]]]> : tensor<2x3x4xf32>
  %e0 = stablehlo.unary_einsum %x, config = "abc->ca" : (tensor<2x3x4xf32>) -> tensor<4x2xf32>
  check.expect_eq_const %e0, dense<[[-6.0, 2.0], [-5.0, 5.0], [8.0, -3.0], [7.0, -5.0]]> : tensor<4x2xf32>
  %e1 = stablehlo.unary_einsum %x, config = "abc->" : (tensor<2x3x4xf32>) -> tensor<f32>
  check.expect_eq_const %e1, dense<3.0> : tensor<f32>
  %e2 = stablehlo.unary_einsum %x, config = "abc->bca" : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  check.expect_eq_const %e2, dense<[[[0.0, -2.0],  [0.0, 3.0],  [2.0, -2.0],  [4.0, -1.0]], [[-4.0, 1.0],  [-3.0, 0.0],  [3.0, -4.0],  [4.0, -4.0]], [[-2.0, 3.0],  [-2.0, 2.0],  [3.0, 3.0],  [-1.0, 0.0]]]> : tensor<3x4x2xf32>
  %l = stablehlo.constant dense<[[3.0, -2.0, 0.0, 3.0], [-3.0, -2.0, -3.0, 0.0], [4.0, -3.0, -1.0, -1.0], [4.0, -3.0, 0.0, -2.0], [-4.0, 2.0, -4.0, -2.0], [0.0, 0.0, -3.0, 4.0]]> : tensor<6x4xf32>
  %w = stablehlo.constant dense<[[[2.0, 4.0, -4.0, 2.0, -2.0],  [0.0, 4.0, -2.0, 2.0, -3.0],  [-2.0, 4.0, -1.0, 0.0, -2.0],  [-3.0, -1.0, 1.0, 0.0, 2.0]], [[-1.0, 1.0, 2.0, 4.0, -1.0],  [-4.0, 2.0, 0.0, 3.0, 0.0],  [-1.0, -4.0, 0.0, 1.0, 2.0],  [3.0, -3.0, 1.0, 3.0, -2.0]], [[-1.0, 3.0, 1.0, 0.0, 2.0],  [0.0, 4.0, 2.0, -4.0, -3.0],  [0.0, 3.0, -4.0, 2.0, 2.0],  [3.0, 3.0, -3.0, 0.0, 3.0]]]> : tensor<3x4x5xf32>
  %y = stablehlo.constant dense<[[[-1.0, -3.0, 0.0, -4.0, -3.0, 3.0, 2.0],  [3.0, 3.0, 3.0, -2.0, 0.0, 1.0, -2.0],  [4.0, -4.0, 3.0, 1.0, -2.0, 2.0, -1.0]], [[3.0, 4.0, -2.0, 0.0, -3.0, 2.0, 1.0],  [3.0, 3.0, 4.0, 4.0, 4.0, -3.0, -4.0],  [0.0, -1.0, 4.0, 3.0, -1.0, 1.0, 1.0]]]> : tensor<2x3x7xf32>
  %z = stablehlo.constant dense<[[[4.0, -4.0, 0.0, 2.0, 0.0],  [4.0, 4.0, 3.0, 0.0, 3.0],  [-4.0, 1.0, -2.0, -2.0, 2.0],  [2.0, 3.0, -3.0, 3.0, 3.0],  [-2.0, -4.0, 2.0, 3.0, 0.0],  [-3.0, -3.0, -1.0, 2.0, -2.0],  [-4.0, 2.0, 2.0, -3.0, 1.0]], [[-1.0, 0.0, -4.0, 1.0, -2.0],  [0.0, -1.0, 1.0, -4.0, -1.0],  [1.0, 2.0, -1.0, -4.0, 2.0],  [0.0, 1.0, -3.0, -1.0, 3.0],  [3.0, -2.0, 1.0, -4.0, 3.0],  [-2.0, -1.0, 4.0, 0.0, 3.0],  [-3.0, 2.0, 4.0, -4.0, -2.0]]]> : tensor<2x7x5xf32>
  %sizes = stablehlo.constant dense<[2, 0, 3]> : tensor<3xi32>
  %sz = stablehlo.constant dense<[2, 1, 4]> : tensor<3xi64>
  %free = "chlo.ragged_dot"(%l, %w, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<6x5xf32>
  check.expect_eq_const %free, dense<[[-3.0, 1.0, -5.0, 2.0, 6.0], [0.0, -32.0, 19.0, -10.0, 18.0], [-7.0, -6.0, 5.0, 10.0, 12.0], [-10.0, -6.0, 4.0, 12.0, 11.0], [-2.0, -22.0, 22.0, -16.0, -28.0], [0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<6x5xf32>
  %summed = "chlo.ragged_dot"(%y, %z, %sz) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2], rhs_group_dimensions = []>} : (tensor<2x3x7xf32>, tensor<2x7x5xf32>, tensor<3xi64>) -> tensor<3x2x3x5xf32>
  check.expect_eq_const %summed, dense<[[[[-16.0, -8.0, -9.0, -2.0, -9.0],   [24.0, 0.0, 9.0, 6.0, 9.0],   [0.0, -32.0, -12.0, 8.0, -12.0]],  [[-3.0, -4.0, -8.0, -13.0, -10.0],   [-3.0, -3.0, -9.0, -9.0, -9.0],   [0.0, 1.0, -1.0, 4.0, 1.0]]], [[[0.0, 0.0, 0.0, 0.0, 0.0],   [-12.0, 3.0, -6.0, -6.0, 6.0],   [-12.0, 3.0, -6.0, -6.0, 6.0]],  [[-2.0, -4.0, 2.0, 8.0, -4.0],   [4.0, 8.0, -4.0, -16.0, 8.0],   [4.0, 8.0, -4.0, -16.0, 8.0]]], [[[-19.0, -5.0, 7.0, -21.0, -16.0],   [1.0, -13.0, 1.0, 2.0, -10.0],   [4.0, 3.0, -11.0, 4.0, -2.0]],  [[-16.0, 6.0, 9.0, 8.0, -5.0],   [30.0, -9.0, -36.0, -4.0, 23.0],   [-8.0, 6.0, -2.0, -3.0, 7.0]]]]> : tensor<3x2x3x5xf32>
  func.return
}
