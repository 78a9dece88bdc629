// Infinity on one device and minus infinity on the other: the sum makes the NaN.
module @sum attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) -> tensor<1xf32> {
    %y = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"i"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"i"} (%mine: tensor<1xf32>) {
      %id = stablehlo.partition_id : tensor<ui32>
      %sign = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %half = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %side = stablehlo.subtract %sign, %half : tensor<f32>
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %far = stablehlo.divide %side, %zero : tensor<f32>
      %one = stablehlo.reshape %far : (tensor<f32>) -> tensor<1xf32>
      %sum = "stablehlo.all_reduce"(%one) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %r = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      %next = stablehlo.exponential %sum : tensor<1xf32>
      sdy.return %next : tensor<1xf32>
    } : (tensor<2xf32>) -> tensor<1xf32>
    return %y : tensor<1xf32>
  }
}
