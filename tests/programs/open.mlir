// Operations that take extents as values, in functions that leave them open; main's arrays say
// what they are.
module {
  func.func @main() {
    %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %padded = func.call @pad(%x) : (tensor<2x3xf32>) -> tensor<?x?xf32>
    %p = stablehlo.constant dense<[[9.0, 9.0, 9.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<3x3xf32>
    %same = func.call @close(%padded) : (tensor<?x?xf32>) -> tensor<3x3xf32>
    stablehlo.custom_call @check.expect_eq(%same, %p) {has_side_effect = true} : (tensor<3x3xf32>, tensor<3x3xf32>) -> ()
    %one = stablehlo.constant dense<1> : tensor<i32>
    %row = func.call @row(%x, %one) : (tensor<2x3xf32>, tensor<i32>) -> tensor<1x?xf32>
    %two = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
    %got = stablehlo.dynamic_reshape %row, %two : (tensor<1x?xf32>, tensor<2xi32>) -> tensor<1x3xf32>
    %want = stablehlo.constant dense<[[4.0, 5.0, 6.0]]> : tensor<1x3xf32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x3xf32>, tensor<1x3xf32>) -> ()
    %count = func.call @count(%x) : (tensor<2x3xf32>) -> tensor<i32>
    %six = stablehlo.constant dense<6> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%count, %six) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %sums = func.call @sums(%x) : (tensor<2x3xf32>) -> tensor<2x?xf32>
    %pairs = stablehlo.constant dense<[[3.0, 5.0], [9.0, 11.0]]> : tensor<2x2xf32>
    %shape = stablehlo.constant dense<2> : tensor<2xi32>
    %closed = stablehlo.dynamic_reshape %sums, %shape : (tensor<2x?xf32>, tensor<2xi32>) -> tensor<2x2xf32>
    stablehlo.custom_call @check.expect_eq(%closed, %pairs) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    %taken = func.call @columns(%x) : (tensor<2x3xf32>) -> tensor<?x2xf32>
    %columns = stablehlo.constant dense<[[3.0, 1.0], [6.0, 4.0]]> : tensor<2x2xf32>
    %square = stablehlo.dynamic_reshape %taken, %shape : (tensor<?x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
    stablehlo.custom_call @check.expect_eq(%square, %columns) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    return
  }
  // As many rows more as there are rows, less one.
  func.func private @pad(%x: tensor<?x3xf32>) -> tensor<?x?xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %m = stablehlo.subtract %n, %c : tensor<i32>
    %l = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
    %z = stablehlo.constant dense<0> : tensor<1xi32>
    %low = stablehlo.concatenate %l, %z, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %none = stablehlo.constant dense<0> : tensor<2xi32>
    %v = stablehlo.constant dense<9.0> : tensor<f32>
    %y = stablehlo.dynamic_pad %x, %v, %low, %none, %none : (tensor<?x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  }
  func.func private @close(%x: tensor<?x?xf32>) -> tensor<3x3xf32> {
    %s = stablehlo.constant dense<3> : tensor<2xi64>
    %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<3x3xf32>
    return %y : tensor<3x3xf32>
  }
  // Where the slice starts is data, how large it is is not.
  func.func private @row(%x: tensor<?x?xf32>, %i: tensor<i32>) -> tensor<1x?xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %a = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %b = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %z = stablehlo.constant dense<0> : tensor<1xi32>
    %o = stablehlo.constant dense<1> : tensor<1xi32>
    %from = stablehlo.concatenate %a, %z, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %size = stablehlo.concatenate %o, %b, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %to = stablehlo.add %from, %size : tensor<2xi32>
    %steps = stablehlo.constant dense<1> : tensor<2xi32>
    %y = stablehlo.real_dynamic_slice %x, %from, %to, %steps : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x?xf32>
    return %y : tensor<1x?xf32>
  }
  // A loop that carries an array of open extents and one that it hands round unchanged.
  func.func private @count(%x: tensor<?x?xf32>) -> tensor<i32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %r:4 = stablehlo.while(%i = %z, %k = %n, %s = %z, %y = %x) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>
    cond {
      %p = stablehlo.compare LT, %i, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %c : tensor<i32>
      %l = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
      %t = stablehlo.dynamic_iota %l, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
      %m = stablehlo.get_dimension_size %y, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
      %u = stablehlo.add %s, %m : tensor<i32>
      %w = stablehlo.negate %y : tensor<?x?xf32>
      stablehlo.return %j, %k, %u, %w : tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>
    }
    return %r#2 : tensor<i32>
  }
  // Windows of two along the second dimension.
  func.func private @sums(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %w = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %one = stablehlo.constant dense<1> : tensor<2xi32>
    %pad = stablehlo.constant dense<0> : tensor<2x2xi32>
    %y = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %w, %one, %one, %one, %pad) {api_version = 2 : i32, called_computations = [@plus]} : (tensor<2x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<2x?xf32>
    return %y : tensor<2x?xf32>
  }
  func.func private @plus(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %c = stablehlo.add %a, %b : tensor<f32>
    return %c : tensor<f32>
  }
  // The last column and the first.
  func.func private @columns(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %l = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %o = stablehlo.constant dense<1> : tensor<1xi32>
    %size = stablehlo.concatenate %l, %o, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %which = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>
    %y = "stablehlo.dynamic_gather"(%x, %which, %size) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<?x3xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<?x2xf32>
    return %y : tensor<?x2xf32>
  }
}
