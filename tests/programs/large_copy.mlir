// Arrays of which a little is changed, while the whole is needed unchanged too: so they are copied first, in
// pieces that workers share, the last one shorter and no multiple of a vector.
module @large_copy {
  func.func public @main() {
    %start0 = stablehlo.constant dense<262143> : tensor<i32>
    %i = stablehlo.iota dim = 0 : tensor<400007xi32>
    %three = stablehlo.constant dense<3> : tensor<400007xi32>
    %x0 = stablehlo.multiply %i, %three : tensor<400007xi32>
    %x, %start = stablehlo.optimization_barrier %x0, %start0 : tensor<400007xi32>, tensor<i32>
    %some = stablehlo.constant dense<[-1, -2, -3]> : tensor<3xi32>
    %r = stablehlo.dynamic_update_slice %x, %some, %start : (tensor<400007xi32>, tensor<3xi32>, tensor<i32>) -> tensor<400007xi32>
    %from = stablehlo.broadcast_in_dim %start, dims = [] : (tensor<i32>) -> tensor<400007xi32>
    %d = stablehlo.subtract %i, %from : tensor<400007xi32>
    %zero = stablehlo.constant dense<0> : tensor<400007xi32>
    %low = stablehlo.compare GE, %d, %zero : (tensor<400007xi32>, tensor<400007xi32>) -> tensor<400007xi1>
    %high = stablehlo.compare LT, %d, %three : (tensor<400007xi32>, tensor<400007xi32>) -> tensor<400007xi1>
    %inside = stablehlo.and %low, %high : tensor<400007xi1>
    %no = stablehlo.not %d : tensor<400007xi32>
    %want = stablehlo.select %inside, %no, %x0 : tensor<400007xi1>, tensor<400007xi32>
    stablehlo.custom_call @check.expect_eq(%r, %want) {has_side_effect = true} : (tensor<400007xi32>, tensor<400007xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%x, %x0) {has_side_effect = true} : (tensor<400007xi32>, tensor<400007xi32>) -> ()

    %at0 = stablehlo.constant dense<570> : tensor<1xi32>
    %row = stablehlo.iota dim = 0 : tensor<571x701xi32>
    %column = stablehlo.iota dim = 1 : tensor<571x701xi32>
    %y0 = stablehlo.subtract %row, %column : tensor<571x701xi32>
    %y, %at = stablehlo.optimization_barrier %y0, %at0 : tensor<571x701xi32>, tensor<1xi32>
    %new = stablehlo.iota dim = 0 : tensor<701xi32>
    %s = "stablehlo.scatter"(%y, %at, %new) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, indices_are_sorted = true, unique_indices = true}> ({
    ^bb0(%old: tensor<i32>, %update: tensor<i32>):
      stablehlo.return %update : tensor<i32>
    }) : (tensor<571x701xi32>, tensor<1xi32>, tensor<701xi32>) -> tensor<571x701xi32>
    %place = stablehlo.reshape %at : (tensor<1xi32>) -> tensor<i32>
    %where = stablehlo.broadcast_in_dim %place, dims = [] : (tensor<i32>) -> tensor<571x701xi32>
    %is_new = stablehlo.compare EQ, %row, %where : (tensor<571x701xi32>, tensor<571x701xi32>) -> tensor<571x701xi1>
    %wanted = stablehlo.select %is_new, %column, %y0 : tensor<571x701xi1>, tensor<571x701xi32>
    stablehlo.custom_call @check.expect_eq(%s, %wanted) {has_side_effect = true} : (tensor<571x701xi32>, tensor<571x701xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%y, %y0) {has_side_effect = true} : (tensor<571x701xi32>, tensor<571x701xi32>) -> ()
    return
  }
}
