// Sums along a dimension, backwards along another, and two carries at once; and no
// input at all, where the results say how many turns there are; expected values by hand.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3, 4], [10, 20, 30, 40]]> : tensor<2x4xi32>
  %zeros = stablehlo.constant dense<0> : tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = chlo.scan(%x) inits(%zeros) dimension=1 {
  ^bb0(%in: tensor<2xi32>, %sum: tensor<2xi32>):
    %s = stablehlo.add %in, %sum : tensor<2xi32>
    stablehlo.return %s, %s : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x4xi32>, tensor<2xi32>) -> (tensor<2x4xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[[1, 3, 6, 10], [10, 30, 60, 100]]> : tensor<2x4xi32>
  check.expect_eq_const %0#1, dense<[10, 100]> : tensor<2xi32>
  %v = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %1:3 = chlo.scan(%v) inits(%zero, %one) dimension=0 is_reverse=true {
  ^bb0(%in: tensor<i32>, %sum: tensor<i32>, %product: tensor<i32>):
    %s = stablehlo.add %in, %sum : tensor<i32>
    %p = stablehlo.multiply %in, %product : tensor<i32>
    %d = stablehlo.subtract %p, %s : tensor<i32>
    stablehlo.return %d, %s, %p : tensor<i32>, tensor<i32>, tensor<i32>
  } : (tensor<3xi32>, tensor<i32>, tensor<i32>) -> (tensor<3xi32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %1#0, dense<[0, 1, 0]> : tensor<3xi32>
  check.expect_eq_const %1#1, dense<6> : tensor<i32>
  check.expect_eq_const %1#2, dense<6> : tensor<i32>
  %2:2 = "chlo.scan"(%one) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%power: tensor<i32>):
    %p = stablehlo.add %power, %power : tensor<i32>
    stablehlo.return %power, %p : tensor<i32>, tensor<i32>
  }) : (tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  check.expect_eq_const %2#0, dense<[1, 2, 4, 8]> : tensor<4xi32>
  check.expect_eq_const %2#1, dense<16> : tensor<i32>
  func.return
}
