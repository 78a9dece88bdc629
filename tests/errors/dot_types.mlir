// error: dot_general (NAME:3:8): f32[2,3] and i32[3,2] to f64[2,2]: both must be floats, both integers, or all of one type
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xi32>) -> tensor<2x2xf64> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xi32>) -> tensor<2x2xf64>
  return %0 : tensor<2x2xf64>
}
