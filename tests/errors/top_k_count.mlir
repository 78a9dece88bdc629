// error: chlo.top_k (NAME:3:10): the 5 largest of f32[4]: k must be 0 to the last extent
func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> {
  %0:2 = chlo.top_k(%x, k = 5) : tensor<4xf32> -> (tensor<5xf32>, tensor<5xi32>)
  return %0#0 : tensor<5xf32>
}
