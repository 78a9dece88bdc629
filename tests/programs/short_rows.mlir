// Rows of 3, summed as they are, as squares, and as what costs much to compute: as their columns are.
module @short_rows {
  func.func public @main() {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %line = stablehlo.iota dim = 0 : tensor<3903xf32>
    %x = stablehlo.reshape %line : (tensor<3903xf32>) -> tensor<1301x3xf32>
    %y = stablehlo.optimization_barrier %x : tensor<1301x3xf32>

    // small enough that sums of three squares are exact, in whatever order
    %middle = stablehlo.constant dense<1951.0> : tensor<1301x3xf32>
    %around = stablehlo.subtract %y, %middle : tensor<1301x3xf32>
    %sq = stablehlo.multiply %around, %around : tensor<1301x3xf32>
    %s = stablehlo.reduce(%sq init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1301x3xf32>, tensor<f32>) -> tensor<1301xf32>
    %w = stablehlo.optimization_barrier %sq : tensor<1301x3xf32>
    %a = stablehlo.slice %w [0:1301, 0:1] : (tensor<1301x3xf32>) -> tensor<1301x1xf32>
    %b = stablehlo.slice %w [0:1301, 1:2] : (tensor<1301x3xf32>) -> tensor<1301x1xf32>
    %c = stablehlo.slice %w [0:1301, 2:3] : (tensor<1301x3xf32>) -> tensor<1301x1xf32>
    %ac = stablehlo.add %a, %c : tensor<1301x1xf32>
    %abc = stablehlo.add %ac, %b : tensor<1301x1xf32>
    %want = stablehlo.reshape %abc : (tensor<1301x1xf32>) -> tensor<1301xf32>
    check.expect_eq %s, %want : tensor<1301xf32>

    %sine = stablehlo.sine %y : tensor<1301x3xf32>
    %p = stablehlo.add %sine, %y : tensor<1301x3xf32>
    %q = stablehlo.multiply %p, %sine : tensor<1301x3xf32>
    %e = stablehlo.exponential %sine : tensor<1301x3xf32>
    %r = stablehlo.add %q, %e : tensor<1301x3xf32>
    %t = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1301x3xf32>, tensor<f32>) -> tensor<1301xf32>
    %v = stablehlo.optimization_barrier %r : tensor<1301x3xf32>
    %d = stablehlo.slice %v [0:1301, 0:1] : (tensor<1301x3xf32>) -> tensor<1301x1xf32>
    %f = stablehlo.slice %v [0:1301, 1:2] : (tensor<1301x3xf32>) -> tensor<1301x1xf32>
    %g = stablehlo.slice %v [0:1301, 2:3] : (tensor<1301x3xf32>) -> tensor<1301x1xf32>
    %one = stablehlo.add %d, %f : tensor<1301x1xf32>
    %dfg = stablehlo.add %one, %g : tensor<1301x1xf32>
    %near = stablehlo.reshape %dfg : (tensor<1301x1xf32>) -> tensor<1301xf32>
    check.expect_close %t, %near, max_ulp_difference = 4 : tensor<1301xf32>, tensor<1301xf32>

    // products of integers, whose order does not show
    %i = stablehlo.convert %y : (tensor<1301x3xf32>) -> tensor<1301x3xi32>
    %first = stablehlo.constant dense<1> : tensor<i32>
    %product = stablehlo.reduce(%i init: %first) applies stablehlo.multiply across dimensions = [1] : (tensor<1301x3xi32>, tensor<i32>) -> tensor<1301xi32>
    %row = stablehlo.iota dim = 0 : tensor<1301xi32>
    %three = stablehlo.constant dense<3> : tensor<1301xi32>
    %ones = stablehlo.constant dense<1> : tensor<1301xi32>
    %n = stablehlo.multiply %row, %three : tensor<1301xi32>
    %n1 = stablehlo.add %n, %ones : tensor<1301xi32>
    %n2 = stablehlo.add %n1, %ones : tensor<1301xi32>
    %nn = stablehlo.multiply %n, %n1 : tensor<1301xi32>
    %nnn = stablehlo.multiply %nn, %n2 : tensor<1301xi32>
    check.expect_eq %product, %nnn : tensor<1301xi32>
    return
  }
}
