// error: dynamic_reshape (NAME:4:8): the extents are i32[1]: they must be 2 integers
func.func @main(%x: tensor<?xf32>) -> tensor<?x2xf32> {
  %s = stablehlo.constant dense<3> : tensor<1xi32>
  %i = stablehlo.dynamic_reshape %x, %s : (tensor<?xf32>, tensor<1xi32>) -> tensor<?x2xf32>
  return %i : tensor<?x2xf32>
}
