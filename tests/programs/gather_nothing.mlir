// Slices of no elements whose dimension is collapsed: a gather then has results and nothing to read.
// They are bytes of zero, also in a type that has no zero.
func.func @main() {
  %j = stablehlo.constant dense<[0, 1, 9]> : tensor<3xi32>
  %x = stablehlo.constant dense<1.0> : tensor<5x0xf32>
  %a = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 0>}> : (tensor<5x0xf32>, tensor<3xi32>) -> tensor<2x3xf32>
  check.expect_eq_const %a, dense<0.0> : tensor<2x3xf32>
  %y = stablehlo.constant dense<1.0> : tensor<5x0xf8E8M0FNU>
  %b = "stablehlo.gather"(%y, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 0>}> : (tensor<5x0xf8E8M0FNU>, tensor<3xi32>) -> tensor<2x3xf8E8M0FNU>
  %c = stablehlo.bitcast_convert %b : (tensor<2x3xf8E8M0FNU>) -> tensor<2x3xui8>
  check.expect_eq_const %c, dense<0> : tensor<2x3xui8>
  func.return
}
