// error: argument 0 of @main: the layout {0,0} names not each dimension once, or more than 16
func.func @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "{0,0}"}) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}
