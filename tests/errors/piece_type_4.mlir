// error: sdy.manual_computation: a piece of f32[4] is f32[1], but its body has f32[2], at NAME:5:10
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %y = stablehlo.constant dense<1.0> : tensor<2xf32>
      sdy.return %y : tensor<2xf32>
    } : () -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
