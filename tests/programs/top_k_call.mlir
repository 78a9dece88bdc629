// The custom calls that XLA writes top_k as: by attributes, by a comparator, as results and as a
// tuple; the largest and the smallest, of equals the first.  The numbers are NumPy's (argsort).
func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @lesser(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %b, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func @main() {
  %x = stablehlo.constant dense<[[3.0, 1.0, 4.0, 1.0, 5.0, 9.0], [2.0, 6.0, 5.0, 3.0, 5.0, 8.0]]> : tensor<2x6xf32>
  %most = stablehlo.constant dense<[[9.0, 5.0, 4.0], [8.0, 6.0, 5.0]]> : tensor<2x3xf32>
  %most_at = stablehlo.constant dense<[[5, 4, 2], [5, 1, 2]]> : tensor<2x3xi32>
  %least = stablehlo.constant dense<[[1.0, 1.0, 3.0], [2.0, 3.0, 5.0]]> : tensor<2x3xf32>
  %least_at = stablehlo.constant dense<[[1, 3, 0], [0, 3, 2]]> : tensor<2x3xi32>

  %a:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  stablehlo.custom_call @check.expect_eq(%a#0, %most) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  stablehlo.custom_call @check.expect_eq(%a#1, %most_at) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
  %b:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = false}} : (tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  stablehlo.custom_call @check.expect_eq(%b#0, %least) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  stablehlo.custom_call @check.expect_eq(%b#1, %least_at) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()

  %t = stablehlo.custom_call @TopK(%x) {called_computations = [@greater]} : (tensor<2x6xf32>) -> tuple<tensor<2x3xf32>, tensor<2x3xi32>>
  %t0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2x3xf32>, tensor<2x3xi32>>) -> tensor<2x3xf32>
  %t1 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2x3xf32>, tensor<2x3xi32>>) -> tensor<2x3xi32>
  stablehlo.custom_call @check.expect_eq(%t0, %most) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  stablehlo.custom_call @check.expect_eq(%t1, %most_at) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
  %c:2 = stablehlo.custom_call @TopK(%x) {called_computations = [@lesser]} : (tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  stablehlo.custom_call @check.expect_eq(%c#0, %least) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  stablehlo.custom_call @check.expect_eq(%c#1, %least_at) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()

  %y = stablehlo.constant dense<[-128, 7, 127, -1, 7, -128]> : tensor<6xi8>
  %d:2 = stablehlo.custom_call @mhlo.topk(%y) {mhlo.attributes = {k = 4 : i64, largest = false}} : (tensor<6xi8>) -> (tensor<4xi8>, tensor<4xi32>)
  %low = stablehlo.constant dense<[-128, -128, -1, 7]> : tensor<4xi8>
  %low_at = stablehlo.constant dense<[0, 5, 3, 1]> : tensor<4xi32>
  stablehlo.custom_call @check.expect_eq(%d#0, %low) {has_side_effect = true} : (tensor<4xi8>, tensor<4xi8>) -> ()
  stablehlo.custom_call @check.expect_eq(%d#1, %low_at) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
  %u = stablehlo.constant dense<[0, 4294967295, 5, 7]> : tensor<4xui32>
  %e:2 = stablehlo.custom_call @mhlo.topk(%u) {mhlo.attributes = {k = 2 : i64, largest = false}} : (tensor<4xui32>) -> (tensor<2xui32>, tensor<2xi32>)
  %few = stablehlo.constant dense<[0, 5]> : tensor<2xui32>
  %few_at = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
  stablehlo.custom_call @check.expect_eq(%e#0, %few) {has_side_effect = true} : (tensor<2xui32>, tensor<2xui32>) -> ()
  stablehlo.custom_call @check.expect_eq(%e#1, %few_at) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()
  func.return
}
