// error: all_reduce (NAME:21:14): device 0 does not come: it waits in all_reduce (NAME:14:14); 2 waits all_reduce (NAME:21:14): device 3 does not come: it waits in all_reduce (NAME:14:14); 1 waits all_reduce (NAME:14:14): device 1 does not come: it waits in all_reduce (NAME:21:14); 0 waits all_reduce (NAME:14:14): device 2 does not come: it waits in all_reduce (NAME:21:14); 3 waits
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %c0 = stablehlo.constant dense<0> : tensor<ui32>
      %c3 = stablehlo.constant dense<3> : tensor<ui32>
      %is0 = stablehlo.compare EQ, %id, %c0 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %is3 = stablehlo.compare EQ, %id, %c3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %is = stablehlo.or %is0, %is3 : tensor<i1>
      %y = "stablehlo.if"(%is) ({
        %p = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }) : (tensor<1xf32>) -> tensor<1xf32>
        stablehlo.return %p : tensor<1xf32>
      }, {
        %p = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }) : (tensor<1xf32>) -> tensor<1xf32>
        stablehlo.return %p : tensor<1xf32>
      }) : (tensor<i1>) -> tensor<1xf32>
      sdy.return %y : tensor<1xf32>
    } : () -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
