// What only large arrays have: rows a page apart that are fetched ahead, tiles as long as a cache line,
// a sum to few numbers that is added up in parts.
func.func @main() {
  %i = stablehlo.iota dim = 0 : tensor<307200xi32>
  %n = stablehlo.reshape %i : (tensor<307200xi32>) -> tensor<600x512xi32>
  %x = stablehlo.optimization_barrier %n : tensor<600x512xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %least = stablehlo.constant dense<-2147483648> : tensor<i32>

  // down the columns: 512 * (0 + .. + 599) + 600 * c
  %down = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<600x512xi32>, tensor<i32>) -> tensor<512xi32>
  %c = stablehlo.iota dim = 0 : tensor<512xi32>
  %600 = stablehlo.constant dense<600> : tensor<512xi32>
  %base = stablehlo.constant dense<92006400> : tensor<512xi32>
  %c600 = stablehlo.multiply %c, %600 : tensor<512xi32>
  %want_down = stablehlo.add %c600, %base : tensor<512xi32>
  stablehlo.custom_call @check.expect_eq(%down, %want_down) {has_side_effect = true} : (tensor<512xi32>, tensor<512xi32>) -> ()

  // beside its transpose: (512 r + c) - (512 c + r) = 511 (r - c), of the first 512 rows
  %s = stablehlo.slice %x [0:512, 0:512] : (tensor<600x512xi32>) -> tensor<512x512xi32>
  %t = stablehlo.transpose %s, dims = [1, 0] : (tensor<512x512xi32>) -> tensor<512x512xi32>
  %d = stablehlo.subtract %s, %t : tensor<512x512xi32>
  %r0 = stablehlo.iota dim = 0 : tensor<512x512xi32>
  %r1 = stablehlo.iota dim = 1 : tensor<512x512xi32>
  %r = stablehlo.subtract %r0, %r1 : tensor<512x512xi32>
  %511 = stablehlo.constant dense<511> : tensor<512x512xi32>
  %want_d = stablehlo.multiply %r, %511 : tensor<512x512xi32>
  stablehlo.custom_call @check.expect_eq(%d, %want_d) {has_side_effect = true} : (tensor<512x512xi32>, tensor<512x512xi32>) -> ()

  // all to one: the sum wraps as 32 bits do, (307199 * 307200 / 2) mod 2^32; the largest is the last
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<600x512xi32>, tensor<i32>) -> tensor<i32>
  %want_sum = stablehlo.constant dense<-58873856> : tensor<i32>
  stablehlo.custom_call @check.expect_eq(%sum, %want_sum) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
  %most = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<600x512xi32>, tensor<i32>) -> tensor<i32>
  %want_most = stablehlo.constant dense<307199> : tensor<i32>
  stablehlo.custom_call @check.expect_eq(%most, %want_most) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()

  // 102400 rows of 3: column c has 3 * (0 + .. + 102399) + 102400 * c, mod 2^32
  %rows = stablehlo.reshape %x : (tensor<600x512xi32>) -> tensor<102400x3xi32>
  %three = stablehlo.reduce(%rows init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<102400x3xi32>, tensor<i32>) -> tensor<3xi32>
  %want_three = stablehlo.constant dense<[-1451382784, -1451280384, -1451177984]> : tensor<3xi32>
  stablehlo.custom_call @check.expect_eq(%three, %want_three) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
  return
}
