// error: select (NAME:3:8): i32[4]: the predicate must be i1
func.func @main(%p: tensor<4xi32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.select"(%p, %x, %x) : (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
