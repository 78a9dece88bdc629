// error: not supported: custom_call @InspectSharding, at NAME:5:10: nobody has defined it; a C program does with tt_define_call
module @m attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main() {
    %x = stablehlo.constant dense<1.0> : tensor<4xf32>
    %y = stablehlo.custom_call @InspectSharding(%x) {has_side_effect = true, backend_config = "0123456789abcdef", api_version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}
