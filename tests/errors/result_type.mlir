// error: add (NAME:3:8): the result is f32[4], stated as f32[5]
func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
