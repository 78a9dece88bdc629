// error: not supported: a region of reduce, at NAME:5:12, that uses a value from outside which is not constant: an argument of type f32[]
module @m {
  func.func public @main(%x: tensor<3xf32>, %k: tensor<f32>) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %h = stablehlo.multiply %b, %k : tensor<f32>
      %s = stablehlo.add %a, %h : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %sum : tensor<f32>
  }
}
