// error: rows: 4, and a multiple of 3 is needed
func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<4x2xf32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4x2xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %r = stablehlo.remainder %n, %three : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %p = stablehlo.compare EQ, %r, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%p, %n, %three) {api_version = 2 : i32, error_message = "rows: {0}, and a multiple of {1} is needed", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  return
}
