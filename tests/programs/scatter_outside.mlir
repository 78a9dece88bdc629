// A window that sticks out of its array anywhere is dropped whole, in compiled code (behind the
// barrier) and where constants are folded.  Of the starts 0, 1, 2, -1 and 3 the first two hold two
// rows of three: rows 0 and 1, 1 and 2.
func.func @main() {
  %zero = stablehlo.constant dense<0.0> : tensor<3x2xf32>
  %starts = stablehlo.constant dense<[0, 1, 2, -1, 3]> : tensor<5xi32>
  %ones = stablehlo.constant dense<1.0> : tensor<2x5xf32>
  %folded = "stablehlo.scatter"(%zero, %starts, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x2xf32>, tensor<5xi32>, tensor<2x5xf32>) -> tensor<3x2xf32>
  check.expect_eq_const %folded, dense<[[1.0, 0.0], [2.0, 0.0], [1.0, 0.0]]> : tensor<3x2xf32>
  %later = stablehlo.optimization_barrier %starts : tensor<5xi32>
  %compiled = "stablehlo.scatter"(%zero, %later, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x2xf32>, tensor<5xi32>, tensor<2x5xf32>) -> tensor<3x2xf32>
  check.expect_eq_const %compiled, dense<[[1.0, 0.0], [2.0, 0.0], [1.0, 0.0]]> : tensor<3x2xf32>
  func.return
}
