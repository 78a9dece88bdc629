// Updates of which there are none leave the array as it was, though there are places for them.
func.func @main() {
  %x = stablehlo.constant dense<[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]]> : tensor<2x3xf32>
  %places = stablehlo.constant dense<[[0], [1], [2], [0]]> : tensor<4x1xi32>
  %none = stablehlo.constant dense<> : tensor<0x4xf32>
  %later:3 = stablehlo.optimization_barrier %x, %places, %none : tensor<2x3xf32>, tensor<4x1xi32>, tensor<0x4xf32>
  %y = "stablehlo.scatter"(%later#0, %later#1, %later#2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<4x1xi32>, tensor<0x4xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %y, dense<[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]]> : tensor<2x3xf32>
  func.return
}
