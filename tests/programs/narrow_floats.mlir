// Floats of four and six bits: constants as numbers and as bits, rounding to even, what is too
// large, arithmetic, and their bits two to a byte.  The numbers are those of the formats' tables.
func.func @main() {
  %x = stablehlo.constant dense<[0.0, -0.0, 0.25, 0.26, 0.75, 1.25, 2.5, 3.5, 5.0, -5.1, 100.0, -100.0]> : tensor<12xf32>
  %four = stablehlo.convert %x : (tensor<12xf32>) -> tensor<12xf4E2M1FN>
  check.expect_eq_const %four, dense<[0.0, -0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 4.0, 4.0, -6.0, 6.0, -6.0]> : tensor<12xf4E2M1FN>
  %six = stablehlo.convert %x : (tensor<12xf32>) -> tensor<12xf6E2M3FN>
  check.expect_eq_const %six, dense<[0.0, -0.0, 0.25, 0.25, 0.75, 1.25, 2.5, 3.5, 5.0, -5.0, 7.5, -7.5]> : tensor<12xf6E2M3FN>
  %wide = stablehlo.convert %x : (tensor<12xf32>) -> tensor<12xf6E3M2FN>
  check.expect_eq_const %wide, dense<[0.0, -0.0, 0.25, 0.25, 0.75, 1.25, 2.5, 3.5, 5.0, -5.0, 28.0, -28.0]> : tensor<12xf6E3M2FN>

  %bits = stablehlo.constant dense<[0x7, 0xF, 0x1, 0x8]> : tensor<4xf4E2M1FN>
  %f = stablehlo.convert %bits : (tensor<4xf4E2M1FN>) -> tensor<4xf32>
  check.expect_eq_const %f, dense<[6.0, -6.0, 0.5, -0.0]> : tensor<4xf32>
  %packed = stablehlo.constant dense<"0x070F0108"> : tensor<4xf4E2M1FN>
  %two = stablehlo.add %packed, %bits : tensor<4xf4E2M1FN>
  check.expect_eq_const %two, dense<[6.0, -6.0, 1.0, -0.0]> : tensor<4xf4E2M1FN>
  %pairs = stablehlo.reshape %bits : (tensor<4xf4E2M1FN>) -> tensor<2x2xf4E2M1FN>
  %bytes = stablehlo.bitcast_convert %pairs : (tensor<2x2xf4E2M1FN>) -> tensor<2xui8>
  check.expect_eq_const %bytes, dense<[0xF7, 0x81]> : tensor<2xui8>
  %again = stablehlo.bitcast_convert %bytes : (tensor<2xui8>) -> tensor<2x2xf4E2M1FN>
  check.expect_eq_const %again, dense<[[6.0, -6.0], [0.5, -0.0]]> : tensor<2x2xf4E2M1FN>
  return
}
