// error: argument 0 of @main (NAME:2:1) is f32[?]: its open extents are known once the program is called with arrays, as by 'tutti run' with an --input of a .npy file, or by tt_load
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
