// Random bits as XLA numbers them: the expected ones are JAX's on its own CPU engine.
module @random_bits {
  func.func public @main() {
    %state = stablehlo.constant dense<[0x0123456789ABCDEF, 0xFFFFFFFFFFFFFFFE]> : tensor<2xui64>
    %s0, %b0 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %es0 = stablehlo.constant dense<"0xEFCDAB89674523010100000000000000"> : tensor<2xui64>
    %eb0 = stablehlo.constant dense<"0x5B21F4B0B4609AE194743D0BDCC4F8AC89D8A4AA"> : tensor<5xui32>
    stablehlo.custom_call @check.expect_eq(%s0, %es0) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b0, %eb0) {has_side_effect = true} : (tensor<5xui32>, tensor<5xui32>) -> ()
    %s1, %b1 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui32>)
    %es1 = stablehlo.constant dense<"0xEFCDAB89674523010400000000000000"> : tensor<2xui64>
    %eb1 = stablehlo.constant dense<"0x5B21F4B0B4609AE194743D0BDCC4F8AC89D8A4AAF4C4356B0729A5751386DDD3F1E5D035E47FD18ED8192F7CE3DB8402"> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%s1, %es1) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b1, %eb1) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %s2, %b2 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %es2 = stablehlo.constant dense<"0xEFCDAB89674523010700000000000000"> : tensor<2xui64>
    %eb2 = stablehlo.constant dense<"0x5B21F4B0B4609AE194743D0BDCC4F8AC89D8A4AA0729A5751386DDD3F1E5D035E47FD18ED8192F7CBDBB79DE18FD13179E029DB041F4847D32E7A36C"> : tensor<3x5xui32>
    stablehlo.custom_call @check.expect_eq(%s2, %es2) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b2, %eb2) {has_side_effect = true} : (tensor<3x5xui32>, tensor<3x5xui32>) -> ()
    %s3, %b3 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3x2xui32>)
    %es3 = stablehlo.constant dense<"0xEFCDAB89674523010400000000000000"> : tensor<2xui64>
    %eb3 = stablehlo.constant dense<"0x5B21F4B094743D0B89D8A4AA0729A575F1E5D035D8192F7CB4609AE1DCC4F8ACF4C4356B1386DDD3E47FD18EE3DB8402"> : tensor<2x3x2xui32>
    stablehlo.custom_call @check.expect_eq(%s3, %es3) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b3, %eb3) {has_side_effect = true} : (tensor<2x3x2xui32>, tensor<2x3x2xui32>) -> ()
    %s4, %b4 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)
    %es4 = stablehlo.constant dense<"0xEFCDAB89674523010100000000000000"> : tensor<2xui64>
    %eb4 = stablehlo.constant dense<"0x5B21F4B0B4609AE194743D0BDCC4F8AC89D8A4AAF4C4356B"> : tensor<3xui64>
    stablehlo.custom_call @check.expect_eq(%s4, %es4) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b4, %eb4) {has_side_effect = true} : (tensor<3xui64>, tensor<3xui64>) -> ()
    %s5, %b5 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
    %es5 = stablehlo.constant dense<"0xEFCDAB89674523010200000000000000"> : tensor<2xui64>
    %eb5 = stablehlo.constant dense<"0x5B21F4B0B4609AE194743D0BDCC4F8AC89D8A4AAF4C4356B0729A5751386DDD3"> : tensor<2x2xui64>
    stablehlo.custom_call @check.expect_eq(%s5, %es5) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b5, %eb5) {has_side_effect = true} : (tensor<2x2xui64>, tensor<2x2xui64>) -> ()
    %s6, %b6 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %es6 = stablehlo.constant dense<"0xEFCDAB8967452301FFFFFFFFFFFFFFFF"> : tensor<2xui64>
    %eb6 = stablehlo.constant dense<2968789339> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%s6, %es6) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b6, %eb6) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %s7, %b7 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui8>)
    %es7 = stablehlo.constant dense<"0xEFCDAB89674523010100000000000000"> : tensor<2xui64>
    %eb7 = stablehlo.constant dense<"0x5BB494DC89"> : tensor<5xui8>
    stablehlo.custom_call @check.expect_eq(%s7, %es7) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b7, %eb7) {has_side_effect = true} : (tensor<5xui8>, tensor<5xui8>) -> ()
    %s8, %b8 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui16>)
    %es8 = stablehlo.constant dense<"0xEFCDAB89674523010000000000000000"> : tensor<2xui64>
    %eb8 = stablehlo.constant dense<"0x5B21B4609474DCC4"> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%s8, %es8) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b8, %eb8) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    %s9, %b9 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %es9 = stablehlo.constant dense<"0xEFCDAB89674523010000000000000000"> : tensor<2xui64>
    %eb9 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41"> : tensor<5xui32>
    stablehlo.custom_call @check.expect_eq(%s9, %es9) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b9, %eb9) {has_side_effect = true} : (tensor<5xui32>, tensor<5xui32>) -> ()
    %s10, %b10 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui32>)
    %es10 = stablehlo.constant dense<"0xEFCDAB89674523010100000000000000"> : tensor<2xui64>
    %eb10 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41E085733089338B5B7CF662A264D20670DED41FD78E46FF3A68F7B540"> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%s10, %es10) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b10, %eb10) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %s11, %b11 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %es11 = stablehlo.constant dense<"0xEFCDAB89674523010200000000000000"> : tensor<2xui64>
    %eb11 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41E085733089338B5B7CF662A264D20670DED41FD78E46FF3A68F7B540115DDA3457E8A4A2F9D581FC"> : tensor<3x5xui32>
    stablehlo.custom_call @check.expect_eq(%s11, %es11) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b11, %eb11) {has_side_effect = true} : (tensor<3x5xui32>, tensor<3x5xui32>) -> ()
    %s12, %b12 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3x2xui32>)
    %es12 = stablehlo.constant dense<"0xEFCDAB89674523010100000000000000"> : tensor<2xui64>
    %eb12 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41E085733089338B5B7CF662A264D20670DED41FD78E46FF3A68F7B540"> : tensor<2x3x2xui32>
    stablehlo.custom_call @check.expect_eq(%s12, %es12) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b12, %eb12) {has_side_effect = true} : (tensor<2x3x2xui32>, tensor<2x3x2xui32>) -> ()
    %s13, %b13 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)
    %es13 = stablehlo.constant dense<"0xEFCDAB89674523010000000000000000"> : tensor<2xui64>
    %eb13 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41E0857330"> : tensor<3xui64>
    stablehlo.custom_call @check.expect_eq(%s13, %es13) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b13, %eb13) {has_side_effect = true} : (tensor<3xui64>, tensor<3xui64>) -> ()
    %s14, %b14 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
    %es14 = stablehlo.constant dense<"0xEFCDAB89674523010000000000000000"> : tensor<2xui64>
    %eb14 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41E085733089338B5B7CF662A2"> : tensor<2x2xui64>
    stablehlo.custom_call @check.expect_eq(%s14, %es14) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b14, %eb14) {has_side_effect = true} : (tensor<2x2xui64>, tensor<2x2xui64>) -> ()
    %s15, %b15 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %es15 = stablehlo.constant dense<"0xEFCDAB8967452301FFFFFFFFFFFFFFFF"> : tensor<2xui64>
    %eb15 = stablehlo.constant dense<172511636> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%s15, %es15) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b15, %eb15) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %s16, %b16 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui8>)
    %es16 = stablehlo.constant dense<"0xEFCDAB89674523010000000000000000"> : tensor<2xui64>
    %eb16 = stablehlo.constant dense<"0x9406EED4F3"> : tensor<5xui8>
    stablehlo.custom_call @check.expect_eq(%s16, %es16) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b16, %eb16) {has_side_effect = true} : (tensor<5xui8>, tensor<5xui8>) -> ()
    %s17, %b17 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui16>)
    %es17 = stablehlo.constant dense<"0xEFCDAB8967452301FFFFFFFFFFFFFFFF"> : tensor<2xui64>
    %eb17 = stablehlo.constant dense<"0x945106F8EE2FD4A3"> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%s17, %es17) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b17, %eb17) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    %s18, %b18 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %es18 = stablehlo.constant dense<"0xEFCDAB89674523010000000000000000"> : tensor<2xui64>
    %eb18 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41"> : tensor<5xui32>
    stablehlo.custom_call @check.expect_eq(%s18, %es18) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b18, %eb18) {has_side_effect = true} : (tensor<5xui32>, tensor<5xui32>) -> ()
    %s19, %b19 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui32>)
    %es19 = stablehlo.constant dense<"0xEFCDAB89674523010100000000000000"> : tensor<2xui64>
    %eb19 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41E085733089338B5B7CF662A264D20670DED41FD78E46FF3A68F7B540"> : tensor<3x4xui32>
    stablehlo.custom_call @check.expect_eq(%s19, %es19) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b19, %eb19) {has_side_effect = true} : (tensor<3x4xui32>, tensor<3x4xui32>) -> ()
    %s20, %b20 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %es20 = stablehlo.constant dense<"0xEFCDAB89674523010200000000000000"> : tensor<2xui64>
    %eb20 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41E085733089338B5B7CF662A264D20670DED41FD78E46FF3A68F7B540115DDA3457E8A4A2F9D581FC"> : tensor<3x5xui32>
    stablehlo.custom_call @check.expect_eq(%s20, %es20) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b20, %eb20) {has_side_effect = true} : (tensor<3x5xui32>, tensor<3x5xui32>) -> ()
    %s21, %b21 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3x2xui32>)
    %es21 = stablehlo.constant dense<"0xEFCDAB89674523010100000000000000"> : tensor<2xui64>
    %eb21 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41E085733089338B5B7CF662A264D20670DED41FD78E46FF3A68F7B540"> : tensor<2x3x2xui32>
    stablehlo.custom_call @check.expect_eq(%s21, %es21) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b21, %eb21) {has_side_effect = true} : (tensor<2x3x2xui32>, tensor<2x3x2xui32>) -> ()
    %s22, %b22 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)
    %es22 = stablehlo.constant dense<"0xEFCDAB89674523010000000000000000"> : tensor<2xui64>
    %eb22 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41E0857330"> : tensor<3xui64>
    stablehlo.custom_call @check.expect_eq(%s22, %es22) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b22, %eb22) {has_side_effect = true} : (tensor<3xui64>, tensor<3xui64>) -> ()
    %s23, %b23 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
    %es23 = stablehlo.constant dense<"0xEFCDAB89674523010000000000000000"> : tensor<2xui64>
    %eb23 = stablehlo.constant dense<"0x9451480A06F8C541EE2F82D6D4A38538F359EB41E085733089338B5B7CF662A2"> : tensor<2x2xui64>
    stablehlo.custom_call @check.expect_eq(%s23, %es23) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b23, %eb23) {has_side_effect = true} : (tensor<2x2xui64>, tensor<2x2xui64>) -> ()
    %s24, %b24 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %es24 = stablehlo.constant dense<"0xEFCDAB8967452301FFFFFFFFFFFFFFFF"> : tensor<2xui64>
    %eb24 = stablehlo.constant dense<172511636> : tensor<ui32>
    stablehlo.custom_call @check.expect_eq(%s24, %es24) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b24, %eb24) {has_side_effect = true} : (tensor<ui32>, tensor<ui32>) -> ()
    %s25, %b25 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui8>)
    %es25 = stablehlo.constant dense<"0xEFCDAB89674523010000000000000000"> : tensor<2xui64>
    %eb25 = stablehlo.constant dense<"0x9406EED4F3"> : tensor<5xui8>
    stablehlo.custom_call @check.expect_eq(%s25, %es25) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b25, %eb25) {has_side_effect = true} : (tensor<5xui8>, tensor<5xui8>) -> ()
    %s26, %b26 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui16>)
    %es26 = stablehlo.constant dense<"0xEFCDAB8967452301FFFFFFFFFFFFFFFF"> : tensor<2xui64>
    %eb26 = stablehlo.constant dense<"0x945106F8EE2FD4A3"> : tensor<4xui16>
    stablehlo.custom_call @check.expect_eq(%s26, %es26) {has_side_effect = true} : (tensor<2xui64>, tensor<2xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%b26, %eb26) {has_side_effect = true} : (tensor<4xui16>, tensor<4xui16>) -> ()
    return
  }
}
