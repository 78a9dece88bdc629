// error: and (NAME:3:8): f32[4]: its elements must be integers or booleans
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.and %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
