// Regions of scalars that use values from outside: constants, and what is computed from them.
module @captured {
  func.func public @main() {
    %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %quarter = stablehlo.multiply %half, %half : tensor<f32>
    %sum = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %h = stablehlo.multiply %b, %quarter : tensor<f32>
      %s = stablehlo.add %a, %h : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %expected = stablehlo.constant dense<[1.5, 3.75]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_eq(%sum, %expected) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %sorted = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %three = stablehlo.constant dense<3.0> : tensor<f32>
      %p = stablehlo.subtract %a, %three : tensor<f32>
      %q = stablehlo.subtract %b, %three : tensor<f32>
      %pp = stablehlo.multiply %p, %half : tensor<f32>
      %qq = stablehlo.multiply %q, %half : tensor<f32>
      %c = stablehlo.compare GT, %pp, %qq : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %falling = stablehlo.constant dense<[[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]> : tensor<2x3xf32>
    stablehlo.custom_call @check.expect_eq(%sorted, %falling) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return
  }
}
