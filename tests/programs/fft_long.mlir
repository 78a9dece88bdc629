// Long lines have the same bits alone, where workers share a line's steps, and beside others, where each has a line of
// its own: complex ones and reals, of a length with factors and of a prime; and they come back as they were.
module @fft_long {
  func.func public @main() {
    %c4116i = stablehlo.iota dim = 1 : tensor<2x4116xf32>
    %c4116r = stablehlo.iota dim = 0 : tensor<2x4116xf32>
    %c4116j = stablehlo.add %c4116i, %c4116r : tensor<2x4116xf32>
    %c4116q = stablehlo.multiply %c4116j, %c4116j : tensor<2x4116xf32>
    %c4116re = stablehlo.sine %c4116q : tensor<2x4116xf32>
    %c4116im = stablehlo.cosine %c4116j : tensor<2x4116xf32>
    %c4116x = stablehlo.complex %c4116re, %c4116im : tensor<2x4116xcomplex<f32>>
    %c4116y = stablehlo.fft %c4116x, type = FFT, length = [4116] : (tensor<2x4116xcomplex<f32>>) -> tensor<2x4116xcomplex<f32>>
    %c4116b = stablehlo.fft %c4116y, type = IFFT, length = [4116] : (tensor<2x4116xcomplex<f32>>) -> tensor<2x4116xcomplex<f32>>
    %c4116real = stablehlo.real %c4116b : (tensor<2x4116xcomplex<f32>>) -> tensor<2x4116xf32>
    %c4116reald = stablehlo.subtract %c4116real, %c4116re : tensor<2x4116xf32>
    %c4116reala = stablehlo.abs %c4116reald : tensor<2x4116xf32>
    %c4116realmost = stablehlo.constant dense<1.0e-5> : tensor<2x4116xf32>
    %c4116realis = stablehlo.compare LT, %c4116reala, %c4116realmost : (tensor<2x4116xf32>, tensor<2x4116xf32>) -> tensor<2x4116xi1>
    %c4116realyes = stablehlo.constant dense<true> : tensor<2x4116xi1>
    stablehlo.custom_call @check.expect_eq(%c4116realis, %c4116realyes) {has_side_effect = true} : (tensor<2x4116xi1>, tensor<2x4116xi1>) -> ()
    %c4116imag = stablehlo.imag %c4116b : (tensor<2x4116xcomplex<f32>>) -> tensor<2x4116xf32>
    %c4116imagd = stablehlo.subtract %c4116imag, %c4116im : tensor<2x4116xf32>
    %c4116imaga = stablehlo.abs %c4116imagd : tensor<2x4116xf32>
    %c4116imagmost = stablehlo.constant dense<1.0e-5> : tensor<2x4116xf32>
    %c4116imagis = stablehlo.compare LT, %c4116imaga, %c4116imagmost : (tensor<2x4116xf32>, tensor<2x4116xf32>) -> tensor<2x4116xi1>
    %c4116imagyes = stablehlo.constant dense<true> : tensor<2x4116xi1>
    stablehlo.custom_call @check.expect_eq(%c4116imagis, %c4116imagyes) {has_side_effect = true} : (tensor<2x4116xi1>, tensor<2x4116xi1>) -> ()
    %c4116x1 = stablehlo.slice %c4116x [1:2, 0:4116] : (tensor<2x4116xcomplex<f32>>) -> tensor<1x4116xcomplex<f32>>
    %c4116y1 = stablehlo.slice %c4116y [1:2, 0:4116] : (tensor<2x4116xcomplex<f32>>) -> tensor<1x4116xcomplex<f32>>
    %c4116z1 = stablehlo.fft %c4116x1, type = FFT, length = [4116] : (tensor<1x4116xcomplex<f32>>) -> tensor<1x4116xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%c4116y1, %c4116z1) {has_side_effect = true} : (tensor<1x4116xcomplex<f32>>, tensor<1x4116xcomplex<f32>>) -> ()
    %c4127i = stablehlo.iota dim = 1 : tensor<2x4127xf32>
    %c4127r = stablehlo.iota dim = 0 : tensor<2x4127xf32>
    %c4127j = stablehlo.add %c4127i, %c4127r : tensor<2x4127xf32>
    %c4127q = stablehlo.multiply %c4127j, %c4127j : tensor<2x4127xf32>
    %c4127re = stablehlo.sine %c4127q : tensor<2x4127xf32>
    %c4127im = stablehlo.cosine %c4127j : tensor<2x4127xf32>
    %c4127x = stablehlo.complex %c4127re, %c4127im : tensor<2x4127xcomplex<f32>>
    %c4127y = stablehlo.fft %c4127x, type = FFT, length = [4127] : (tensor<2x4127xcomplex<f32>>) -> tensor<2x4127xcomplex<f32>>
    %c4127b = stablehlo.fft %c4127y, type = IFFT, length = [4127] : (tensor<2x4127xcomplex<f32>>) -> tensor<2x4127xcomplex<f32>>
    %c4127real = stablehlo.real %c4127b : (tensor<2x4127xcomplex<f32>>) -> tensor<2x4127xf32>
    %c4127reald = stablehlo.subtract %c4127real, %c4127re : tensor<2x4127xf32>
    %c4127reala = stablehlo.abs %c4127reald : tensor<2x4127xf32>
    %c4127realmost = stablehlo.constant dense<1.0e-5> : tensor<2x4127xf32>
    %c4127realis = stablehlo.compare LT, %c4127reala, %c4127realmost : (tensor<2x4127xf32>, tensor<2x4127xf32>) -> tensor<2x4127xi1>
    %c4127realyes = stablehlo.constant dense<true> : tensor<2x4127xi1>
    stablehlo.custom_call @check.expect_eq(%c4127realis, %c4127realyes) {has_side_effect = true} : (tensor<2x4127xi1>, tensor<2x4127xi1>) -> ()
    %c4127imag = stablehlo.imag %c4127b : (tensor<2x4127xcomplex<f32>>) -> tensor<2x4127xf32>
    %c4127imagd = stablehlo.subtract %c4127imag, %c4127im : tensor<2x4127xf32>
    %c4127imaga = stablehlo.abs %c4127imagd : tensor<2x4127xf32>
    %c4127imagmost = stablehlo.constant dense<1.0e-5> : tensor<2x4127xf32>
    %c4127imagis = stablehlo.compare LT, %c4127imaga, %c4127imagmost : (tensor<2x4127xf32>, tensor<2x4127xf32>) -> tensor<2x4127xi1>
    %c4127imagyes = stablehlo.constant dense<true> : tensor<2x4127xi1>
    stablehlo.custom_call @check.expect_eq(%c4127imagis, %c4127imagyes) {has_side_effect = true} : (tensor<2x4127xi1>, tensor<2x4127xi1>) -> ()
    %c4127x1 = stablehlo.slice %c4127x [1:2, 0:4127] : (tensor<2x4127xcomplex<f32>>) -> tensor<1x4127xcomplex<f32>>
    %c4127y1 = stablehlo.slice %c4127y [1:2, 0:4127] : (tensor<2x4127xcomplex<f32>>) -> tensor<1x4127xcomplex<f32>>
    %c4127z1 = stablehlo.fft %c4127x1, type = FFT, length = [4127] : (tensor<1x4127xcomplex<f32>>) -> tensor<1x4127xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%c4127y1, %c4127z1) {has_side_effect = true} : (tensor<1x4127xcomplex<f32>>, tensor<1x4127xcomplex<f32>>) -> ()
    %r8232i = stablehlo.iota dim = 1 : tensor<2x8232xf32>
    %r8232r = stablehlo.iota dim = 0 : tensor<2x8232xf32>
    %r8232j = stablehlo.add %r8232i, %r8232r : tensor<2x8232xf32>
    %r8232q = stablehlo.multiply %r8232j, %r8232j : tensor<2x8232xf32>
    %r8232x = stablehlo.sine %r8232q : tensor<2x8232xf32>
    %r8232y = stablehlo.fft %r8232x, type = RFFT, length = [8232] : (tensor<2x8232xf32>) -> tensor<2x4117xcomplex<f32>>
    %r8232b = stablehlo.fft %r8232y, type = IRFFT, length = [8232] : (tensor<2x4117xcomplex<f32>>) -> tensor<2x8232xf32>
    %r8232d = stablehlo.subtract %r8232b, %r8232x : tensor<2x8232xf32>
    %r8232a = stablehlo.abs %r8232d : tensor<2x8232xf32>
    %r8232most = stablehlo.constant dense<1.0e-5> : tensor<2x8232xf32>
    %r8232is = stablehlo.compare LT, %r8232a, %r8232most : (tensor<2x8232xf32>, tensor<2x8232xf32>) -> tensor<2x8232xi1>
    %r8232yes = stablehlo.constant dense<true> : tensor<2x8232xi1>
    stablehlo.custom_call @check.expect_eq(%r8232is, %r8232yes) {has_side_effect = true} : (tensor<2x8232xi1>, tensor<2x8232xi1>) -> ()
    %r8232x1 = stablehlo.slice %r8232x [1:2, 0:8232] : (tensor<2x8232xf32>) -> tensor<1x8232xf32>
    %r8232y1 = stablehlo.slice %r8232y [1:2, 0:4117] : (tensor<2x4117xcomplex<f32>>) -> tensor<1x4117xcomplex<f32>>
    %r8232z1 = stablehlo.fft %r8232x1, type = RFFT, length = [8232] : (tensor<1x8232xf32>) -> tensor<1x4117xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r8232y1, %r8232z1) {has_side_effect = true} : (tensor<1x4117xcomplex<f32>>, tensor<1x4117xcomplex<f32>>) -> ()
    %r8232b1 = stablehlo.slice %r8232b [1:2, 0:8232] : (tensor<2x8232xf32>) -> tensor<1x8232xf32>
    %r8232c1 = stablehlo.fft %r8232z1, type = IRFFT, length = [8232] : (tensor<1x4117xcomplex<f32>>) -> tensor<1x8232xf32>
    stablehlo.custom_call @check.expect_eq(%r8232b1, %r8232c1) {has_side_effect = true} : (tensor<1x8232xf32>, tensor<1x8232xf32>) -> ()
    %r8254i = stablehlo.iota dim = 1 : tensor<2x8254xf32>
    %r8254r = stablehlo.iota dim = 0 : tensor<2x8254xf32>
    %r8254j = stablehlo.add %r8254i, %r8254r : tensor<2x8254xf32>
    %r8254q = stablehlo.multiply %r8254j, %r8254j : tensor<2x8254xf32>
    %r8254x = stablehlo.sine %r8254q : tensor<2x8254xf32>
    %r8254y = stablehlo.fft %r8254x, type = RFFT, length = [8254] : (tensor<2x8254xf32>) -> tensor<2x4128xcomplex<f32>>
    %r8254b = stablehlo.fft %r8254y, type = IRFFT, length = [8254] : (tensor<2x4128xcomplex<f32>>) -> tensor<2x8254xf32>
    %r8254d = stablehlo.subtract %r8254b, %r8254x : tensor<2x8254xf32>
    %r8254a = stablehlo.abs %r8254d : tensor<2x8254xf32>
    %r8254most = stablehlo.constant dense<1.0e-5> : tensor<2x8254xf32>
    %r8254is = stablehlo.compare LT, %r8254a, %r8254most : (tensor<2x8254xf32>, tensor<2x8254xf32>) -> tensor<2x8254xi1>
    %r8254yes = stablehlo.constant dense<true> : tensor<2x8254xi1>
    stablehlo.custom_call @check.expect_eq(%r8254is, %r8254yes) {has_side_effect = true} : (tensor<2x8254xi1>, tensor<2x8254xi1>) -> ()
    %r8254x1 = stablehlo.slice %r8254x [1:2, 0:8254] : (tensor<2x8254xf32>) -> tensor<1x8254xf32>
    %r8254y1 = stablehlo.slice %r8254y [1:2, 0:4128] : (tensor<2x4128xcomplex<f32>>) -> tensor<1x4128xcomplex<f32>>
    %r8254z1 = stablehlo.fft %r8254x1, type = RFFT, length = [8254] : (tensor<1x8254xf32>) -> tensor<1x4128xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r8254y1, %r8254z1) {has_side_effect = true} : (tensor<1x4128xcomplex<f32>>, tensor<1x4128xcomplex<f32>>) -> ()
    %r8254b1 = stablehlo.slice %r8254b [1:2, 0:8254] : (tensor<2x8254xf32>) -> tensor<1x8254xf32>
    %r8254c1 = stablehlo.fft %r8254z1, type = IRFFT, length = [8254] : (tensor<1x4128xcomplex<f32>>) -> tensor<1x8254xf32>
    stablehlo.custom_call @check.expect_eq(%r8254b1, %r8254c1) {has_side_effect = true} : (tensor<1x8254xf32>, tensor<1x8254xf32>) -> ()
    %r4127i = stablehlo.iota dim = 1 : tensor<2x4127xf32>
    %r4127r = stablehlo.iota dim = 0 : tensor<2x4127xf32>
    %r4127j = stablehlo.add %r4127i, %r4127r : tensor<2x4127xf32>
    %r4127q = stablehlo.multiply %r4127j, %r4127j : tensor<2x4127xf32>
    %r4127x = stablehlo.sine %r4127q : tensor<2x4127xf32>
    %r4127y = stablehlo.fft %r4127x, type = RFFT, length = [4127] : (tensor<2x4127xf32>) -> tensor<2x2064xcomplex<f32>>
    %r4127b = stablehlo.fft %r4127y, type = IRFFT, length = [4127] : (tensor<2x2064xcomplex<f32>>) -> tensor<2x4127xf32>
    %r4127d = stablehlo.subtract %r4127b, %r4127x : tensor<2x4127xf32>
    %r4127a = stablehlo.abs %r4127d : tensor<2x4127xf32>
    %r4127most = stablehlo.constant dense<1.0e-5> : tensor<2x4127xf32>
    %r4127is = stablehlo.compare LT, %r4127a, %r4127most : (tensor<2x4127xf32>, tensor<2x4127xf32>) -> tensor<2x4127xi1>
    %r4127yes = stablehlo.constant dense<true> : tensor<2x4127xi1>
    stablehlo.custom_call @check.expect_eq(%r4127is, %r4127yes) {has_side_effect = true} : (tensor<2x4127xi1>, tensor<2x4127xi1>) -> ()
    %r4127x1 = stablehlo.slice %r4127x [1:2, 0:4127] : (tensor<2x4127xf32>) -> tensor<1x4127xf32>
    %r4127y1 = stablehlo.slice %r4127y [1:2, 0:2064] : (tensor<2x2064xcomplex<f32>>) -> tensor<1x2064xcomplex<f32>>
    %r4127z1 = stablehlo.fft %r4127x1, type = RFFT, length = [4127] : (tensor<1x4127xf32>) -> tensor<1x2064xcomplex<f32>>
    stablehlo.custom_call @check.expect_eq(%r4127y1, %r4127z1) {has_side_effect = true} : (tensor<1x2064xcomplex<f32>>, tensor<1x2064xcomplex<f32>>) -> ()
    %r4127b1 = stablehlo.slice %r4127b [1:2, 0:4127] : (tensor<2x4127xf32>) -> tensor<1x4127xf32>
    %r4127c1 = stablehlo.fft %r4127z1, type = IRFFT, length = [4127] : (tensor<1x2064xcomplex<f32>>) -> tensor<1x4127xf32>
    stablehlo.custom_call @check.expect_eq(%r4127b1, %r4127c1) {has_side_effect = true} : (tensor<1x4127xf32>, tensor<1x4127xf32>) -> ()
    return
  }
}
