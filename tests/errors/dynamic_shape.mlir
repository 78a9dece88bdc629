// error: not supported: dynamic shape f32[?] (NAME:2:17)
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
