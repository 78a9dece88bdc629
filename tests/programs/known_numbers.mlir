// Gathers by numbers of which the program knows that they count, or that few arrays are chosen from, against the same
// by numbers that it does not know.
module @known_numbers {
  func.func public @main() {
    %count = stablehlo.iota dim = 0 : tensor<40xi32>
    %hidden = stablehlo.optimization_barrier %count : tensor<40xi32>
    %three = stablehlo.constant dense<3> : tensor<40xi32>
    %two = stablehlo.constant dense<2> : tensor<40xi32>
    %seven = stablehlo.constant dense<7> : tensor<40xi32>
    %m = stablehlo.multiply %hidden, %three : tensor<40xi32>
    %r = stablehlo.remainder %m, %seven : tensor<40xi32>
    // -2 .. 4, of which 0 .. 2 are there
    %i = stablehlo.subtract %r, %two : tensor<40xi32>
    %f = stablehlo.convert %hidden : (tensor<40xi32>) -> tensor<40xf32>
    %a = stablehlo.sine %f : tensor<40xf32>
    %b = stablehlo.cosine %f : tensor<40xf32>
    %c = stablehlo.tanh %f : tensor<40xf32>
    %a1 = stablehlo.reshape %a : (tensor<40xf32>) -> tensor<1x40xf32>
    %b1 = stablehlo.reshape %b : (tensor<40xf32>) -> tensor<1x40xf32>
    %c1 = stablehlo.reshape %c : (tensor<40xf32>) -> tensor<1x40xf32>
    %x = stablehlo.concatenate %a1, %b1, %c1, dim = 0 : (tensor<1x40xf32>, tensor<1x40xf32>, tensor<1x40xf32>) -> tensor<3x40xf32>
    %y = stablehlo.optimization_barrier %x : tensor<3x40xf32>
    %i1 = stablehlo.reshape %i : (tensor<40xi32>) -> tensor<40x1xi32>
    %k1 = stablehlo.reshape %count : (tensor<40xi32>) -> tensor<40x1xi32>
    %h1 = stablehlo.reshape %hidden : (tensor<40xi32>) -> tensor<40x1xi32>
    %known = stablehlo.concatenate %i1, %k1, dim = 1 : (tensor<40x1xi32>, tensor<40x1xi32>) -> tensor<40x2xi32>
    %not = stablehlo.concatenate %i1, %h1, dim = 1 : (tensor<40x1xi32>, tensor<40x1xi32>) -> tensor<40x2xi32>
    %chosen = "stablehlo.gather"(%x, %known) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x40xf32>, tensor<40x2xi32>) -> tensor<40xf32>
    %own = "stablehlo.gather"(%y, %known) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x40xf32>, tensor<40x2xi32>) -> tensor<40xf32>
    %want = "stablehlo.gather"(%y, %not) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x40xf32>, tensor<40x2xi32>) -> tensor<40xf32>
    check.expect_eq %chosen, %want : tensor<40xf32>
    check.expect_eq %own, %want : tensor<40xf32>
    // the numbers that count are of the other dimension of the indices, and a window is left: z[j, :, i]
    %z0 = stablehlo.iota dim = 0 : tensor<240xi32>
    %z1 = stablehlo.reshape %z0 : (tensor<240xi32>) -> tensor<8x6x5xi32>
    %z = stablehlo.optimization_barrier %z1 : tensor<8x6x5xi32>
    %j0 = stablehlo.iota dim = 1 : tensor<3x8x1xi32>
    %jh = stablehlo.optimization_barrier %j0 : tensor<3x8x1xi32>
    %p = stablehlo.slice %i [0:24] : (tensor<40xi32>) -> tensor<24xi32>
    %q = stablehlo.reshape %p : (tensor<24xi32>) -> tensor<3x8x1xi32>
    %zk = stablehlo.concatenate %j0, %q, dim = 2 : (tensor<3x8x1xi32>, tensor<3x8x1xi32>) -> tensor<3x8x2xi32>
    %zn = stablehlo.concatenate %jh, %q, dim = 2 : (tensor<3x8x1xi32>, tensor<3x8x1xi32>) -> tensor<3x8x2xi32>
    %g = "stablehlo.gather"(%z, %zk) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 2], start_index_map = [0, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 6, 1>}> : (tensor<8x6x5xi32>, tensor<3x8x2xi32>) -> tensor<3x6x8xi32>
    %w = "stablehlo.gather"(%z, %zn) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 2], start_index_map = [0, 2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 6, 1>}> : (tensor<8x6x5xi32>, tensor<3x8x2xi32>) -> tensor<3x6x8xi32>
    check.expect_eq %g, %w : tensor<3x6x8xi32>
    // below zero or not
    %zero = stablehlo.constant dense<0> : tensor<40xi32>
    %cut = stablehlo.maximum %i, %zero : tensor<40xi32>
    %less = stablehlo.minimum %i, %three : tensor<40xi32>
    %n0 = stablehlo.compare LT, %cut, %zero, SIGNED : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi1>
    %n1 = stablehlo.compare LT, %less, %zero, SIGNED : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi1>
    %n2 = stablehlo.compare LT, %i, %zero, SIGNED : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi1>
    check.expect_eq_const %n0, dense<false> : tensor<40xi1>
    check.expect_eq %n1, %n2 : tensor<40xi1>
    return
  }
}
