// error: scatter (NAME:3:8): scatter_indices_batching_dims names dimension 1, which is index_vector_dim
func.func @main(%x: tensor<1x3xf32>, %i: tensor<9x1xi32>, %u: tensor<9xf32>) -> tensor<1x3xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<1x3xf32>, tensor<9x1xi32>, tensor<9xf32>) -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}
