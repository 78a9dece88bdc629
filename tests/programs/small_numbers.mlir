// Numbers that are flushed have the sign 0, with their own sign; f8E8M0FNU's least power of two, which
// would be flushed as an f32, is none of them.
func.func @main() {
  %x = stablehlo.constant dense<[1.0e-40, -1.0e-40, 0.0, -0.0, 1.0e-30, -3.0]> : tensor<6xf32>
  %a = stablehlo.sign %x : tensor<6xf32>
  check.expect_eq_const %a, dense<[0.0, -0.0, 0.0, -0.0, 1.0, -1.0]> : tensor<6xf32>
  %y = stablehlo.constant dense<[1.0e-310, -1.0e-310, 1.0e-300]> : tensor<3xf64>
  %b = stablehlo.sign %y : tensor<3xf64>
  check.expect_eq_const %b, dense<[0.0, -0.0, 1.0]> : tensor<3xf64>
  %p = stablehlo.constant dense<[0, 1, 126, 127, 128]> : tensor<5xui8>
  %q = stablehlo.bitcast_convert %p : (tensor<5xui8>) -> tensor<5xf8E8M0FNU>
  %c = stablehlo.ceil %q : tensor<5xf8E8M0FNU>
  %d = stablehlo.sqrt %q : tensor<5xf8E8M0FNU>
  %e = stablehlo.add %q, %q : tensor<5xf8E8M0FNU>
  %f = stablehlo.multiply %q, %q : tensor<5xf8E8M0FNU>
  %g = stablehlo.sign %q : tensor<5xf8E8M0FNU>
  %cb = stablehlo.bitcast_convert %c : (tensor<5xf8E8M0FNU>) -> tensor<5xui8>
  %db = stablehlo.bitcast_convert %d : (tensor<5xf8E8M0FNU>) -> tensor<5xui8>
  %eb = stablehlo.bitcast_convert %e : (tensor<5xf8E8M0FNU>) -> tensor<5xui8>
  %fb = stablehlo.bitcast_convert %f : (tensor<5xf8E8M0FNU>) -> tensor<5xui8>
  %gb = stablehlo.bitcast_convert %g : (tensor<5xf8E8M0FNU>) -> tensor<5xui8>
  check.expect_eq_const %cb, dense<[127, 127, 127, 127, 128]> : tensor<5xui8>
  check.expect_eq_const %db, dense<[63, 64, 126, 127, 127]> : tensor<5xui8>
  check.expect_eq_const %eb, dense<[1, 2, 127, 128, 129]> : tensor<5xui8>
  check.expect_eq_const %fb, dense<[255, 255, 125, 127, 129]> : tensor<5xui8>
  check.expect_eq_const %gb, dense<[127, 127, 127, 127, 127]> : tensor<5xui8>
  func.return
}
