// ApproxTopK is answered exactly: the largest and the smallest, of floats and of integers.
func.func @largest(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func @smallest(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func @least(%a: tensor<i32>, %b: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func @main() {
  %x = stablehlo.constant dense<[[3.0, 1.0, 4.0, 1.0, 5.0], [2.0, 7.0, 1.0, 8.0, 2.0]]> : tensor<2x5xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x5xi32>
  %inf = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %r:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %inf, %none) {backend_config = "", called_computations = [@largest], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  %v = stablehlo.constant dense<[[5.0, 4.0, 3.0], [8.0, 7.0, 2.0]]> : tensor<2x3xf32>
  %w = stablehlo.constant dense<[[4, 2, 0], [3, 1, 0]]> : tensor<2x3xi32>
  stablehlo.custom_call @check.expect_eq(%r#0, %v) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  stablehlo.custom_call @check.expect_eq(%r#1, %w) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
  %s:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %inf, %none) {backend_config = "", called_computations = [@smallest], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  check.expect_eq_const %s#0, dense<[[1.0, 1.0, 3.0], [1.0, 2.0, 2.0]]> : tensor<2x3xf32>
  check.expect_eq_const %s#1, dense<[[1, 3, 0], [2, 0, 4]]> : tensor<2x3xi32>
  %n = stablehlo.constant dense<[7, -2147483648, 2147483647, -1, 0]> : tensor<5xi32>
  %k = stablehlo.iota dim = 0 : tensor<5xi32>
  %t:2 = stablehlo.custom_call @ApproxTopK(%n, %k, %none, %none) {called_computations = [@least], mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 2 : i64}} : (tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %t#0, dense<[-2147483648, -1]> : tensor<2xi32>
  check.expect_eq_const %t#1, dense<[1, 3]> : tensor<2xi32>
  func.return
}
