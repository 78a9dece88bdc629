// error: not supported: element type f33 (NAME:2:30)
func.func @main(%x: tensor<4xf33>) -> tensor<4xf33> {
  return %x : tensor<4xf33>
}
