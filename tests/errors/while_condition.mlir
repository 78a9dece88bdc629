// error: while (NAME:3:8): cond must give one i1
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%c = %x) : tensor<i32>
  cond {
    stablehlo.return %c : tensor<i32>
  } do {
    stablehlo.return %c : tensor<i32>
  }
  return %0 : tensor<i32>
}
