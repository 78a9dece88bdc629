// error: not supported: dynamic shape f32[?] of argument 0 of @main, at NAME:2:1
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
