// error: custom_call @tutti.local.inspect.0, at NAME:5:5: no function has that name
module @m attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main() {
    %x = stablehlo.constant dense<1.0> : tensor<4xf32>
    stablehlo.custom_call @tutti.local.inspect.0(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
    return
  }
}
