// error: gather (NAME:3:8): collapsed_slice_dims names dimension 0 after 1: they must rise
func.func @main(%x: tensor<9x3xf32>, %i: tensor<9x2xi32>) -> tensor<9xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1, 0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<9x3xf32>, tensor<9x2xi32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}
