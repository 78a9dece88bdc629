module @grown attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%v1: tensor<33x16xui8>, %v2: tensor<33x16xui8>, %v3: tensor<33x16xi64>) -> (tensor<33x4x16xui8>, tensor<528xui8>, tensor<528xui8>, tensor<33x16xui8>) {
  %v4 = stablehlo.constant dense<true> : tensor<33x16xi1>
  %v5 = stablehlo.select %v4, %v2, %v1 : tensor<33x16xi1>, tensor<33x16xui8>
  %v6 = "stablehlo.popcnt"(%v5) : (tensor<33x16xui8>) -> tensor<33x16xui8>
  %v7 = "stablehlo.reshape"(%v2) : (tensor<33x16xui8>) -> tensor<528xui8>
  %v8 = "stablehlo.negate"(%v1) : (tensor<33x16xui8>) -> tensor<33x16xui8>
  %v9 = stablehlo.constant dense<false> : tensor<528xi1>
  %v10 = stablehlo.select %v9, %v7, %v7 : tensor<528xi1>, tensor<528xui8>
  %v11 = stablehlo.transpose %v7, dims = [0] : (tensor<528xui8>) -> tensor<528xui8>
  %v12 = stablehlo.broadcast_in_dim %v8, dims = [0, 2] : (tensor<33x16xui8>) -> tensor<33x4x16xui8>
  %v13 = stablehlo.constant dense<0> : tensor<ui8>
  %v14 = stablehlo.reduce(%v7 init: %v13) applies stablehlo.maximum across dimensions = [] : (tensor<528xui8>, tensor<ui8>) -> tensor<528xui8>
  return %v12, %v11, %v10, %v8 : tensor<33x4x16xui8>, tensor<528xui8>, tensor<528xui8>, tensor<33x16xui8>
}
}
