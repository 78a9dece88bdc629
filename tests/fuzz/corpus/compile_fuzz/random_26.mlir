module @grown attributes {mhlo.num_partitions = 3 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=3]>
func.func public @main(%v1: tensor<12x4x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}, %v2: tensor<17x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %v3: tensor<17x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %v4: tensor<12x4x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}, {}]>}) -> (tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<16xi32>, tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %v5 = "stablehlo.multiply"(%v2, %v2) : (tensor<17x4xf32>, tensor<17x4xf32>) -> tensor<17x4xf32>
  %v6 = stablehlo.iota dim = 0 : tensor<16xi32>
  %v7 = stablehlo.transpose %v6, dims = [0] : (tensor<16xi32>) -> tensor<16xi32>
  %v8 = stablehlo.broadcast_in_dim %v3, dims = [0, 1] : (tensor<17x4xi32>) -> tensor<17x4x5xi32>
  %v9 = "stablehlo.minimum"(%v6, %v7) : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>
  %v10 = "stablehlo.convert"(%v6) : (tensor<16xi32>) -> tensor<16xi32>
  %v11 = stablehlo.constant dense<-2> : tensor<i32>
  %w12:2 = "stablehlo.case"(%v11) ({
    %v13 = "stablehlo.add"(%v5, %v2) : (tensor<17x4xf32>, tensor<17x4xf32>) -> tensor<17x4xf32>
    %v14 = "stablehlo.shift_right_logical"(%v4, %v1) : (tensor<12x4x8xi32>, tensor<12x4x8xi32>) -> tensor<12x4x8xi32>
    stablehlo.return %v7, %v9 : tensor<16xi32>, tensor<16xi32>
  }, {
    %v15 = stablehlo.constant dense<7> : tensor<i32>
    %v16 = stablehlo.dynamic_slice %v6, %v15, sizes = [6] : (tensor<16xi32>, tensor<i32>) -> tensor<6xi32>
    %v17 = stablehlo.constant dense<2> : tensor<6xi32>
    %v18 = stablehlo.compare EQ, %v16, %v17 : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %v19 = "stablehlo.multiply"(%v5, %v2) : (tensor<17x4xf32>, tensor<17x4xf32>) -> tensor<17x4xf32>
    stablehlo.return %v7, %v7 : tensor<16xi32>, tensor<16xi32>
  }) : (tensor<i32>) -> (tensor<16xi32>, tensor<16xi32>)
  %v20 = stablehlo.optimization_barrier %w12#0 : tensor<16xi32>
  %v21 = stablehlo.optimization_barrier %w12#1 : tensor<16xi32>
  %v22 = "stablehlo.remainder"(%v7, %v10) : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>
  return %v22, %v21, %v20, %v10 : tensor<16xi32>, tensor<16xi32>, tensor<16xi32>, tensor<16xi32>
}
}
