// error: scatter (NAME:3:8): argument 0 of its region is f64[], and a scalar f32 is needed
func.func @main(%x: tensor<3xf32>, %i: tensor<1xi32>, %u: tensor<f32>) -> tensor<3xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3xf32>, tensor<1xi32>, tensor<f32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
