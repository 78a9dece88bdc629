// error: scatter (NAME:3:8): update f32[7,4] does not fit into f32[5,3] with indices i32[7,1]
func.func @main(%x: tensor<5x3xf32>, %i: tensor<7x1xi32>, %u: tensor<7x4xf32>) -> tensor<5x3xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x3xf32>, tensor<7x1xi32>, tensor<7x4xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
