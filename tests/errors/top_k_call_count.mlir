// error: chlo.top_k (NAME:3:10): the 7 largest of f32[6]: k must be 0 to the last extent
func.func @main(%x: tensor<6xf32>) -> tensor<7xf32> {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 7 : i64, largest = true}} : (tensor<6xf32>) -> (tensor<7xf32>, tensor<7xi32>)
  return %0#0 : tensor<7xf32>
}
