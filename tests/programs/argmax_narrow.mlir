// Where the largest and the smallest stand, of numbers of 16 bits and of truth values: the first of equals, or of NaN.
module @argmax_narrow {
  func.func public @main() {
    %none = stablehlo.constant dense<0> : tensor<i32>
    %f1 = stablehlo.constant dense<[[4.0, 4.0, 6.0, 8.0, 0.0, 1.0, 7.0, 8.0, 2.0, 2.0, 7.0, 3.0, 2.0, 7.0, 2.0, 3.0, 5.0, 4.0, 0.0, 0.0, 7.0, 6.0, 7.0, 4.0, 7.0, 2.0, 4.0, 7.0, 1.0, 2.0, 1.0, 4.0, 8.0, 1.0, 3.0, 3.0, 8.0], [1.0, 4.0, 2.0, 0.0, 6.0, 0.0, 2.0, 4.0, 4.0, 1.0, 8.0, 6.0, 8.0, 0.0, 6.0, 2.0, 4.0, 8.0, 2.0, 6.0, 1.0, 2.0, 8.0, 3.0, 4.0, 2.0, 1.0, 3.0, 5.0, 4.0, 6.0, 3.0, 5.0, 6.0, 8.0, 3.0, 0.0], [6.0, 4.0, 7.0, 4.0, 3.0, 0.0, 4.0, 5.0, 6.0, 7.0, 1.0, 5.0, 7.0, 2.0, 3.0, 7.0, 5.0, 4.0, 6.0, 4.0, 8.0, 6.0, 0.0, 1.0, 4.0, 7.0, 0.0, 6.0, 6.0, 7.0, 7.0, 1.0, 4.0, 7.0, 3.0, 1.0, 4.0], [0.0, 1.0, 7.0, 6.0, 7.0, 7.0, 7.0, 2.0, 4.0, 5.0, 2.0, 8.0, 0.0, 7.0, 5.0, 2.0, 6.0, 3.0, 7.0, 8.0, 2.0, 4.0, 1.0, 6.0, 5.0, 7.0, 7.0, 8.0, 8.0, 8.0, 1.0, 0.0, 4.0, 3.0, 8.0, 7.0, 3.0], [5.0, 5.0, 8.0, 0.0, 4.0, 6.0, 4.0, 8.0, 8.0, 7.0, 4.0, 7.0, 0.0, 5.0, 2.0, 2.0, 6.0, 6.0, 7.0, 1.0, 7.0, 7.0, 2.0, 0.0, 6.0, 7.0, 4.0, 1.0, 1.0, 3.0, 6.0, 2.0, 0.0, 6.0, 6.0, 1.0, 5.0], [3.0, 4.0, 0.0, 5.0, 2.0, 4.0, 3.0, 5.0, 0.0, 3.0, 5.0, 6.0, 3.0, 0.0, 6.0, 4.0, 5.0, 1.0, 3.0, 7.0, -1.0, 2.0, 5.0, 0.0, 7.0, 2.0, 3.0, 8.0, 4.0, 7.0, -1.0, 6.0, 8.0, 0.0, 2.0, 1.0, 2.0], [2.0, 0.0, 8.0, 2.0, 8.0, 6.0, 1.0, 6.0, 6.0, 1.0, 1.0, 3.0, 0.0, 3.0, 4.0, 5.0, 5.0, 4.0, 1.0, 5.0, 4.0, 7.0, 6.0, 6.0, 5.0, 3.0, 2.0, 4.0, 5.0, 3.0, 1.0, 0.0, 0.0, 1.0, 3.0, 2.0, 1.0], [2.0, 6.0, 2.0, 8.0, 5.0, 1.0, 8.0, 7.0, 6.0, 1.0, 7.0, 6.0, 6.0, 6.0, 5.0, 3.0, 8.0, 8.0, 6.0, 3.0, -1.0, 5.0, 0.0, 0.0, 4.0, 5.0, 1.0, 2.0, 1.0, 8.0, 4.0, 2.0, 7.0, 8.0, 2.0, 8.0, 6.0], [7.0, 4.0, 8.0, 1.0, 0.0, 8.0, 4.0, 3.0, 6.0, 2.0, 5.0, 7.0, 7.0, 1.0, 8.0, 6.0, 6.0, 1.0, 8.0, 3.0, 8.0, 2.0, 0.0, 7.0, 5.0, 3.0, 8.0, 8.0, 0.0, 5.0, 7.0, 6.0, 5.0, 4.0, 4.0, 2.0, 1.0]]> : tensor<9x37xbf16>
    %s1 = stablehlo.sqrt %f1 : tensor<9x37xbf16>
    %c1 = stablehlo.multiply %s1, %s1 : tensor<9x37xbf16>
    %x1 = stablehlo.optimization_barrier %c1 : tensor<9x37xbf16>
    %n1 = stablehlo.iota dim = 0 : tensor<9x37xi32>
    %b1 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %r1:2 = stablehlo.reduce(%x1 init: %b1), (%n1 init: %none) across dimensions = [0] : (tensor<9x37xbf16>, tensor<9x37xi32>, tensor<bf16>, tensor<i32>) -> (tensor<37xbf16>, tensor<37xi32>)
     reducer(%v: tensor<bf16>, %w: tensor<bf16>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare GT, %v, %w, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %1 = stablehlo.compare NE, %v, %v, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %v, %w : tensor<i1>, tensor<bf16>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<bf16>, tensor<i32>
    }
    check.expect_eq_const %r1#1, dense<[8, 7, 4, 0, 6, 8, 7, 0, 4, 2, 1, 3, 1, 0, 8, 2, 7, 1, 8, 3, 5, 4, 1, 8, 0, 2, 8, 3, 3, 3, 5, 5, 0, 7, 1, 7, 0]> : tensor<37xi32>
    %f2 = stablehlo.constant dense<[[3.0, 6.0, 8.0, 8.0, 1.0, 0.0, 8.0, 6.0, 6.0, 7.0, 3.0, 7.0, 5.0, 5.0, 3.0, 3.0, 3.0, 6.0, 4.0, 0.0, 0.0, 1.0, 4.0, 5.0, 8.0, 7.0, 2.0, 4.0, 6.0, 7.0, 3.0, 6.0, 1.0, 4.0, 8.0, 3.0, 0.0], [7.0, 2.0, 3.0, 8.0, 3.0, 2.0, 2.0, 7.0, 1.0, 5.0, 2.0, 7.0, 6.0, 5.0, 3.0, 3.0, 8.0, 6.0, 3.0, 0.0, 1.0, 4.0, 4.0, 3.0, 8.0, 4.0, 7.0, 1.0, 3.0, 2.0, 1.0, 5.0, 1.0, 3.0, 6.0, 7.0, 5.0], [5.0, 2.0, 7.0, 1.0, 6.0, 0.0, 5.0, 2.0, 2.0, 3.0, 7.0, 7.0, 2.0, 4.0, 0.0, 8.0, 8.0, 3.0, 4.0, 4.0, 6.0, 0.0, 4.0, 7.0, 5.0, 5.0, 0.0, 8.0, 1.0, 3.0, 6.0, 4.0, 5.0, 5.0, 1.0, 0.0, 8.0], [7.0, 1.0, 6.0, 4.0, 6.0, 1.0, 6.0, 6.0, 8.0, 2.0, 3.0, 1.0, 0.0, 0.0, 4.0, 1.0, 6.0, 1.0, 5.0, 4.0, 2.0, 4.0, 8.0, 8.0, 2.0, 8.0, 1.0, 7.0, 3.0, 6.0, 5.0, 7.0, 3.0, 8.0, 7.0, 0.0, 0.0], [1.0, 5.0, 3.0, 1.0, 0.0, 8.0, 5.0, 0.0, 2.0, 5.0, 2.0, 6.0, 2.0, 5.0, 0.0, 7.0, 6.0, 4.0, 5.0, 0.0, 5.0, 4.0, 0.0, 0.0, 3.0, 6.0, 6.0, 1.0, 1.0, 2.0, 3.0, 1.0, 0.0, 3.0, 0.0, 1.0, 1.0], [3.0, 3.0, 0.0, 4.0, 8.0, 7.0, 1.0, 2.0, 5.0, 0.0, 5.0, 7.0, 7.0, 0.0, 2.0, 0.0, 4.0, 8.0, 7.0, 6.0, -1.0, 3.0, 8.0, 1.0, 1.0, 3.0, 4.0, 3.0, 4.0, 7.0, -1.0, 3.0, 5.0, 0.0, 8.0, 8.0, 0.0], [5.0, 8.0, 1.0, 1.0, 1.0, 8.0, 4.0, 8.0, 0.0, 6.0, 5.0, 4.0, 5.0, 1.0, 0.0, 5.0, 7.0, 8.0, 7.0, 4.0, 8.0, 0.0, 6.0, 4.0, 6.0, 7.0, 1.0, 7.0, 0.0, 4.0, 0.0, 2.0, 8.0, 3.0, 5.0, 8.0, 8.0], [0.0, 3.0, 8.0, 6.0, 3.0, 0.0, 5.0, 1.0, 8.0, 2.0, 4.0, 4.0, 4.0, 5.0, 7.0, 4.0, 3.0, 3.0, 7.0, 5.0, -1.0, 8.0, 2.0, 4.0, 8.0, 7.0, 5.0, 0.0, 5.0, 3.0, 8.0, 5.0, 5.0, 5.0, 3.0, 2.0, 4.0], [3.0, 7.0, 8.0, 4.0, 5.0, 1.0, 5.0, 1.0, 0.0, 1.0, 0.0, 7.0, 1.0, 8.0, 1.0, 6.0, 8.0, 0.0, 0.0, 2.0, 3.0, 4.0, 0.0, 0.0, 5.0, 0.0, 0.0, 3.0, 0.0, 1.0, 0.0, 4.0, 2.0, 7.0, 5.0, 2.0, 7.0]]> : tensor<9x37xbf16>
    %s2 = stablehlo.sqrt %f2 : tensor<9x37xbf16>
    %c2 = stablehlo.multiply %s2, %s2 : tensor<9x37xbf16>
    %x2 = stablehlo.optimization_barrier %c2 : tensor<9x37xbf16>
    %n2 = stablehlo.iota dim = 1 : tensor<9x37xi32>
    %b2 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %r2:2 = stablehlo.reduce(%x2 init: %b2), (%n2 init: %none) across dimensions = [1] : (tensor<9x37xbf16>, tensor<9x37xi32>, tensor<bf16>, tensor<i32>) -> (tensor<9xbf16>, tensor<9xi32>)
     reducer(%v: tensor<bf16>, %w: tensor<bf16>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare GT, %v, %w, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %1 = stablehlo.compare NE, %v, %v, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %v, %w : tensor<i1>, tensor<bf16>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<bf16>, tensor<i32>
    }
    check.expect_eq_const %r2#1, dense<[2, 3, 15, 8, 5, 20, 1, 20, 2]> : tensor<9xi32>
    %f3 = stablehlo.constant dense<[[1.0, 2.0, 1.0, 2.0, 3.0, 7.0, 3.0, 6.0, 7.0, 1.0, 6.0, 7.0, 3.0, 7.0, 7.0, 1.0, 1.0, 5.0, 3.0, 1.0, 8.0, 2.0, 1.0, 4.0, 3.0, 4.0, 2.0, 4.0, 4.0, 4.0, 8.0, 1.0, 3.0, 7.0, 8.0, 2.0, 8.0], [8.0, 2.0, 4.0, 6.0, 2.0, 1.0, 1.0, 4.0, 4.0, 6.0, 3.0, 4.0, 5.0, 6.0, 4.0, 1.0, 0.0, 4.0, 7.0, 5.0, 0.0, 0.0, 7.0, 2.0, 7.0, 1.0, 8.0, 1.0, 5.0, 4.0, 1.0, 3.0, 3.0, 2.0, 3.0, 1.0, 5.0], [8.0, 3.0, 4.0, 6.0, 8.0, 1.0, 1.0, 3.0, 8.0, 4.0, 0.0, 3.0, 8.0, 1.0, 2.0, 8.0, 0.0, 6.0, 4.0, 7.0, 8.0, 3.0, 2.0, 8.0, 5.0, 7.0, 0.0, 8.0, 3.0, 1.0, 5.0, 4.0, 6.0, 3.0, 2.0, 5.0, 8.0], [2.0, 5.0, 0.0, 1.0, 4.0, 0.0, 5.0, 5.0, 3.0, 6.0, 8.0, 8.0, 3.0, 5.0, 2.0, 0.0, 7.0, 3.0, 4.0, 3.0, 2.0, 6.0, 2.0, 0.0, 8.0, 6.0, 8.0, 7.0, 5.0, 8.0, 2.0, 1.0, 6.0, 6.0, 1.0, 8.0, 2.0], [8.0, 4.0, 1.0, 3.0, 1.0, 3.0, 4.0, 8.0, 8.0, 1.0, 6.0, 5.0, 3.0, 0.0, 4.0, 0.0, 7.0, 1.0, 6.0, 8.0, 4.0, 6.0, 3.0, 7.0, 6.0, 0.0, 3.0, 6.0, 4.0, 3.0, 4.0, 3.0, 4.0, 6.0, 2.0, 2.0, 4.0], [4.0, 4.0, 2.0, 6.0, 3.0, 5.0, 4.0, 7.0, 1.0, 1.0, 2.0, 8.0, 3.0, 0.0, 4.0, 2.0, 7.0, 0.0, 5.0, 0.0, -1.0, 7.0, 7.0, 1.0, 1.0, 1.0, 0.0, 0.0, 3.0, 4.0, -1.0, 7.0, 5.0, 7.0, 5.0, 4.0, 1.0], [3.0, 6.0, 2.0, 5.0, 5.0, 3.0, 8.0, 8.0, 5.0, 7.0, 7.0, 1.0, 2.0, 1.0, 1.0, 8.0, 3.0, 1.0, 2.0, 6.0, 3.0, 2.0, 5.0, 3.0, 3.0, 4.0, 3.0, 8.0, 6.0, 0.0, 7.0, 1.0, 4.0, 6.0, 2.0, 3.0, 8.0], [2.0, 1.0, 8.0, 3.0, 2.0, 8.0, 6.0, 6.0, 8.0, 0.0, 6.0, 5.0, 6.0, 5.0, 6.0, 6.0, 7.0, 3.0, 2.0, 4.0, -1.0, 3.0, 7.0, 6.0, 7.0, 5.0, 8.0, 3.0, 8.0, 6.0, 0.0, 2.0, 3.0, 6.0, 4.0, 3.0, 8.0], [8.0, 3.0, 2.0, 2.0, 2.0, 0.0, 5.0, 2.0, 5.0, 7.0, 2.0, 0.0, 5.0, 1.0, 5.0, 2.0, 7.0, 4.0, 6.0, 3.0, 3.0, 7.0, 5.0, 1.0, 0.0, 5.0, 7.0, 7.0, 0.0, 8.0, 6.0, 7.0, 8.0, 1.0, 0.0, 7.0, 8.0]]> : tensor<9x37xbf16>
    %s3 = stablehlo.sqrt %f3 : tensor<9x37xbf16>
    %c3 = stablehlo.multiply %s3, %s3 : tensor<9x37xbf16>
    %x3 = stablehlo.optimization_barrier %c3 : tensor<9x37xbf16>
    %n3 = stablehlo.iota dim = 0 : tensor<9x37xi32>
    %b3 = stablehlo.constant dense<0x7F80> : tensor<bf16>
    %r3:2 = stablehlo.reduce(%x3 init: %b3), (%n3 init: %none) across dimensions = [0] : (tensor<9x37xbf16>, tensor<9x37xi32>, tensor<bf16>, tensor<i32>) -> (tensor<37xbf16>, tensor<37xi32>)
     reducer(%v: tensor<bf16>, %w: tensor<bf16>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare LT, %v, %w, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %1 = stablehlo.compare NE, %v, %v, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %v, %w : tensor<i1>, tensor<bf16>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<bf16>, tensor<i32>
    }
    check.expect_eq_const %r3#1, dense<[0, 7, 3, 3, 4, 3, 1, 8, 5, 7, 2, 8, 6, 4, 6, 3, 1, 5, 6, 5, 5, 1, 0, 3, 8, 4, 2, 5, 8, 6, 5, 0, 0, 8, 8, 1, 5]> : tensor<37xi32>
    %f4 = stablehlo.constant dense<[[6.0, 7.0, 3.0, 8.0, 0.0, 0.0, 1.0, 2.0, 6.0, 2.0, 0.0, 8.0, 2.0, 8.0, 2.0, 6.0, 6.0, 5.0, 3.0, 5.0, 0.0, 3.0, 3.0, 7.0, 2.0, 1.0, 6.0, 4.0, 2.0, 7.0, 6.0, 2.0, 4.0, 8.0, 7.0, 7.0, 6.0], [5.0, 3.0, 1.0, 4.0, 3.0, 4.0, 1.0, 7.0, 1.0, 1.0, 3.0, 3.0, 1.0, 4.0, 2.0, 3.0, 1.0, 5.0, 5.0, 4.0, 2.0, 3.0, 7.0, 6.0, 0.0, 2.0, 5.0, 5.0, 0.0, 6.0, 0.0, 1.0, 6.0, 2.0, 6.0, 8.0, 2.0], [8.0, 5.0, 8.0, 7.0, 0.0, 3.0, 7.0, 7.0, 8.0, 7.0, 8.0, 0.0, 6.0, 2.0, 6.0, 7.0, 6.0, 7.0, 5.0, 3.0, 7.0, 1.0, 4.0, 8.0, 2.0, 6.0, 0.0, 8.0, 8.0, 5.0, 6.0, 5.0, 1.0, 3.0, 7.0, 2.0, 2.0], [6.0, 5.0, 3.0, 3.0, 7.0, 1.0, 3.0, 1.0, 2.0, 0.0, 2.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0, 7.0, 6.0, 4.0, 3.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 0.0, 1.0, 0.0, 3.0, 5.0, 7.0, 3.0, 3.0, 8.0], [4.0, 3.0, 8.0, 5.0, 2.0, 7.0, 6.0, 1.0, 4.0, 4.0, 7.0, 3.0, 3.0, 5.0, 4.0, 5.0, 3.0, 1.0, 7.0, 7.0, 8.0, 0.0, 5.0, 2.0, 8.0, 5.0, 6.0, 5.0, 7.0, 1.0, 8.0, 3.0, 2.0, 3.0, 8.0, 1.0, 3.0], [7.0, 4.0, 1.0, 1.0, 8.0, 7.0, 6.0, 3.0, 0.0, 6.0, 7.0, 1.0, 0.0, 3.0, 2.0, 3.0, 3.0, 2.0, 8.0, 0.0, -1.0, 6.0, 3.0, 8.0, 8.0, 2.0, 1.0, 1.0, 0.0, 3.0, -1.0, 0.0, 4.0, 5.0, 7.0, 3.0, 2.0], [5.0, 4.0, 8.0, 4.0, 7.0, 0.0, 8.0, 3.0, 8.0, 1.0, 5.0, 4.0, 4.0, 2.0, 0.0, 1.0, 0.0, 5.0, 4.0, 3.0, 7.0, 3.0, 3.0, 0.0, 0.0, 8.0, 1.0, 1.0, 6.0, 7.0, 1.0, 4.0, 1.0, 5.0, 2.0, 2.0, 5.0], [8.0, 7.0, 0.0, 1.0, 8.0, 5.0, 2.0, 4.0, 8.0, 4.0, 0.0, 5.0, 7.0, 7.0, 6.0, 1.0, 4.0, 4.0, 6.0, 0.0, -1.0, 4.0, 0.0, 7.0, 4.0, 8.0, 2.0, 4.0, 7.0, 2.0, 2.0, 5.0, 5.0, 3.0, 7.0, 1.0, 6.0], [4.0, 8.0, 7.0, 7.0, 8.0, 0.0, 8.0, 1.0, 3.0, 2.0, 2.0, 0.0, 0.0, 2.0, 3.0, 2.0, 7.0, 0.0, 2.0, 8.0, 7.0, 7.0, 6.0, 4.0, 1.0, 7.0, 5.0, 7.0, 7.0, 8.0, 8.0, 0.0, 1.0, 5.0, 7.0, 7.0, 6.0]]> : tensor<9x37xbf16>
    %s4 = stablehlo.sqrt %f4 : tensor<9x37xbf16>
    %c4 = stablehlo.multiply %s4, %s4 : tensor<9x37xbf16>
    %x4 = stablehlo.optimization_barrier %c4 : tensor<9x37xbf16>
    %n4 = stablehlo.iota dim = 1 : tensor<9x37xi32>
    %b4 = stablehlo.constant dense<0x7F80> : tensor<bf16>
    %r4:2 = stablehlo.reduce(%x4 init: %b4), (%n4 init: %none) across dimensions = [1] : (tensor<9x37xbf16>, tensor<9x37xi32>, tensor<bf16>, tensor<i32>) -> (tensor<9xbf16>, tensor<9xi32>)
     reducer(%v: tensor<bf16>, %w: tensor<bf16>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare LT, %v, %w, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %1 = stablehlo.compare NE, %v, %v, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %v, %w : tensor<i1>, tensor<bf16>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<bf16>, tensor<i32>
    }
    check.expect_eq_const %r4#1, dense<[4, 24, 4, 9, 21, 20, 5, 20, 5]> : tensor<9xi32>
    %f5 = stablehlo.constant dense<[[7.0, 2.0, 7.0, 2.0, 0.0, 8.0, 5.0, 3.0, 3.0, 2.0, 6.0, 6.0, 3.0, 1.0, 2.0, 4.0, 7.0, 3.0, 4.0, 4.0, 1.0, 5.0, 3.0, 5.0, 6.0, 3.0, 3.0, 7.0, 6.0, 7.0, 6.0, 8.0, 7.0, 4.0, 8.0, 6.0, 6.0], [3.0, 3.0, 2.0, 0.0, 5.0, 8.0, 8.0, 3.0, 7.0, 6.0, 2.0, 5.0, 2.0, 8.0, 6.0, 5.0, 6.0, 8.0, 7.0, 4.0, 1.0, 8.0, 7.0, 5.0, 3.0, 1.0, 2.0, 8.0, 3.0, 1.0, 8.0, 7.0, 8.0, 5.0, 0.0, 8.0, 2.0], [7.0, 6.0, 8.0, 0.0, 8.0, 0.0, 1.0, 0.0, 2.0, 7.0, 8.0, 3.0, 6.0, 2.0, 8.0, 7.0, 4.0, 2.0, 1.0, 6.0, 5.0, 3.0, 8.0, 2.0, 0.0, 3.0, 4.0, 1.0, 2.0, 0.0, 8.0, 7.0, 4.0, 7.0, 8.0, 4.0, 7.0], [6.0, 6.0, 7.0, 2.0, 3.0, 4.0, 6.0, 5.0, 6.0, 6.0, 0.0, 3.0, 1.0, 8.0, 6.0, 4.0, 6.0, 1.0, 1.0, 5.0, 7.0, 6.0, 7.0, 3.0, 2.0, 4.0, 3.0, 2.0, 0.0, 7.0, 4.0, 3.0, 0.0, 8.0, 4.0, 5.0, 5.0], [1.0, 5.0, 5.0, 0.0, 6.0, 5.0, 7.0, 6.0, 3.0, 1.0, 7.0, 5.0, 6.0, 7.0, 5.0, 1.0, 4.0, 8.0, 1.0, 8.0, 1.0, 6.0, 5.0, 7.0, 2.0, 2.0, 1.0, 5.0, 2.0, 8.0, 2.0, 0.0, 2.0, 7.0, 1.0, 2.0, 1.0], [7.0, 6.0, 5.0, 3.0, 7.0, 1.0, 3.0, 1.0, 4.0, 3.0, 8.0, 4.0, 0.0, 2.0, 1.0, 5.0, 8.0, 1.0, 8.0, 8.0, -1.0, 0.0, 8.0, 8.0, 2.0, 1.0, 8.0, 6.0, 8.0, 1.0, -1.0, 5.0, 0.0, 2.0, 2.0, 8.0, 8.0], [3.0, 7.0, 8.0, 3.0, 8.0, 7.0, 5.0, 2.0, 2.0, 3.0, 8.0, 1.0, 3.0, 8.0, 6.0, 7.0, 0.0, 4.0, 6.0, 2.0, 7.0, 8.0, 4.0, 3.0, 4.0, 1.0, 0.0, 3.0, 3.0, 6.0, 1.0, 6.0, 1.0, 0.0, 8.0, 8.0, 2.0], [6.0, 1.0, 0.0, 2.0, 7.0, 7.0, 8.0, 7.0, 7.0, 5.0, 0.0, 6.0, 4.0, 7.0, 5.0, 3.0, 7.0, 5.0, 4.0, 2.0, -1.0, 1.0, 8.0, 0.0, 8.0, 0.0, 4.0, 3.0, 0.0, 8.0, 7.0, 5.0, 6.0, 4.0, 8.0, 7.0, 0.0], [2.0, 3.0, 5.0, 2.0, 5.0, 0.0, 5.0, 6.0, 6.0, 3.0, 0.0, 0.0, 4.0, 1.0, 1.0, 7.0, 7.0, 5.0, 0.0, 1.0, 8.0, 6.0, 2.0, 1.0, 4.0, 6.0, 5.0, 5.0, 1.0, 0.0, 1.0, 4.0, 6.0, 6.0, 5.0, 6.0, 4.0]]> : tensor<9x37xf16>
    %s5 = stablehlo.sqrt %f5 : tensor<9x37xf16>
    %c5 = stablehlo.multiply %s5, %s5 : tensor<9x37xf16>
    %x5 = stablehlo.optimization_barrier %c5 : tensor<9x37xf16>
    %n5 = stablehlo.iota dim = 0 : tensor<9x37xi32>
    %b5 = stablehlo.constant dense<0xFC00> : tensor<f16>
    %r5:2 = stablehlo.reduce(%x5 init: %b5), (%n5 init: %none) across dimensions = [0] : (tensor<9x37xf16>, tensor<9x37xi32>, tensor<f16>, tensor<i32>) -> (tensor<37xf16>, tensor<37xi32>)
     reducer(%v: tensor<f16>, %w: tensor<f16>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare GT, %v, %w, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %1 = stablehlo.compare NE, %v, %v, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %v, %w : tensor<i1>, tensor<f16>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<f16>, tensor<i32>
    }
    check.expect_eq_const %r5#1, dense<[0, 6, 2, 5, 2, 0, 1, 7, 1, 2, 2, 0, 2, 1, 2, 2, 5, 1, 5, 4, 5, 1, 2, 5, 7, 8, 5, 1, 5, 4, 5, 0, 1, 3, 0, 1, 5]> : tensor<37xi32>
    %f6 = stablehlo.constant dense<[[6.0, 0.0, 7.0, 7.0, 6.0, 7.0, 8.0, 4.0, 3.0, 4.0, 0.0, 8.0, 1.0, 8.0, 2.0, 4.0, 0.0, 0.0, 0.0, 1.0, 4.0, 1.0, 2.0, 2.0, 2.0, 7.0, 6.0, 8.0, 7.0, 1.0, 7.0, 0.0, 3.0, 1.0, 6.0, 5.0, 7.0], [5.0, 1.0, 7.0, 1.0, 8.0, 5.0, 2.0, 2.0, 2.0, 1.0, 8.0, 3.0, 7.0, 0.0, 5.0, 3.0, 7.0, 0.0, 7.0, 2.0, 1.0, 1.0, 2.0, 2.0, 3.0, 1.0, 4.0, 4.0, 3.0, 6.0, 1.0, 3.0, 6.0, 8.0, 0.0, 7.0, 6.0], [2.0, 8.0, 0.0, 7.0, 6.0, 5.0, 2.0, 2.0, 2.0, 5.0, 5.0, 7.0, 8.0, 8.0, 2.0, 8.0, 4.0, 6.0, 5.0, 4.0, 6.0, 2.0, 1.0, 1.0, 5.0, 7.0, 4.0, 5.0, 5.0, 8.0, 1.0, 5.0, 1.0, 6.0, 8.0, 7.0, 7.0], [8.0, 7.0, 7.0, 8.0, 2.0, 8.0, 6.0, 3.0, 8.0, 6.0, 8.0, 5.0, 8.0, 5.0, 8.0, 6.0, 7.0, 2.0, 7.0, 7.0, 3.0, 3.0, 6.0, 1.0, 8.0, 0.0, 1.0, 5.0, 7.0, 2.0, 5.0, 8.0, 1.0, 1.0, 2.0, 2.0, 5.0], [8.0, 7.0, 4.0, 5.0, 8.0, 8.0, 7.0, 7.0, 1.0, 2.0, 1.0, 7.0, 3.0, 0.0, 7.0, 8.0, 3.0, 8.0, 4.0, 2.0, 4.0, 4.0, 2.0, 5.0, 7.0, 7.0, 0.0, 3.0, 2.0, 7.0, 7.0, 2.0, 5.0, 1.0, 4.0, 8.0, 3.0], [2.0, 1.0, 3.0, 4.0, 6.0, 8.0, 2.0, 5.0, 8.0, 5.0, 4.0, 8.0, 8.0, 7.0, 1.0, 8.0, 7.0, 8.0, 3.0, 6.0, -1.0, 2.0, 7.0, 5.0, 8.0, 3.0, 3.0, 7.0, 0.0, 1.0, -1.0, 4.0, 3.0, 7.0, 8.0, 4.0, 5.0], [5.0, 3.0, 0.0, 7.0, 2.0, 6.0, 8.0, 5.0, 5.0, 6.0, 3.0, 6.0, 4.0, 7.0, 6.0, 5.0, 7.0, 0.0, 7.0, 8.0, 2.0, 5.0, 2.0, 4.0, 5.0, 8.0, 4.0, 5.0, 5.0, 8.0, 1.0, 1.0, 2.0, 3.0, 6.0, 0.0, 3.0], [0.0, 6.0, 3.0, 0.0, 6.0, 8.0, 3.0, 1.0, 5.0, 4.0, 0.0, 8.0, 1.0, 2.0, 3.0, 2.0, 5.0, 8.0, 6.0, 8.0, -1.0, 4.0, 3.0, 0.0, 6.0, 5.0, 0.0, 2.0, 0.0, 1.0, 6.0, 8.0, 6.0, 5.0, 8.0, 3.0, 3.0], [0.0, 4.0, 3.0, 4.0, 7.0, 1.0, 2.0, 1.0, 2.0, 3.0, 5.0, 5.0, 2.0, 2.0, 5.0, 6.0, 6.0, 3.0, 2.0, 1.0, 4.0, 5.0, 5.0, 7.0, 3.0, 4.0, 2.0, 3.0, 1.0, 4.0, 5.0, 0.0, 8.0, 0.0, 0.0, 0.0, 7.0]]> : tensor<9x37xf16>
    %s6 = stablehlo.sqrt %f6 : tensor<9x37xf16>
    %c6 = stablehlo.multiply %s6, %s6 : tensor<9x37xf16>
    %x6 = stablehlo.optimization_barrier %c6 : tensor<9x37xf16>
    %n6 = stablehlo.iota dim = 1 : tensor<9x37xi32>
    %b6 = stablehlo.constant dense<0xFC00> : tensor<f16>
    %r6:2 = stablehlo.reduce(%x6 init: %b6), (%n6 init: %none) across dimensions = [1] : (tensor<9x37xf16>, tensor<9x37xi32>, tensor<f16>, tensor<i32>) -> (tensor<9xf16>, tensor<9xi32>)
     reducer(%v: tensor<f16>, %w: tensor<f16>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare GT, %v, %w, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %1 = stablehlo.compare NE, %v, %v, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %v, %w : tensor<i1>, tensor<f16>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<f16>, tensor<i32>
    }
    check.expect_eq_const %r6#1, dense<[6, 4, 1, 0, 0, 20, 6, 20, 32]> : tensor<9xi32>
    %f7 = stablehlo.constant dense<[[6.0, 8.0, 5.0, 4.0, 3.0, 8.0, 5.0, 6.0, 3.0, 4.0, 7.0, 4.0, 6.0, 4.0, 6.0, 6.0, 5.0, 2.0, 2.0, 6.0, 1.0, 4.0, 4.0, 6.0, 0.0, 8.0, 3.0, 2.0, 6.0, 3.0, 1.0, 2.0, 4.0, 0.0, 4.0, 5.0, 3.0], [5.0, 5.0, 8.0, 5.0, 5.0, 5.0, 3.0, 0.0, 8.0, 3.0, 0.0, 1.0, 2.0, 6.0, 6.0, 7.0, 1.0, 4.0, 3.0, 2.0, 7.0, 6.0, 3.0, 0.0, 2.0, 4.0, 8.0, 7.0, 0.0, 0.0, 7.0, 3.0, 2.0, 7.0, 1.0, 6.0, 4.0], [1.0, 4.0, 7.0, 8.0, 5.0, 6.0, 2.0, 4.0, 2.0, 5.0, 3.0, 2.0, 1.0, 8.0, 5.0, 3.0, 2.0, 7.0, 1.0, 5.0, 4.0, 8.0, 7.0, 3.0, 5.0, 3.0, 0.0, 3.0, 5.0, 7.0, 8.0, 8.0, 0.0, 7.0, 1.0, 4.0, 4.0], [7.0, 6.0, 6.0, 8.0, 4.0, 1.0, 1.0, 7.0, 2.0, 3.0, 6.0, 3.0, 1.0, 3.0, 5.0, 5.0, 7.0, 2.0, 5.0, 7.0, 5.0, 6.0, 2.0, 7.0, 1.0, 6.0, 0.0, 3.0, 0.0, 3.0, 2.0, 2.0, 5.0, 5.0, 3.0, 0.0, 1.0], [4.0, 2.0, 0.0, 4.0, 7.0, 7.0, 0.0, 5.0, 1.0, 0.0, 4.0, 4.0, 1.0, 1.0, 3.0, 7.0, 1.0, 7.0, 4.0, 4.0, 8.0, 6.0, 2.0, 6.0, 6.0, 7.0, 4.0, 2.0, 5.0, 2.0, 5.0, 6.0, 6.0, 8.0, 1.0, 2.0, 7.0], [5.0, 1.0, 4.0, 5.0, 3.0, 2.0, 6.0, 8.0, 1.0, 4.0, 3.0, 1.0, 3.0, 2.0, 8.0, 1.0, 6.0, 4.0, 6.0, 5.0, -1.0, 4.0, 2.0, 3.0, 5.0, 2.0, 0.0, 1.0, 1.0, 7.0, -1.0, 8.0, 7.0, 1.0, 5.0, 8.0, 5.0], [5.0, 7.0, 0.0, 8.0, 7.0, 8.0, 0.0, 7.0, 7.0, 3.0, 1.0, 6.0, 1.0, 2.0, 6.0, 8.0, 8.0, 2.0, 0.0, 8.0, 7.0, 2.0, 0.0, 2.0, 2.0, 3.0, 4.0, 4.0, 3.0, 1.0, 8.0, 2.0, 1.0, 7.0, 5.0, 8.0, 2.0], [1.0, 4.0, 3.0, 0.0, 3.0, 5.0, 7.0, 7.0, 5.0, 2.0, 3.0, 2.0, 7.0, 1.0, 5.0, 3.0, 1.0, 1.0, 7.0, 0.0, -1.0, 5.0, 7.0, 1.0, 5.0, 8.0, 1.0, 2.0, 6.0, 6.0, 5.0, 8.0, 4.0, 5.0, 3.0, 0.0, 5.0], [5.0, 0.0, 4.0, 4.0, 4.0, 8.0, 3.0, 1.0, 7.0, 1.0, 0.0, 3.0, 0.0, 4.0, 5.0, 3.0, 1.0, 4.0, 4.0, 6.0, 8.0, 7.0, 8.0, 0.0, 8.0, 3.0, 8.0, 5.0, 6.0, 0.0, 0.0, 8.0, 3.0, 5.0, 7.0, 4.0, 8.0]]> : tensor<9x37xf16>
    %s7 = stablehlo.sqrt %f7 : tensor<9x37xf16>
    %c7 = stablehlo.multiply %s7, %s7 : tensor<9x37xf16>
    %x7 = stablehlo.optimization_barrier %c7 : tensor<9x37xf16>
    %n7 = stablehlo.iota dim = 0 : tensor<9x37xi32>
    %b7 = stablehlo.constant dense<0x7C00> : tensor<f16>
    %r7:2 = stablehlo.reduce(%x7 init: %b7), (%n7 init: %none) across dimensions = [0] : (tensor<9x37xf16>, tensor<9x37xi32>, tensor<f16>, tensor<i32>) -> (tensor<37xf16>, tensor<37xi32>)
     reducer(%v: tensor<f16>, %w: tensor<f16>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare LT, %v, %w, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %1 = stablehlo.compare NE, %v, %v, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %v, %w : tensor<i1>, tensor<f16>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<f16>, tensor<i32>
    }
    check.expect_eq_const %r7#1, dense<[2, 8, 4, 7, 0, 3, 4, 1, 4, 4, 1, 1, 8, 4, 4, 5, 1, 7, 6, 7, 5, 6, 6, 1, 0, 5, 2, 5, 1, 1, 5, 0, 2, 0, 1, 3, 3]> : tensor<37xi32>
    %f8 = stablehlo.constant dense<[[4.0, 0.0, 1.0, 4.0, 0.0, 7.0, 6.0, 0.0, 8.0, 8.0, 7.0, 7.0, 0.0, 4.0, 0.0, 2.0, 4.0, 4.0, 5.0, 5.0, 5.0, 6.0, 7.0, 1.0, 8.0, 7.0, 8.0, 6.0, 3.0, 2.0, 4.0, 3.0, 8.0, 5.0, 6.0, 6.0, 0.0], [7.0, 8.0, 3.0, 5.0, 1.0, 1.0, 8.0, 3.0, 7.0, 5.0, 3.0, 5.0, 2.0, 3.0, 5.0, 6.0, 3.0, 4.0, 0.0, 8.0, 0.0, 7.0, 6.0, 1.0, 2.0, 0.0, 2.0, 7.0, 8.0, 5.0, 4.0, 8.0, 2.0, 3.0, 5.0, 1.0, 0.0], [0.0, 8.0, 6.0, 2.0, 0.0, 5.0, 5.0, 3.0, 5.0, 2.0, 6.0, 5.0, 8.0, 0.0, 2.0, 0.0, 4.0, 0.0, 6.0, 1.0, 1.0, 6.0, 0.0, 5.0, 1.0, 8.0, 8.0, 5.0, 7.0, 6.0, 1.0, 8.0, 0.0, 8.0, 5.0, 3.0, 2.0], [8.0, 2.0, 8.0, 1.0, 8.0, 4.0, 8.0, 3.0, 7.0, 8.0, 5.0, 5.0, 6.0, 8.0, 8.0, 8.0, 7.0, 8.0, 8.0, 4.0, 4.0, 5.0, 4.0, 4.0, 0.0, 0.0, 3.0, 8.0, 2.0, 1.0, 6.0, 4.0, 5.0, 6.0, 6.0, 7.0, 5.0], [4.0, 8.0, 5.0, 2.0, 7.0, 6.0, 5.0, 3.0, 6.0, 7.0, 7.0, 4.0, 0.0, 4.0, 4.0, 6.0, 0.0, 8.0, 1.0, 7.0, 0.0, 8.0, 7.0, 5.0, 2.0, 4.0, 4.0, 1.0, 7.0, 5.0, 6.0, 1.0, 8.0, 4.0, 4.0, 0.0, 6.0], [7.0, 7.0, 1.0, 0.0, 2.0, 4.0, 0.0, 0.0, 3.0, 5.0, 0.0, 2.0, 4.0, 7.0, 5.0, 4.0, 1.0, 1.0, 4.0, 7.0, -1.0, 3.0, 5.0, 0.0, 3.0, 2.0, 7.0, 3.0, 2.0, 0.0, -1.0, 1.0, 3.0, 2.0, 3.0, 3.0, 0.0], [3.0, 5.0, 2.0, 1.0, 2.0, 0.0, 4.0, 7.0, 3.0, 5.0, 6.0, 8.0, 7.0, 8.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 3.0, 5.0, 3.0, 0.0, 6.0, 4.0, 6.0, 7.0, 7.0, 4.0, 6.0, 2.0, 5.0, 6.0, 8.0, 3.0, 5.0], [1.0, 3.0, 8.0, 2.0, 3.0, 0.0, 0.0, 8.0, 1.0, 6.0, 1.0, 3.0, 0.0, 7.0, 7.0, 6.0, 8.0, 4.0, 0.0, 8.0, -1.0, 8.0, 6.0, 4.0, 1.0, 3.0, 7.0, 1.0, 5.0, 0.0, 8.0, 3.0, 8.0, 1.0, 0.0, 0.0, 2.0], [6.0, 4.0, 8.0, 5.0, 6.0, 5.0, 8.0, 3.0, 7.0, 0.0, 5.0, 4.0, 4.0, 7.0, 3.0, 3.0, 4.0, 4.0, 2.0, 7.0, 1.0, 8.0, 4.0, 5.0, 5.0, 4.0, 5.0, 3.0, 6.0, 4.0, 3.0, 0.0, 0.0, 4.0, 1.0, 4.0, 2.0]]> : tensor<9x37xf16>
    %s8 = stablehlo.sqrt %f8 : tensor<9x37xf16>
    %c8 = stablehlo.multiply %s8, %s8 : tensor<9x37xf16>
    %x8 = stablehlo.optimization_barrier %c8 : tensor<9x37xf16>
    %n8 = stablehlo.iota dim = 1 : tensor<9x37xi32>
    %b8 = stablehlo.constant dense<0x7C00> : tensor<f16>
    %r8:2 = stablehlo.reduce(%x8 init: %b8), (%n8 init: %none) across dimensions = [1] : (tensor<9x37xf16>, tensor<9x37xi32>, tensor<f16>, tensor<i32>) -> (tensor<9xf16>, tensor<9xi32>)
     reducer(%v: tensor<f16>, %w: tensor<f16>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare LT, %v, %w, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %1 = stablehlo.compare NE, %v, %v, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %2 = stablehlo.or %0, %1 : tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %v, %w : tensor<i1>, tensor<f16>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<f16>, tensor<i32>
    }
    check.expect_eq_const %r8#1, dense<[1, 18, 0, 24, 12, 20, 5, 20, 9]> : tensor<9xi32>
    %c9 = stablehlo.constant dense<[[false, false, false, false, false, false, false, false, true, false, false, true, false, false, false, true, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, true, false, false, false, false, false, false, false, false, false, true], [false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, true, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false], [true, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false], [false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false]]> : tensor<9x37xi1>
    %x9 = stablehlo.optimization_barrier %c9 : tensor<9x37xi1>
    %n9 = stablehlo.iota dim = 0 : tensor<9x37xi32>
    %b9 = stablehlo.constant dense<false> : tensor<i1>
    %r9:2 = stablehlo.reduce(%x9 init: %b9), (%n9 init: %none) across dimensions = [0] : (tensor<9x37xi1>, tensor<9x37xi32>, tensor<i1>, tensor<i32>) -> (tensor<37xi1>, tensor<37xi32>)
     reducer(%v: tensor<i1>, %w: tensor<i1>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare GT, %v, %w, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %0, %5 : tensor<i1>
      %7 = stablehlo.select %0, %v, %w : tensor<i1>, tensor<i1>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<i1>, tensor<i32>
    }
    check.expect_eq_const %r9#1, dense<[6, 2, 0, 0, 8, 0, 0, 4, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 0, 5, 7, 0, 8, 0, 0, 0, 2]> : tensor<37xi32>
    %c10 = stablehlo.constant dense<[[false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, true, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, true, false, false, false, false, true, false, false], [false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, true, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, true, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, true, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, true, false, false, false, false, false, false, false, false, true, false, false, false, true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false]]> : tensor<9x37xi1>
    %x10 = stablehlo.optimization_barrier %c10 : tensor<9x37xi1>
    %n10 = stablehlo.iota dim = 1 : tensor<9x37xi32>
    %b10 = stablehlo.constant dense<false> : tensor<i1>
    %r10:2 = stablehlo.reduce(%x10 init: %b10), (%n10 init: %none) across dimensions = [1] : (tensor<9x37xi1>, tensor<9x37xi32>, tensor<i1>, tensor<i32>) -> (tensor<9xi1>, tensor<9xi32>)
     reducer(%v: tensor<i1>, %w: tensor<i1>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare GT, %v, %w, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %0, %5 : tensor<i1>
      %7 = stablehlo.select %0, %v, %w : tensor<i1>, tensor<i1>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<i1>, tensor<i32>
    }
    check.expect_eq_const %r10#1, dense<[3, 2, 11, 2, 0, 2, 3, 19, 5]> : tensor<9xi32>
    %c11 = stablehlo.constant dense<[[true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true], [true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true], [true, true, true, true, true, false, true, true, true, true, true, true, true, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true], [true, true, true, true, true, true, true, true, true, false, true, true, true, false, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, false, true, true, true, true, true, true, true, true, true, true, true], [true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]]> : tensor<9x37xi1>
    %x11 = stablehlo.optimization_barrier %c11 : tensor<9x37xi1>
    %n11 = stablehlo.iota dim = 0 : tensor<9x37xi32>
    %b11 = stablehlo.constant dense<true> : tensor<i1>
    %r11:2 = stablehlo.reduce(%x11 init: %b11), (%n11 init: %none) across dimensions = [0] : (tensor<9x37xi1>, tensor<9x37xi32>, tensor<i1>, tensor<i32>) -> (tensor<37xi1>, tensor<37xi32>)
     reducer(%v: tensor<i1>, %w: tensor<i1>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare LT, %v, %w, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %0, %5 : tensor<i1>
      %7 = stablehlo.select %0, %v, %w : tensor<i1>, tensor<i1>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<i1>, tensor<i32>
    }
    check.expect_eq_const %r11#1, dense<[0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 4, 4, 0, 0, 0, 8, 0, 1, 0, 7, 0, 0, 7, 0, 0, 0, 6, 0, 3, 0, 0, 0, 0, 0]> : tensor<37xi32>
    %c12 = stablehlo.constant dense<[[true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, false], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, false, true, true], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true], [true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true], [true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true], [true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true], [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false, true, true, true, true, true, true, true, true, false]]> : tensor<9x37xi1>
    %x12 = stablehlo.optimization_barrier %c12 : tensor<9x37xi1>
    %n12 = stablehlo.iota dim = 1 : tensor<9x37xi32>
    %b12 = stablehlo.constant dense<true> : tensor<i1>
    %r12:2 = stablehlo.reduce(%x12 init: %b12), (%n12 init: %none) across dimensions = [1] : (tensor<9x37xi1>, tensor<9x37xi32>, tensor<i1>, tensor<i32>) -> (tensor<9xi1>, tensor<9xi32>)
     reducer(%v: tensor<i1>, %w: tensor<i1>) (%i: tensor<i32>, %j: tensor<i32>) {
      %0 = stablehlo.compare LT, %v, %w, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %3 = stablehlo.compare EQ, %v, %w, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %0, %5 : tensor<i1>
      %7 = stablehlo.select %0, %v, %w : tensor<i1>, tensor<i1>
      %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<i1>, tensor<i32>
    }
    check.expect_eq_const %r12#1, dense<[17, 14, 23, 2, 0, 0, 13, 6, 27]> : tensor<9xi32>
    return
  }
}
