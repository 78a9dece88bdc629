// error: channel 1 from device 0 to device 1: send (NAME:11:12) gives f32[3] and recv (NAME:12:14) takes f32[1]
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main() -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %which = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %t = stablehlo.create_token : !stablehlo.token
      %w = stablehlo.constant dense<1.0> : tensor<3xf32>
      %s = "stablehlo.send"(%w, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<3xf32>, !stablehlo.token) -> !stablehlo.token
      %y:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<1xf32>, !stablehlo.token)
      sdy.return %y#0 : tensor<1xf32>
    } : () -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
