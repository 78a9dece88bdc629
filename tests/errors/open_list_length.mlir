// error: dynamic_broadcast_in_dim (NAME:5:8): the extents are i32[1]: they must be 3 integers
func.func @main(%x: tensor<f32>) -> tensor<?x?x?xf32> {
  %c = stablehlo.constant dense<2> : tensor<1xi32>
  %s = "stablehlo.concatenate"(%c) <{dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<?xi32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
