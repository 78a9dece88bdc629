// error: gather (NAME:3:8): dimension 1 is collapsed, so its slice must be 1, not 0
func.func @main(%x: tensor<2x3xf32>, %i: tensor<2x1xi32>) -> tensor<2xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 0>}> : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
