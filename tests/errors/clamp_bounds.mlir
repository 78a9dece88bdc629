// error: clamp (NAME:3:8): bound f32[2] of f32[4]: it must be a scalar of that element or have its type
func.func @main(%a: tensor<2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.clamp"(%a, %x, %a) : (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
