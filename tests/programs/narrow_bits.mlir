// Every byte as a small float, moved, and back: all bits arrive, a NaN's as well.
module @narrow_bits {
  func.func public @main() {
    %bytes = stablehlo.iota dim = 0 : tensor<256xui8>
    %all = stablehlo.optimization_barrier %bytes : tensor<256xui8>
    %turned = stablehlo.reverse %all, dims = [0] : tensor<256xui8>
    %limit = stablehlo.constant dense<100> : tensor<256xui8>
    %low = stablehlo.compare LT, %all, %limit : (tensor<256xui8>, tensor<256xui8>) -> tensor<256xi1>
    %either = stablehlo.select %low, %turned, %all : tensor<256xi1>, tensor<256xui8>
    %joined = stablehlo.concatenate %turned, %all, dim = 0 : (tensor<256xui8>, tensor<256xui8>) -> tensor<512xui8>
    %rows = stablehlo.broadcast_in_dim %all, dims = [0] : (tensor<256xui8>) -> tensor<256x32xui8>
    %f0 = stablehlo.bitcast_convert %all : (tensor<256xui8>) -> tensor<256xf8E4M3FN>
    %r0 = stablehlo.reverse %f0, dims = [0] : tensor<256xf8E4M3FN>
    %rb0 = stablehlo.bitcast_convert %r0 : (tensor<256xf8E4M3FN>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%rb0, %turned) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %s0 = stablehlo.select %low, %r0, %f0 : tensor<256xi1>, tensor<256xf8E4M3FN>
    %sb0 = stablehlo.bitcast_convert %s0 : (tensor<256xf8E4M3FN>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%sb0, %either) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %j0 = stablehlo.concatenate %r0, %f0, dim = 0 : (tensor<256xf8E4M3FN>, tensor<256xf8E4M3FN>) -> tensor<512xf8E4M3FN>
    %jb0 = stablehlo.bitcast_convert %j0 : (tensor<512xf8E4M3FN>) -> tensor<512xui8>
    stablehlo.custom_call @check.expect_eq(%jb0, %joined) {has_side_effect = true} : (tensor<512xui8>, tensor<512xui8>) -> ()
    %w0 = stablehlo.broadcast_in_dim %f0, dims = [0] : (tensor<256xf8E4M3FN>) -> tensor<256x32xf8E4M3FN>
    %wb0 = stablehlo.bitcast_convert %w0 : (tensor<256x32xf8E4M3FN>) -> tensor<256x32xui8>
    stablehlo.custom_call @check.expect_eq(%wb0, %rows) {has_side_effect = true} : (tensor<256x32xui8>, tensor<256x32xui8>) -> ()
    %f1 = stablehlo.bitcast_convert %all : (tensor<256xui8>) -> tensor<256xf8E5M2>
    %r1 = stablehlo.reverse %f1, dims = [0] : tensor<256xf8E5M2>
    %rb1 = stablehlo.bitcast_convert %r1 : (tensor<256xf8E5M2>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%rb1, %turned) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %s1 = stablehlo.select %low, %r1, %f1 : tensor<256xi1>, tensor<256xf8E5M2>
    %sb1 = stablehlo.bitcast_convert %s1 : (tensor<256xf8E5M2>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%sb1, %either) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %j1 = stablehlo.concatenate %r1, %f1, dim = 0 : (tensor<256xf8E5M2>, tensor<256xf8E5M2>) -> tensor<512xf8E5M2>
    %jb1 = stablehlo.bitcast_convert %j1 : (tensor<512xf8E5M2>) -> tensor<512xui8>
    stablehlo.custom_call @check.expect_eq(%jb1, %joined) {has_side_effect = true} : (tensor<512xui8>, tensor<512xui8>) -> ()
    %w1 = stablehlo.broadcast_in_dim %f1, dims = [0] : (tensor<256xf8E5M2>) -> tensor<256x32xf8E5M2>
    %wb1 = stablehlo.bitcast_convert %w1 : (tensor<256x32xf8E5M2>) -> tensor<256x32xui8>
    stablehlo.custom_call @check.expect_eq(%wb1, %rows) {has_side_effect = true} : (tensor<256x32xui8>, tensor<256x32xui8>) -> ()
    %f2 = stablehlo.bitcast_convert %all : (tensor<256xui8>) -> tensor<256xf8E4M3FNUZ>
    %r2 = stablehlo.reverse %f2, dims = [0] : tensor<256xf8E4M3FNUZ>
    %rb2 = stablehlo.bitcast_convert %r2 : (tensor<256xf8E4M3FNUZ>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%rb2, %turned) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %s2 = stablehlo.select %low, %r2, %f2 : tensor<256xi1>, tensor<256xf8E4M3FNUZ>
    %sb2 = stablehlo.bitcast_convert %s2 : (tensor<256xf8E4M3FNUZ>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%sb2, %either) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %j2 = stablehlo.concatenate %r2, %f2, dim = 0 : (tensor<256xf8E4M3FNUZ>, tensor<256xf8E4M3FNUZ>) -> tensor<512xf8E4M3FNUZ>
    %jb2 = stablehlo.bitcast_convert %j2 : (tensor<512xf8E4M3FNUZ>) -> tensor<512xui8>
    stablehlo.custom_call @check.expect_eq(%jb2, %joined) {has_side_effect = true} : (tensor<512xui8>, tensor<512xui8>) -> ()
    %w2 = stablehlo.broadcast_in_dim %f2, dims = [0] : (tensor<256xf8E4M3FNUZ>) -> tensor<256x32xf8E4M3FNUZ>
    %wb2 = stablehlo.bitcast_convert %w2 : (tensor<256x32xf8E4M3FNUZ>) -> tensor<256x32xui8>
    stablehlo.custom_call @check.expect_eq(%wb2, %rows) {has_side_effect = true} : (tensor<256x32xui8>, tensor<256x32xui8>) -> ()
    %f3 = stablehlo.bitcast_convert %all : (tensor<256xui8>) -> tensor<256xf8E3M4>
    %r3 = stablehlo.reverse %f3, dims = [0] : tensor<256xf8E3M4>
    %rb3 = stablehlo.bitcast_convert %r3 : (tensor<256xf8E3M4>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%rb3, %turned) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %s3 = stablehlo.select %low, %r3, %f3 : tensor<256xi1>, tensor<256xf8E3M4>
    %sb3 = stablehlo.bitcast_convert %s3 : (tensor<256xf8E3M4>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%sb3, %either) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %j3 = stablehlo.concatenate %r3, %f3, dim = 0 : (tensor<256xf8E3M4>, tensor<256xf8E3M4>) -> tensor<512xf8E3M4>
    %jb3 = stablehlo.bitcast_convert %j3 : (tensor<512xf8E3M4>) -> tensor<512xui8>
    stablehlo.custom_call @check.expect_eq(%jb3, %joined) {has_side_effect = true} : (tensor<512xui8>, tensor<512xui8>) -> ()
    %w3 = stablehlo.broadcast_in_dim %f3, dims = [0] : (tensor<256xf8E3M4>) -> tensor<256x32xf8E3M4>
    %wb3 = stablehlo.bitcast_convert %w3 : (tensor<256x32xf8E3M4>) -> tensor<256x32xui8>
    stablehlo.custom_call @check.expect_eq(%wb3, %rows) {has_side_effect = true} : (tensor<256x32xui8>, tensor<256x32xui8>) -> ()
    %f4 = stablehlo.bitcast_convert %all : (tensor<256xui8>) -> tensor<256xf8E8M0FNU>
    %r4 = stablehlo.reverse %f4, dims = [0] : tensor<256xf8E8M0FNU>
    %rb4 = stablehlo.bitcast_convert %r4 : (tensor<256xf8E8M0FNU>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%rb4, %turned) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %s4 = stablehlo.select %low, %r4, %f4 : tensor<256xi1>, tensor<256xf8E8M0FNU>
    %sb4 = stablehlo.bitcast_convert %s4 : (tensor<256xf8E8M0FNU>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%sb4, %either) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %j4 = stablehlo.concatenate %r4, %f4, dim = 0 : (tensor<256xf8E8M0FNU>, tensor<256xf8E8M0FNU>) -> tensor<512xf8E8M0FNU>
    %jb4 = stablehlo.bitcast_convert %j4 : (tensor<512xf8E8M0FNU>) -> tensor<512xui8>
    stablehlo.custom_call @check.expect_eq(%jb4, %joined) {has_side_effect = true} : (tensor<512xui8>, tensor<512xui8>) -> ()
    %w4 = stablehlo.broadcast_in_dim %f4, dims = [0] : (tensor<256xf8E8M0FNU>) -> tensor<256x32xf8E8M0FNU>
    %wb4 = stablehlo.bitcast_convert %w4 : (tensor<256x32xf8E8M0FNU>) -> tensor<256x32xui8>
    stablehlo.custom_call @check.expect_eq(%wb4, %rows) {has_side_effect = true} : (tensor<256x32xui8>, tensor<256x32xui8>) -> ()
    %f5 = stablehlo.bitcast_convert %all : (tensor<256xui8>) -> tensor<256xf8E4M3>
    %r5 = stablehlo.reverse %f5, dims = [0] : tensor<256xf8E4M3>
    %rb5 = stablehlo.bitcast_convert %r5 : (tensor<256xf8E4M3>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%rb5, %turned) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %s5 = stablehlo.select %low, %r5, %f5 : tensor<256xi1>, tensor<256xf8E4M3>
    %sb5 = stablehlo.bitcast_convert %s5 : (tensor<256xf8E4M3>) -> tensor<256xui8>
    stablehlo.custom_call @check.expect_eq(%sb5, %either) {has_side_effect = true} : (tensor<256xui8>, tensor<256xui8>) -> ()
    %j5 = stablehlo.concatenate %r5, %f5, dim = 0 : (tensor<256xf8E4M3>, tensor<256xf8E4M3>) -> tensor<512xf8E4M3>
    %jb5 = stablehlo.bitcast_convert %j5 : (tensor<512xf8E4M3>) -> tensor<512xui8>
    stablehlo.custom_call @check.expect_eq(%jb5, %joined) {has_side_effect = true} : (tensor<512xui8>, tensor<512xui8>) -> ()
    %w5 = stablehlo.broadcast_in_dim %f5, dims = [0] : (tensor<256xf8E4M3>) -> tensor<256x32xf8E4M3>
    %wb5 = stablehlo.bitcast_convert %w5 : (tensor<256x32xf8E4M3>) -> tensor<256x32xui8>
    stablehlo.custom_call @check.expect_eq(%wb5, %rows) {has_side_effect = true} : (tensor<256x32xui8>, tensor<256x32xui8>) -> ()
    return
  }
}
