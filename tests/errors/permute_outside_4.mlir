// error: collective_permute (NAME:8:12): source_target_pairs names 9; there are 4 partitions, 0 to 3
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %y = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 9]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<1xf32>) -> tensor<1xf32>
      sdy.return %y : tensor<1xf32>
    } : () -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
