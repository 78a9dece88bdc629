// error: gather (NAME:3:8): start_indices_batching_dims names dimension 1, which is index_vector_dim
func.func @main(%x: tensor<1x3xf32>, %i: tensor<9x1xi32>) -> tensor<9xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<1x3xf32>, tensor<9x1xi32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}
