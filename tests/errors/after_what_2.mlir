// error: after_all (NAME:9:12): operand 0 is f32[1], and must be a token
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main() -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %which = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %t = "stablehlo.after_all"(%x) : (tensor<1xf32>) -> !stablehlo.token
      sdy.return %x : tensor<1xf32>
    } : () -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
