// error: gather (NAME:3:8): f32[2,3] with indices i32[9,1]: batching dimensions 0 and 0 differ in extent
func.func @main(%x: tensor<2x3xf32>, %i: tensor<9x1xi32>) -> tensor<9xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x3xf32>, tensor<9x1xi32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}
