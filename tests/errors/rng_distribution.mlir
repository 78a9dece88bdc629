// error: rng (NAME:4:8): its distribution must be UNIFORM or NORMAL
func.func @main(%a: tensor<f32>) -> tensor<3xf32> {
  %s = stablehlo.constant dense<[3]> : tensor<1xi64>
  %0 = "stablehlo.rng"(%a, %a, %s) <{rng_distribution = 0 : i64}> : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
