// Windows that do not lie in the array, and arrays that have no elements.  What is expected is what
// XLA gives: a window that sticks out is dropped as a whole, and elements of nothing are zeros.
func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %starts = stablehlo.constant dense<[[-1], [2], [3], [4]]> : tensor<4x1xi32>
  %updates = stablehlo.constant dense<[[10, 20], [30, 40], [50, 60], [70, 80]]> : tensor<4x2xi32>
  %sums = "stablehlo.scatter"(%x, %starts, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    %c = stablehlo.add %l, %r : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<4xi32>, tensor<4x1xi32>, tensor<4x2xi32>) -> tensor<4xi32>
  check.expect_eq_const %sums, dense<[1, 2, 33, 44]> : tensor<4xi32>

  // Updates of an array of no rows: their place among the columns is right, and there is no row.
  %none = stablehlo.slice %updates [0:0, 0:2] : (tensor<4x2xi32>) -> tensor<0x2xi32>
  %columns = stablehlo.constant dense<[[0], [1]]> : tensor<2x1xi32>
  %two = stablehlo.constant dense<[5, 6]> : tensor<2xi32>
  %still_none = "stablehlo.scatter"(%none, %columns, %two) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    %c = stablehlo.add %l, %r : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<0x2xi32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<0x2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %sum = stablehlo.reduce(%still_none init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<0x2xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %sum, dense<0> : tensor<i32>

  %rows = "stablehlo.gather"(%none, %columns) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 0, 2>}> : (tensor<0x2xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %rows, dense<0> : tensor<2x2xi32>
  func.return
}
