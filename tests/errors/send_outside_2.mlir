// error: send (NAME:10:12): source_target_pairs names 5; there are 2 partitions, 0 to 1
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main() -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %which = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %t = stablehlo.create_token : !stablehlo.token
      %s = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 5]]> : tensor<1x2xi64>}> : (tensor<1xf32>, !stablehlo.token) -> !stablehlo.token
      sdy.return %x : tensor<1xf32>
    } : () -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
