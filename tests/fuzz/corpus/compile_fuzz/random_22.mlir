module @grown attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2, "j"=2]>
func.func public @main(%v1: tensor<4x2xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {"j"}]>}, %v2: tensor<5x8xf32>) -> (tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"j"}]>}, tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"i"}]>}, tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}, tensor<5x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"j"}]>}) {
  %v3 = "stablehlo.subtract"(%v2, %v2) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v4 = stablehlo.constant dense<0> : tensor<i32>
  %w5:3 = stablehlo.while(%v6 = %v4, %v7 = %v2, %v8 = %v2) : tensor<i32>, tensor<5x8xf32>, tensor<5x8xf32>
  cond {
    %n5 = stablehlo.constant dense<0> : tensor<i32>
    %c5 = stablehlo.compare LT, %v6, %n5 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c5 : tensor<i1>
  } do {
    %v9 = stablehlo.constant dense<2.5> : tensor<1x3xf32>
    %v10 = stablehlo.dynamic_update_slice %v7, %v9, %v6, %v6 : (tensor<5x8xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
    %v12 = stablehlo.constant dense<5> : tensor<9x1xi32>
    %v13 = stablehlo.constant dense<3> : tensor<9x1xi32>
    %v11 = stablehlo.iota dim = 0 : tensor<9x1xi32>
    %v14 = "stablehlo.multiply"(%v11, %v12) : (tensor<9x1xi32>, tensor<9x1xi32>) -> tensor<9x1xi32>
    %v15 = stablehlo.constant dense<17> : tensor<9x1xi32>
    %v16 = "stablehlo.remainder"(%v14, %v15) : (tensor<9x1xi32>, tensor<9x1xi32>) -> tensor<9x1xi32>
    %v17 = "stablehlo.subtract"(%v16, %v13) : (tensor<9x1xi32>, tensor<9x1xi32>) -> tensor<9x1xi32>
    %v18 = "stablehlo.gather"(%v10, %v17) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<5x8xf32>, tensor<9x1xi32>) -> tensor<9x8xf32>
    %v19 = "stablehlo.ceil"(%v18) : (tensor<9x8xf32>) -> tensor<9x8xf32>
    %v20 = stablehlo.constant dense<1> : tensor<i32>
    %v21 = "stablehlo.add"(%v6, %v20) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %v21, %v10, %v10 : tensor<i32>, tensor<5x8xf32>, tensor<5x8xf32>
  }
  %v22 = stablehlo.optimization_barrier %w5#0 : tensor<i32>
  %v23 = stablehlo.optimization_barrier %w5#1 : tensor<5x8xf32>
  %v24 = stablehlo.optimization_barrier %w5#2 : tensor<5x8xf32>
  %v25 = "stablehlo.subtract"(%v24, %v2) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v26 = stablehlo.concatenate %v24, %v3, dim = 0 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<10x8xf32>
  %v27 = stablehlo.iota dim = 1 : tensor<4x2xf32>
  %v29 = stablehlo.constant dense<1.0> : tensor<5x8xf32>
  %v28 = stablehlo.compare EQ, %v2, %v2 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xi1>
  %v30 = stablehlo.select %v28, %v2, %v29 : tensor<5x8xi1>, tensor<5x8xf32>
  %v31 = stablehlo.constant dense<-8.0> : tensor<5x8xf32>
  %v32 = stablehlo.constant dense<8.0> : tensor<5x8xf32>
  %v33 = "stablehlo.maximum"(%v30, %v31) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v34 = "stablehlo.minimum"(%v33, %v32) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v35 = "stablehlo.multiply"(%v34, %v32) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v36 = "stablehlo.floor"(%v35) : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %v37 = stablehlo.constant dense<0.0> : tensor<5x8xf32>
  %v38 = "stablehlo.add"(%v36, %v37) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v39 = stablehlo.constant dense<0.125> : tensor<5x8xf32>
  %v40 = "stablehlo.multiply"(%v38, %v39) : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v41 = "stablehlo.tanh"(%v40) : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %v43 = stablehlo.constant dense<5> : tensor<7x1xi32>
  %v44 = stablehlo.constant dense<3> : tensor<7x1xi32>
  %v42 = stablehlo.iota dim = 0 : tensor<7x1xi32>
  %v45 = "stablehlo.multiply"(%v42, %v43) : (tensor<7x1xi32>, tensor<7x1xi32>) -> tensor<7x1xi32>
  %v46 = stablehlo.constant dense<17> : tensor<7x1xi32>
  %v47 = "stablehlo.remainder"(%v45, %v46) : (tensor<7x1xi32>, tensor<7x1xi32>) -> tensor<7x1xi32>
  %v48 = "stablehlo.subtract"(%v47, %v44) : (tensor<7x1xi32>, tensor<7x1xi32>) -> tensor<7x1xi32>
  %v49 = "stablehlo.gather"(%v23, %v48) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<5x8xf32>, tensor<7x1xi32>) -> tensor<7x8xf32>
  %v50 = stablehlo.constant dense<0> : tensor<i32>
  %w51:2 = stablehlo.while(%v52 = %v50, %v53 = %v49) : tensor<i32>, tensor<7x8xf32>
  cond {
    %n51 = stablehlo.constant dense<2> : tensor<i32>
    %c51 = stablehlo.compare LT, %v52, %n51 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c51 : tensor<i1>
  } do {
    %v54 = stablehlo.constant dense<9> : tensor<i32>
    %v55 = stablehlo.dynamic_update_slice %v25, %v2, %v54, %v52 : (tensor<5x8xf32>, tensor<5x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
    %v56 = "stablehlo.and"(%v52, %v22) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %v57 = "stablehlo.ceil"(%v27) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %v58 = stablehlo.slice %v23 [0:5:3, 4:5:1] : (tensor<5x8xf32>) -> tensor<2x1xf32>
    %v59 = stablehlo.broadcast_in_dim %v56, dims = [] : (tensor<i32>) -> tensor<i32>
    %v60 = stablehlo.compare LT, %v56, %v59 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %v61 = stablehlo.constant dense<6> : tensor<i32>
    %v62 = stablehlo.constant dense<6> : tensor<i32>
    %v63 = stablehlo.constant dense<-0.5> : tensor<2x6xf32>
    %v64 = stablehlo.dynamic_update_slice %v53, %v63, %v61, %v62 : (tensor<7x8xf32>, tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<7x8xf32>
    %v65 = stablehlo.constant dense<1> : tensor<i32>
    %v66 = "stablehlo.add"(%v52, %v65) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %v66, %v64 : tensor<i32>, tensor<7x8xf32>
  }
  %v67 = stablehlo.optimization_barrier %w51#0 : tensor<i32>
  %v68 = stablehlo.optimization_barrier %w51#1 : tensor<7x8xf32>
  return %v68, %v67, %v49, %v26, %v41 : tensor<7x8xf32>, tensor<i32>, tensor<7x8xf32>, tensor<10x8xf32>, tensor<5x8xf32>
}
}
