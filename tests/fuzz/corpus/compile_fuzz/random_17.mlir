module @grown attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%v1: tensor<4xf16>, %v2: tensor<4x1xf16>, %v3: tensor<4xf32>) -> (tensor<f16>, tensor<f16>, tensor<4x1xf16>, tensor<4x1xf16>) {
  %v4 = stablehlo.reverse %v2, dims = [1] : tensor<4x1xf16>
  %v5 = stablehlo.constant dense<0> : tensor<i32>
  %w6:3 = stablehlo.while(%v7 = %v5, %v8 = %v4, %v9 = %v4) : tensor<i32>, tensor<4x1xf16>, tensor<4x1xf16>
  cond {
    %n6 = stablehlo.constant dense<1> : tensor<i32>
    %c6 = stablehlo.compare LT, %v7, %n6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c6 : tensor<i1>
  } do {
    %v10 = stablehlo.constant dense<0> : tensor<i32>
    %v11 = stablehlo.constant dense<0.0> : tensor<0x1xf16>
    %v12 = stablehlo.dynamic_update_slice %v4, %v11, %v7, %v10 : (tensor<4x1xf16>, tensor<0x1xf16>, tensor<i32>, tensor<i32>) -> tensor<4x1xf16>
    %v13 = stablehlo.reverse %v4, dims = [0] : tensor<4x1xf16>
    %v14 = "stablehlo.add"(%v2, %v8) : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
    %v15 = "stablehlo.multiply"(%v14, %v8) : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
    %v16 = stablehlo.constant dense<1> : tensor<i32>
    %v17 = "stablehlo.add"(%v7, %v16) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %v17, %v15, %v15 : tensor<i32>, tensor<4x1xf16>, tensor<4x1xf16>
  }
  %v18 = stablehlo.optimization_barrier %w6#0 : tensor<i32>
  %v19 = stablehlo.optimization_barrier %w6#1 : tensor<4x1xf16>
  %v20 = stablehlo.optimization_barrier %w6#2 : tensor<4x1xf16>
  %v21 = stablehlo.constant dense<3> : tensor<i32>
  %w22:1 = "stablehlo.case"(%v21) ({
    stablehlo.return %v19 : tensor<4x1xf16>
  }, {
    %v24 = stablehlo.constant dense<1.0> : tensor<4xf16>
    %v23 = stablehlo.compare EQ, %v1, %v1 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi1>
    %v25 = stablehlo.select %v23, %v1, %v24 : tensor<4xi1>, tensor<4xf16>
    %v26 = stablehlo.constant dense<-8.0> : tensor<4xf16>
    %v27 = stablehlo.constant dense<8.0> : tensor<4xf16>
    %v28 = "stablehlo.maximum"(%v25, %v26) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    %v29 = "stablehlo.minimum"(%v28, %v27) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    %v30 = "stablehlo.multiply"(%v29, %v27) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    %v31 = "stablehlo.floor"(%v30) : (tensor<4xf16>) -> tensor<4xf16>
    %v32 = stablehlo.constant dense<0.0> : tensor<4xf16>
    %v33 = "stablehlo.add"(%v31, %v32) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    %v34 = stablehlo.constant dense<0.125> : tensor<4xf16>
    %v35 = "stablehlo.multiply"(%v33, %v34) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    %v36 = stablehlo.constant dense<0.0> : tensor<f16>
    %v37 = stablehlo.reduce(%v35 init: %v36) applies stablehlo.add across dimensions = [0] : (tensor<4xf16>, tensor<f16>) -> tensor<f16>
    %v38 = stablehlo.broadcast_in_dim %v37, dims = [] : (tensor<f16>) -> tensor<4xf16>
    %v39 = "stablehlo.subtract"(%v1, %v38) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    %v40 = "stablehlo.add"(%v19, %v20) : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
    stablehlo.return %v40 : tensor<4x1xf16>
  }) : (tensor<i32>) -> (tensor<4x1xf16>)
  %v41 = stablehlo.optimization_barrier %w22#0 : tensor<4x1xf16>
  %v42 = "stablehlo.abs"(%v20) : (tensor<4x1xf16>) -> tensor<4x1xf16>
  %v43 = stablehlo.constant dense<1.0> : tensor<f16>
  %v44 = stablehlo.reduce(%v41 init: %v43) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x1xf16>, tensor<f16>) -> tensor<f16>
  %v45 = "stablehlo.reshape"(%v4) : (tensor<4x1xf16>) -> tensor<4xf16>
  %v47 = stablehlo.constant dense<1.0> : tensor<4x1xf16>
  %v46 = stablehlo.compare EQ, %v42, %v42 : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xi1>
  %v48 = stablehlo.select %v46, %v42, %v47 : tensor<4x1xi1>, tensor<4x1xf16>
  %v49 = stablehlo.constant dense<-8.0> : tensor<4x1xf16>
  %v50 = stablehlo.constant dense<8.0> : tensor<4x1xf16>
  %v51 = "stablehlo.maximum"(%v48, %v49) : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
  %v52 = "stablehlo.minimum"(%v51, %v50) : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
  %v53 = "stablehlo.multiply"(%v52, %v50) : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
  %v54 = "stablehlo.floor"(%v53) : (tensor<4x1xf16>) -> tensor<4x1xf16>
  %v55 = stablehlo.constant dense<0.0> : tensor<4x1xf16>
  %v56 = "stablehlo.add"(%v54, %v55) : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
  %v57 = stablehlo.constant dense<0.125> : tensor<4x1xf16>
  %v58 = "stablehlo.multiply"(%v56, %v57) : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
  %v59 = stablehlo.constant dense<0.0> : tensor<f16>
  %v60 = stablehlo.reduce(%v58 init: %v59) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf16>, tensor<f16>) -> tensor<f16>
  %v61 = "stablehlo.add"(%v42, %v20) : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
  return %v60, %v44, %v42, %v41 : tensor<f16>, tensor<f16>, tensor<4x1xf16>, tensor<4x1xf16>
}
}
