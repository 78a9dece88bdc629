// error: NAME:3:8: compare: attribute 'comparison_direction' must be EQ,NE,GE,GT,LE,LT, not LESS
func.func @main(%x: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare LESS, %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
