// error: async_start (NAME:9:12): its region must take its operands and give what the future holds
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main() -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %which = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %s = "stablehlo.async_start"(%x) ({
      ^bb0(%a: tensor<1xf32>):
        %b = stablehlo.add %a, %a : tensor<1xf32>
        stablehlo.return %b : tensor<1xf32>
      }) : (tensor<1xf32>) -> !stablehlo.future<tensor<2xf32>>
      %y = "stablehlo.async_done"(%s) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
      sdy.return %x : tensor<1xf32>
    } : () -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
