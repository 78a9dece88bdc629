// A part of a row is written where numbers of 8 bits say, which do not reach the row's end: they are cut off at 0
// and at nothing else.
module @overwrite_rows_narrow {
  func.func public @main() {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %first = stablehlo.constant dense<0> : tensor<i8>
    %numbers = stablehlo.constant dense<7> : tensor<3xi32>
    %start0 = stablehlo.constant dense<120> : tensor<i8>
    %start = stablehlo.optimization_barrier %start0 : tensor<i8>
    %none = stablehlo.constant dense<0> : tensor<2x200xi32>
    %before = stablehlo.optimization_barrier %none : tensor<2x200xi32>
    %all:2 = stablehlo.while(%i = %zero, %rows = %before) : tensor<i32>, tensor<2x200xi32>
    cond {
      %go = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %n = stablehlo.convert %i : (tensor<i32>) -> tensor<i8>
      %taken = stablehlo.dynamic_slice %rows, %n, %first, sizes = [1, 200] : (tensor<2x200xi32>, tensor<i8>, tensor<i8>) -> tensor<1x200xi32>
      %row = stablehlo.reshape %taken : (tensor<1x200xi32>) -> tensor<200xi32>
      %next = stablehlo.dynamic_update_slice %row, %numbers, %start : (tensor<200xi32>, tensor<3xi32>, tensor<i8>) -> tensor<200xi32>
      %back = stablehlo.reshape %next : (tensor<200xi32>) -> tensor<1x200xi32>
      %rows1 = stablehlo.dynamic_update_slice %rows, %back, %n, %first : (tensor<2x200xi32>, tensor<1x200xi32>, tensor<i8>, tensor<i8>) -> tensor<2x200xi32>
      %i1 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %i1, %rows1 : tensor<i32>, tensor<2x200xi32>
    }
    %sevens = stablehlo.constant dense<7> : tensor<2x3xi32>
    %written = stablehlo.slice %all#1 [0:2, 120:123] : (tensor<2x200xi32>) -> tensor<2x3xi32>
    check.expect_eq %written, %sevens : tensor<2x3xi32>
    return
  }
}
