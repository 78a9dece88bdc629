// A loop over rows in a loop, as a model decodes: each row is taken, a part of it is written, all of it is
// read, and it is stacked with the others.  The part begins at 4, which leaves no room for two: it goes to 3.
module @overwrite_rows {
  func.func public @main() {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %start = stablehlo.constant dense<4> : tensor<i32>
    %none = stablehlo.constant dense<0> : tensor<3x5xi32>
    %before = stablehlo.constant dense<[[0, 1, 2, 3, 4], [10, 11, 12, 13, 14], [20, 21, 22, 23, 24]]> : tensor<3x5xi32>
    %all:4 = stablehlo.while(%t = %zero, %rows = %before, %backward = %before, %sum = %zero) : tensor<i32>, tensor<3x5xi32>, tensor<3x5xi32>, tensor<i32>
    cond {
      %go = stablehlo.compare LT, %t, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %round:4 = stablehlo.while(%i = %zero, %stack = %none, %mirrored = %none, %s = %sum) : tensor<i32>, tensor<3x5xi32>, tensor<3x5xi32>, tensor<i32>
      cond {
        %go = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %taken = stablehlo.dynamic_slice %rows, %i, %zero, sizes = [1, 5] : (tensor<3x5xi32>, tensor<i32>, tensor<i32>) -> tensor<1x5xi32>
        %row = stablehlo.reshape %taken : (tensor<1x5xi32>) -> tensor<5xi32>
        %s2 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> tensor<2xi32>
        %next = stablehlo.dynamic_update_slice %row, %s2, %start : (tensor<5xi32>, tensor<2xi32>, tensor<i32>) -> tensor<5xi32>
        %rowsum = stablehlo.reduce(%next init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5xi32>, tensor<i32>) -> tensor<i32>
        %back = stablehlo.reshape %next : (tensor<5xi32>) -> tensor<1x5xi32>
        %stack1 = stablehlo.dynamic_update_slice %stack, %back, %i, %zero : (tensor<3x5xi32>, tensor<1x5xi32>, tensor<i32>, tensor<i32>) -> tensor<3x5xi32>
        // Row i goes where row 2 - i is read later: these two may not be one memory.
        %taken2 = stablehlo.dynamic_slice %backward, %i, %zero, sizes = [1, 5] : (tensor<3x5xi32>, tensor<i32>, tensor<i32>) -> tensor<1x5xi32>
        %last = stablehlo.subtract %two, %i : tensor<i32>
        %mirrored1 = stablehlo.dynamic_update_slice %mirrored, %taken2, %last, %zero : (tensor<3x5xi32>, tensor<1x5xi32>, tensor<i32>, tensor<i32>) -> tensor<3x5xi32>
        %i1 = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %i1, %stack1, %mirrored1, %rowsum : tensor<i32>, tensor<3x5xi32>, tensor<3x5xi32>, tensor<i32>
      }
      %t1 = stablehlo.add %t, %one : tensor<i32>
      stablehlo.return %t1, %round#1, %round#2, %round#3 : tensor<i32>, tensor<3x5xi32>, tensor<3x5xi32>, tensor<i32>
    }
    // First round: 0 + 1 + 2 + 0 + 0 = 3, 33 + 3 + 3 = 39, 63 + 39 + 39 = 141; second: 3 + 2 * 141 = 285,
    // 33 + 2 * 285 = 603, 63 + 2 * 603 = 1269.
    %rows1 = stablehlo.constant dense<[[0, 1, 2, 141, 141], [10, 11, 12, 285, 285], [20, 21, 22, 603, 603]]> : tensor<3x5xi32>
    check.expect_eq %all#1, %rows1 : tensor<3x5xi32>
    check.expect_eq %all#2, %before : tensor<3x5xi32>
    %sum1 = stablehlo.constant dense<1269> : tensor<i32>
    check.expect_eq %all#3, %sum1 : tensor<i32>
    return
  }
}
