// error: convert (NAME:3:8): the result is i32[4], stated as i32[2,2]
func.func @main(%x: tensor<4xf32>) -> tensor<2x2xi32> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}
