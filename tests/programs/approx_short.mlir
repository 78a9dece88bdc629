// A comparator that has an operation which stands for others: what is finite comes first.
func.func private @first(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %far = chlo.is_inf %b : tensor<f32> -> tensor<i1>
  %more = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %here = chlo.is_inf %a : tensor<f32> -> tensor<i1>
  %stays = stablehlo.not %here : tensor<i1>
  %wins = stablehlo.or %far, %more : tensor<i1>
  %both = stablehlo.and %wins, %stays : tensor<i1>
  return %both : tensor<i1>
}
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 0x7F800000, 3.0, 2.0]> : tensor<4xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %z, %m) {called_computations = [@first], mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 2 : i64}} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[3.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %0#1, dense<[2, 3]> : tensor<2xi32>
  return
}
