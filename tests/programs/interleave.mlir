// Two arrays spread by zeros and added take turns, along any dimension; -0 + 0 is 0.  A mask of two constants
// is converted.
module @interleave {
  func.func public @main() {
    %x0 = stablehlo.constant dense<[1.0, -0.0, 3.0, 4.0]> : tensor<4xf32>
    %y0 = stablehlo.constant dense<[5.0, 6.0, -0.0, 8.0]> : tensor<4xf32>
    %x, %y = stablehlo.optimization_barrier %x0, %y0 : tensor<4xf32>, tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %a = stablehlo.pad %x, %zero, low = [0], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %b = stablehlo.pad %y, %zero, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %ab = stablehlo.add %a, %b : tensor<8xf32>
    %ba = stablehlo.add %b, %a : tensor<8xf32>
    %one = stablehlo.constant dense<1.0> : tensor<8xf32>
    %inverse = stablehlo.divide %one, %ab : tensor<8xf32>
    %wanted = stablehlo.constant dense<[1.0, 5.0, 0.0, 6.0, 3.0, 0.0, 4.0, 8.0]> : tensor<8xf32>
    %inverses = stablehlo.divide %one, %wanted : tensor<8xf32>
    stablehlo.custom_call @check.expect_eq(%ab, %wanted) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%ba, %wanted) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%inverse, %inverses) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()

    %m0 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %m = stablehlo.optimization_barrier %m0 : tensor<2x3xi32>
    %n = stablehlo.multiply %m, %m : tensor<2x3xi32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %c = stablehlo.pad %m, %none, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<4x3xi32>
    %d = stablehlo.pad %n, %none, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<4x3xi32>
    %cd = stablehlo.add %c, %d : tensor<4x3xi32>
    %rows = stablehlo.constant dense<[[1, 2, 3], [1, 4, 9], [4, 5, 6], [16, 25, 36]]> : tensor<4x3xi32>
    stablehlo.custom_call @check.expect_eq(%cd, %rows) {has_side_effect = true} : (tensor<4x3xi32>, tensor<4x3xi32>) -> ()

    // Not in turns: both begin at once; zeros that are none; one longer than the other.
    %e = stablehlo.add %a, %a : tensor<8xf32>
    %doubled = stablehlo.constant dense<[2.0, 0.0, 0.0, 0.0, 6.0, 0.0, 8.0, 0.0]> : tensor<8xf32>
    stablehlo.custom_call @check.expect_eq(%e, %doubled) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %f = stablehlo.pad %y, %two, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %af = stablehlo.add %a, %f : tensor<8xf32>
    %lifted = stablehlo.constant dense<[3.0, 5.0, 2.0, 6.0, 5.0, 0.0, 6.0, 8.0]> : tensor<8xf32>
    stablehlo.custom_call @check.expect_eq(%af, %lifted) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()

    %bytes = stablehlo.constant dense<[1, 128, 129, 255]> : tensor<4xui8>
    %byte = stablehlo.optimization_barrier %bytes : tensor<4xui8>
    %most = stablehlo.constant dense<128> : tensor<4xui8>
    %high = stablehlo.constant dense<300> : tensor<4xi32>
    %low = stablehlo.constant dense<0> : tensor<4xi32>
    %p = stablehlo.compare GT, %byte, %most : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %q = stablehlo.select %p, %high, %low : tensor<4xi1>, tensor<4xi32>
    %r = stablehlo.convert %q : (tensor<4xi32>) -> tensor<4xui8>
    %mask = stablehlo.constant dense<[0, 0, 44, 44]> : tensor<4xui8>
    stablehlo.custom_call @check.expect_eq(%r, %mask) {has_side_effect = true} : (tensor<4xui8>, tensor<4xui8>) -> ()
    return
  }
}
