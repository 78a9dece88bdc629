// error: negate (NAME:3:8): the result is f32[4], stated as i32[4]
func.func @main(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = stablehlo.negate %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}
