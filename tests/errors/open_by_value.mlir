// error: not supported: dynamic_iota (NAME:4:8): the extents of its result depend on the values of arrays, and must follow from the shapes of the program's arguments
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %i = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %d = stablehlo.get_dimension_size %i, dim = 0 : (tensor<?xi32>) -> tensor<i32>
  return %d : tensor<i32>
}
