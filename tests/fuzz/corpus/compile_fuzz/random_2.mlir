module @grown attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2, "j"=1]>
func.func public @main(%v1: tensor<f64> {sdy.sharding = #sdy.sharding<@mesh, []>}, %v2: tensor<5xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %v3: tensor<8x4xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"j"}, {}]>}) -> (tensor<1xi8> {sdy.sharding = #sdy.sharding<@mesh, [{"j"}]>}, tensor<5xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<5x1x1xi8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"j"}, {}]>}, tensor<8x4xi8>) {
  %v4 = stablehlo.constant dense<false> : tensor<i1>
  %v5 = stablehlo.broadcast_in_dim %v1, dims = [] : (tensor<f64>) -> tensor<f64>
  %v6 = stablehlo.select %v4, %v1, %v5 : tensor<i1>, tensor<f64>
  %v7 = stablehlo.iota dim = 0 : tensor<5xf32>
  %v8 = "stablehlo.reshape"(%v2) : (tensor<5xi8>) -> tensor<5x1x1xi8>
  %v9 = stablehlo.constant dense<1> : tensor<i8>
  %v10 = stablehlo.reduce(%v2 init: %v9) applies stablehlo.maximum across dimensions = [] : (tensor<5xi8>, tensor<i8>) -> tensor<5xi8>
  %v11 = stablehlo.compare GT, %v7, %v7 : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %v12 = stablehlo.constant dense<2> : tensor<i8>
  %v13 = stablehlo.reduce(%v8 init: %v12) applies stablehlo.minimum across dimensions = [1, 2] : (tensor<5x1x1xi8>, tensor<i8>) -> tensor<5xi8>
  %v14 = stablehlo.slice %v10 [1:2:3] : (tensor<5xi8>) -> tensor<1xi8>
  %v15 = "stablehlo.abs"(%v7) : (tensor<5xf32>) -> tensor<5xf32>
  return %v14, %v13, %v8, %v3 : tensor<1xi8>, tensor<5xi8>, tensor<5x1x1xi8>, tensor<8x4xi8>
}
}
