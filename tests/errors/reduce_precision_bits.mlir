// error: reduce_precision (NAME:3:8): exponent_bits is 0 and mantissa_bits 3: they must be at least 1 and 0
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = stablehlo.reduce_precision %x, format = e0m3 : tensor<8xf32>
  return %r : tensor<8xf32>
}
