// error: scatter (NAME:3:8): f32[3] and a region that combines i32: both must be of one kind, the region's no narrower
func.func @main(%x: tensor<3xf32>, %i: tensor<1xi32>, %u: tensor<f32>) -> tensor<3xi32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<3xf32>, tensor<1xi32>, tensor<f32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}
