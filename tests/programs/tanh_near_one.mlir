// Where the tangent is nearly 1, what it lacks is 2 / (e^2x + 1): its digits depend on that 1 too.
module @tanh_near_one {
  func.func public @main() {
    %c = stablehlo.constant dense<[18.20677896064305, 17.7, 18.3, -18.5, 0.25, -1.0e-300]> : tensor<6xf64>
    %x = stablehlo.optimization_barrier %c : tensor<6xf64>
    %t = stablehlo.tanh %x : tensor<6xf64>
    %t1 = stablehlo.constant dense<[0.9999999999999997, 0.9999999999999991, 0.9999999999999998, -0.9999999999999998, 0.24491866240370913, -1.0e-300]> : tensor<6xf64>
    check.expect_close %t, %t1, max_ulp_difference = 1 : tensor<6xf64>, tensor<6xf64>
    %d = stablehlo.constant dense<[8.3, 8.0, 8.6, -8.9, 0.25, -1.0e-30]> : tensor<6xf32>
    %y = stablehlo.optimization_barrier %d : tensor<6xf32>
    %u = stablehlo.tanh %y : tensor<6xf32>
    %u1 = stablehlo.constant dense<[0.9999998807907104, 0.9999997615814209, 0.9999999403953552, -0.9999999403953552, 0.24491865932941437, -1.0e-30]> : tensor<6xf32>
    check.expect_close %u, %u1, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
    return
  }
}
