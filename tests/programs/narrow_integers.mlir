// The low bits of wide sums, differences, products and bits combined are made of low bits; of quotients they are not.
module @narrow_integers {
  func.func public @main() {
    %n = stablehlo.iota dim = 0 : tensor<300xui8>
    %m = stablehlo.constant dense<37> : tensor<300xui8>
    %p = stablehlo.multiply %n, %m : tensor<300xui8>
    %a = stablehlo.optimization_barrier %p : tensor<300xui8>
    %b = stablehlo.optimization_barrier %n : tensor<300xui8>
    %s = stablehlo.bitcast_convert %a : (tensor<300xui8>) -> tensor<300xi8>
    %aw = stablehlo.convert %a : (tensor<300xui8>) -> tensor<300xi32>
    %bw = stablehlo.convert %b : (tensor<300xui8>) -> tensor<300xi32>
    %sw = stablehlo.convert %s : (tensor<300xi8>) -> tensor<300xi32>
    %c = stablehlo.constant dense<70001> : tensor<300xi32>
    %t0 = stablehlo.multiply %aw, %bw : tensor<300xi32>
    %t1 = stablehlo.subtract %sw, %t0 : tensor<300xi32>
    %t2 = stablehlo.add %t1, %c : tensor<300xi32>
    %t3 = stablehlo.xor %t2, %sw : tensor<300xi32>
    %low = stablehlo.convert %t3 : (tensor<300xi32>) -> tensor<300xui8>
    %mid = stablehlo.convert %t3 : (tensor<300xi32>) -> tensor<300xi16>
    %hidden = stablehlo.optimization_barrier %t3 : tensor<300xi32>
    %want = stablehlo.convert %hidden : (tensor<300xi32>) -> tensor<300xui8>
    %want16 = stablehlo.convert %hidden : (tensor<300xi32>) -> tensor<300xi16>
    check.expect_eq %low, %want : tensor<300xui8>
    check.expect_eq %mid, %want16 : tensor<300xi16>
    // a quotient, and what is made of one
    %seven = stablehlo.constant dense<7> : tensor<300xi32>
    %q = stablehlo.divide %t0, %seven : tensor<300xi32>
    %r = stablehlo.add %q, %aw : tensor<300xi32>
    %rl = stablehlo.convert %r : (tensor<300xi32>) -> tensor<300xui8>
    %rh = stablehlo.optimization_barrier %r : tensor<300xi32>
    %rw = stablehlo.convert %rh : (tensor<300xi32>) -> tensor<300xui8>
    check.expect_eq %rl, %rw : tensor<300xui8>
    // eight booleans of a row become the bits of a byte
    %bits = stablehlo.iota dim = 1 : tensor<300x8xui8>
    %wide = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<300xui8>) -> tensor<300x8xui8>
    %down = stablehlo.shift_right_logical %wide, %bits : tensor<300x8xui8>
    %one = stablehlo.constant dense<1> : tensor<300x8xui8>
    %bit = stablehlo.and %down, %one : tensor<300x8xui8>
    %x = stablehlo.optimization_barrier %bit : tensor<300x8xui8>
    %up = stablehlo.shift_left %x, %bits : tensor<300x8xui8>
    %up32 = stablehlo.convert %up : (tensor<300x8xui8>) -> tensor<300x8xui32>
    %zero = stablehlo.constant dense<0> : tensor<ui32>
    %sum = stablehlo.reduce(%up32 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<300x8xui32>, tensor<ui32>) -> tensor<300xui32>
    %packed = stablehlo.convert %sum : (tensor<300xui32>) -> tensor<300xui8>
    check.expect_eq %packed, %a : tensor<300xui8>
    return
  }
}
