// Transposes and slices of what is spread: along its own dimensions, across them, and where both turn.
module @spread_moved {
  func.func public @main() {
    %n = stablehlo.iota dim = 0 : tensor<35xi32>
    %hidden = stablehlo.optimization_barrier %n : tensor<35xi32>
    %m = stablehlo.reshape %hidden : (tensor<35xi32>) -> tensor<5x7xi32>
    %s = stablehlo.broadcast_in_dim %m, dims = [0, 2] : (tensor<5x7xi32>) -> tensor<5x3x7xi32>
    %k = stablehlo.optimization_barrier %s : tensor<5x3x7xi32>

    %t0 = stablehlo.transpose %s, dims = [1, 0, 2] : (tensor<5x3x7xi32>) -> tensor<3x5x7xi32>
    %w0 = stablehlo.transpose %k, dims = [1, 0, 2] : (tensor<5x3x7xi32>) -> tensor<3x5x7xi32>
    check.expect_eq %t0, %w0 : tensor<3x5x7xi32>
    %t1 = stablehlo.transpose %s, dims = [2, 1, 0] : (tensor<5x3x7xi32>) -> tensor<7x3x5xi32>
    %w1 = stablehlo.transpose %k, dims = [2, 1, 0] : (tensor<5x3x7xi32>) -> tensor<7x3x5xi32>
    check.expect_eq %t1, %w1 : tensor<7x3x5xi32>

    %t2 = stablehlo.slice %s [1:5:2, 0:2, 2:6:3] : (tensor<5x3x7xi32>) -> tensor<2x2x2xi32>
    %w2 = stablehlo.slice %k [1:5:2, 0:2, 2:6:3] : (tensor<5x3x7xi32>) -> tensor<2x2x2xi32>
    check.expect_eq %t2, %w2 : tensor<2x2x2xi32>
    %row = stablehlo.slice %hidden [0:1] : (tensor<35xi32>) -> tensor<1xi32>
    %one = stablehlo.broadcast_in_dim %row, dims = [1] : (tensor<1xi32>) -> tensor<4x6xi32>
    %t3 = stablehlo.slice %one [1:3, 2:5] : (tensor<4x6xi32>) -> tensor<2x3xi32>
    %zero = stablehlo.constant dense<0> : tensor<2x3xi32>
    check.expect_eq %t3, %zero : tensor<2x3xi32>
    return
  }
}
