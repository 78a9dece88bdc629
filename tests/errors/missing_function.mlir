// error: func.call (NAME:3:8): there is no function @nobody
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = call @nobody(%y) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
