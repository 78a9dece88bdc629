// error: rng_bit_generator (NAME:3:12): state ui64[3]: it must be ui64[2]
func.func @main(%s: tensor<3xui64>) -> tensor<4xui32> {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return %1 : tensor<4xui32>
}
