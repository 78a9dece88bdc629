// error: collective_broadcast (NAME:3:8): it gives 2 results, not 1
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_broadcast"(%a, %a) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
