// error: gather (NAME:3:8): 0 offset_dims and 1 batch dimensions for 1 kept dimensions and a result of rank 2
func.func @main(%x: tensor<5x3xf32>, %i: tensor<7x1xi32>) -> tensor<7x3xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf32>, tensor<7x1xi32>) -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}
