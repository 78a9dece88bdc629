// error: @main (NAME:2:1) returns 1 values, not the 2 it declares
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %x : tensor<f32>
}
