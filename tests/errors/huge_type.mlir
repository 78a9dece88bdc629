// error: NAME:2:21: the type f32[4294967296,4294967296] is too large to have a size
func.func @main(%x: tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32> {
  return %x : tensor<4294967296x4294967296xf32>
}
