// Philox's words have the same numbers wherever one begins: also behind the first blocks side by side, and behind
// the first slice; the counter carries into its high half.
module @random_philox {
  func.func public @main() {
    %state = stablehlo.constant dense<[81985529216486895, 18446744073709551000]> : tensor<2xui64>
    %hidden = stablehlo.optimization_barrier %state : tensor<2xui64>
    %s, %all = stablehlo.rng_bit_generator %hidden, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<40003xui32>)

    // 15 blocks are 60 words: what follows, in blocks that stand elsewhere side by side
    %by0 = stablehlo.constant dense<[0, 15]> : tensor<2xui64>
    %at0 = stablehlo.add %hidden, %by0 : tensor<2xui64>
    %s0, %b0 = stablehlo.rng_bit_generator %at0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<1000xui32>)
    %w0 = stablehlo.slice %all [60:1060] : (tensor<40003xui32>) -> tensor<1000xui32>
    check.expect_eq %b0, %w0 : tensor<1000xui32>

    // of 64 bits, over the end of the first slice; these begin before the carry too
    %by1 = stablehlo.constant dense<[0, 500]> : tensor<2xui64>
    %at1 = stablehlo.add %hidden, %by1 : tensor<2xui64>
    %s1, %b1 = stablehlo.rng_bit_generator %at1, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<19001xui64>)
    %p1 = stablehlo.slice %all [2000:40002] : (tensor<40003xui32>) -> tensor<38002xui32>
    %q1 = stablehlo.reshape %p1 : (tensor<38002xui32>) -> tensor<19001x2xui32>
    %w1 = stablehlo.bitcast_convert %q1 : (tensor<19001x2xui32>) -> tensor<19001xui64>
    check.expect_eq %b1, %w1 : tensor<19001xui64>

    // the low bits of words
    %s2, %b2 = stablehlo.rng_bit_generator %hidden, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<40003xui8>)
    %w2 = stablehlo.convert %all : (tensor<40003xui32>) -> tensor<40003xui8>
    check.expect_eq %b2, %w2 : tensor<40003xui8>
    check.expect_eq %s, %s2 : tensor<2xui64>
    return
  }
}
