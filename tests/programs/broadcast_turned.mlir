// A broadcast may turn dimensions of one size: it is no copy then, in a fusion and in place.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %y = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xi32>
  %both:2 = stablehlo.optimization_barrier %x, %y : tensor<2x2xi32>, tensor<2x2xi32>
  %turned = stablehlo.broadcast_in_dim %both#0, dims = [1, 0] : (tensor<2x2xi32>) -> tensor<2x2xi32>
  %sum = stablehlo.add %turned, %both#1 : tensor<2x2xi32>
  %expected = stablehlo.constant dense<[[11, 23], [32, 44]]> : tensor<2x2xi32>
  stablehlo.custom_call @check.expect_eq(%sum, %expected) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
  %cube = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  %operands:2 = stablehlo.optimization_barrier %cube, %y : tensor<2x2x2xi32>, tensor<2x2xi32>
  %product = stablehlo.dot_general %operands#0, %operands#1, batching_dims = [1] x [0], contracting_dims = [2] x [1] : (tensor<2x2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %products = stablehlo.constant dense<[[50, 170], [250, 530]]> : tensor<2x2xi32>
  stablehlo.custom_call @check.expect_eq(%product, %products) {has_side_effect = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> ()
  func.return
}
