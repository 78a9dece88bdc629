// Near the zeros of sine, cosine and tangent what is left of the angle has digits of its own, which the pieces
// of pi must have too.
module @angles_near_zero {
  func.func public @main() {
    %c = stablehlo.constant dense<[45.553093477052, 91.106186954104, 728.849495632832, 3.141592653589793, 355.0, 1.5707963267948966]> : tensor<6xf64>
    %x = stablehlo.optimization_barrier %c : tensor<6xf64>
    %s = stablehlo.sine %x : tensor<6xf64>
    %s1 = stablehlo.constant dense<[1.0, -1.2379612731767154e-18, 9.903690185413723e-18, 1.2246467991473532e-16, -3.014435335948845e-05, 1.0]> : tensor<6xf64>
    check.expect_close %s, %s1, max_ulp_difference = 1 : tensor<6xf64>, tensor<6xf64>
    %d = stablehlo.cosine %x : tensor<6xf64>
    %d1 = stablehlo.constant dense<[-6.189806365883577e-19, -1.0, 1.0, -1.0, -0.999999999545659, 6.123233995736766e-17]> : tensor<6xf64>
    check.expect_close %d, %d1, max_ulp_difference = 1 : tensor<6xf64>, tensor<6xf64>
    %t = stablehlo.tan %x : tensor<6xf64>
    %t1 = stablehlo.constant dense<[-1.6155594228467482e+18, 1.2379612731767154e-18, 9.903690185413723e-18, -1.2246467991473532e-16, 3.0144353373184265e-05, 1.633123935319537e+16]> : tensor<6xf64>
    check.expect_close %t, %t1, max_ulp_difference = 1 : tensor<6xf64>, tensor<6xf64>
    %z = stablehlo.constant dense<[0.0, -0.0, 0.0, -0.0]> : tensor<4xf32>
    %y = stablehlo.optimization_barrier %z : tensor<4xf32>
    %w = stablehlo.sine %y : tensor<4xf32>
    %b = stablehlo.bitcast_convert %w : (tensor<4xf32>) -> tensor<4xi32>
    %b1 = stablehlo.constant dense<[0, -2147483648, 0, -2147483648]> : tensor<4xi32>
    check.expect_eq %b, %b1 : tensor<4xi32>
    return
  }
}
