// A state of three columns that a loop's body takes apart, stacks (along the first dimension, and then
// transposed), pads and adds up; the condition reads it whole.  Expected: by hand, in whole numbers.
module @split_columns {
  func.func public @main() {
    %start = stablehlo.constant dense<[[1, 0, 3], [2, 2, 2], [3, 4, 1], [4, 6, 0], [5, 8, -1]]> : tensor<5x3xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %p = %start) : tensor<i32>, tensor<5x3xi32>
    cond {
      %sum = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xi32>, tensor<i32>) -> tensor<i32>
      %none = stablehlo.subtract %sum, %sum : tensor<i32>
      %count = stablehlo.add %i, %none : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %go = stablehlo.compare LT, %count, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %x1 = stablehlo.slice %p [0:5, 0:1] : (tensor<5x3xi32>) -> tensor<5x1xi32>
      %y1 = stablehlo.slice %p [0:5, 1:2] : (tensor<5x3xi32>) -> tensor<5x1xi32>
      %z1 = stablehlo.slice %p [0:5, 2:3] : (tensor<5x3xi32>) -> tensor<5x1xi32>
      %x = stablehlo.reshape %x1 : (tensor<5x1xi32>) -> tensor<5xi32>
      %y = stablehlo.reshape %y1 : (tensor<5x1xi32>) -> tensor<5xi32>
      %z = stablehlo.reshape %z1 : (tensor<5x1xi32>) -> tensor<5xi32>
      %a = stablehlo.subtract %y, %x : tensor<5xi32>
      %b = stablehlo.multiply %x, %z : tensor<5xi32>
      %c = stablehlo.add %x, %y : tensor<5xi32>
      %a1 = stablehlo.reshape %a : (tensor<5xi32>) -> tensor<1x5xi32>
      %b1 = stablehlo.reshape %b : (tensor<5xi32>) -> tensor<1x5xi32>
      %c1 = stablehlo.reshape %c : (tensor<5xi32>) -> tensor<1x5xi32>
      %rows = stablehlo.concatenate %a1, %b1, %c1, dim = 0 : (tensor<1x5xi32>, tensor<1x5xi32>, tensor<1x5xi32>) -> tensor<3x5xi32>
      %two = stablehlo.constant dense<2> : tensor<3x5xi32>
      %twice = stablehlo.multiply %rows, %two : tensor<3x5xi32>
      %columns = stablehlo.transpose %twice, dims = [1, 0] : (tensor<3x5xi32>) -> tensor<5x3xi32>
      %q = stablehlo.add %p, %columns : tensor<5x3xi32>
      %w = stablehlo.slice %q [0:5, 0:1] : (tensor<5x3xi32>) -> tensor<5x1xi32>
      %wide = stablehlo.pad %w, %zero, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<5x1xi32>, tensor<i32>) -> tensor<5x3xi32>
      %next = stablehlo.add %q, %wide : tensor<5x3xi32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next : tensor<i32>, tensor<5x3xi32>
    }
    %expected = stablehlo.constant dense<[[1, 293, 47], [126, 1872, 230], [355, 3295, 485], [688, 3602, 812], [1125, 2601, 1211]]> : tensor<5x3xi32>
    stablehlo.custom_call @check.expect_eq(%r#1, %expected) {has_side_effect = true} : (tensor<5x3xi32>, tensor<5x3xi32>) -> ()
    return
  }
}
