// Few elements of what is computed element by element are computed for those alone: one or two of each row, whole
// rows, whole columns, where a part of it is the same along rows, along columns, everywhere, or chosen by a scalar.
// Indices that lie outside are cut off at the ends, as for an array that is there.
module @gather_computed {
  func.func public @main() {
    %n = stablehlo.iota dim = 0 : tensor<1280xf32>
    %m = stablehlo.reshape %n : (tensor<1280xf32>) -> tensor<32x40xf32>
    %x = stablehlo.optimization_barrier %m : tensor<32x40xf32>
    %r_ = stablehlo.iota dim = 0 : tensor<32x1xf32>
    %r = stablehlo.optimization_barrier %r_ : tensor<32x1xf32>
    %c_ = stablehlo.iota dim = 0 : tensor<40xf32>
    %c = stablehlo.optimization_barrier %c_ : tensor<40xf32>
    %t_ = stablehlo.constant dense<true> : tensor<i1>
    %t = stablehlo.optimization_barrier %t_ : tensor<i1>
    %rows = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x40xf32>
    %columns = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<40xf32>) -> tensor<32x40xf32>
    %two = stablehlo.constant dense<2.0> : tensor<32x40xf32>
    %x2 = stablehlo.multiply %x, %two : tensor<32x40xf32>
    %y = stablehlo.subtract %x2, %rows : tensor<32x40xf32>
    %z_ = stablehlo.add %y, %columns : tensor<32x40xf32>
    %z = stablehlo.select %t, %z_, %two : tensor<i1>, tensor<32x40xf32>
    %ya = stablehlo.optimization_barrier %y : tensor<32x40xf32>
    %za = stablehlo.optimization_barrier %z : tensor<32x40xf32>

    %i_ = stablehlo.iota dim = 0 : tensor<64xi32>
    %seven = stablehlo.constant dense<7> : tensor<64xi32>
    %i7 = stablehlo.multiply %i_, %seven : tensor<64xi32>
    %ten = stablehlo.constant dense<10> : tensor<64xi32>
    %i10 = stablehlo.subtract %i7, %ten : tensor<64xi32>
    %i64 = stablehlo.reshape %i10 : (tensor<64xi32>) -> tensor<32x2x1xi32>
    %i = stablehlo.optimization_barrier %i64 : tensor<32x2x1xi32>
    %k_ = stablehlo.constant dense<[[5], [31], [77]]> : tensor<3x1xi32>
    %k = stablehlo.optimization_barrier %k_ : tensor<3x1xi32>

    %a = "stablehlo.gather"(%y, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<32x40xf32>, tensor<32x2x1xi32>) -> tensor<32x2xf32>
    %b = "stablehlo.gather"(%ya, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<32x40xf32>, tensor<32x2x1xi32>) -> tensor<32x2xf32>
    check.expect_eq %a, %b : tensor<32x2xf32>
    %c0 = "stablehlo.gather"(%y, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 32, 1>}> : (tensor<32x40xf32>, tensor<3x1xi32>) -> tensor<32x3xf32>
    %c1 = "stablehlo.gather"(%ya, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 32, 1>}> : (tensor<32x40xf32>, tensor<3x1xi32>) -> tensor<32x3xf32>
    check.expect_eq %c0, %c1 : tensor<32x3xf32>

    // here the rows or the columns are chosen from
    %d0 = "stablehlo.gather"(%z, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 40>}> : (tensor<32x40xf32>, tensor<3x1xi32>) -> tensor<3x40xf32>
    %d1 = "stablehlo.gather"(%za, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 40>}> : (tensor<32x40xf32>, tensor<3x1xi32>) -> tensor<3x40xf32>
    check.expect_eq %d0, %d1 : tensor<3x40xf32>
    %p = stablehlo.add %x2, %columns : tensor<32x40xf32>
    %pa = stablehlo.optimization_barrier %p : tensor<32x40xf32>
    %q = stablehlo.select %t, %p, %two : tensor<i1>, tensor<32x40xf32>
    %e0 = "stablehlo.gather"(%q, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 40>}> : (tensor<32x40xf32>, tensor<3x1xi32>) -> tensor<3x40xf32>
    %e1 = "stablehlo.gather"(%pa, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 40>}> : (tensor<32x40xf32>, tensor<3x1xi32>) -> tensor<3x40xf32>
    check.expect_eq %e0, %e1 : tensor<3x40xf32>
    return
  }
}
