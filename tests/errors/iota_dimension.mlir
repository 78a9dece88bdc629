// error: iota (NAME:3:8): iota_dimension names dimension 1 of an array of rank 1
func.func @main() -> tensor<4xi32> {
  %0 = stablehlo.iota dim = 1 : tensor<4xi32>
  return %0 : tensor<4xi32>
}
