// error: all_reduce (NAME:12:16): device 3 does not come: it has finished; 0 1 2 wait
module @skips attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %y = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %three = stablehlo.constant dense<3> : tensor<ui32>
      %is = stablehlo.compare EQ, %id, %three : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %branch = stablehlo.convert %is : (tensor<i1>) -> tensor<i32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %y = "stablehlo.case"(%branch) ({
        %sum = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %r = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %r : tensor<f32>
        }) : (tensor<f32>) -> tensor<f32>
        stablehlo.return %sum : tensor<f32>
      }, {
        stablehlo.return %x : tensor<f32>
      }) : (tensor<i32>) -> tensor<f32>
      %out = stablehlo.reshape %y : (tensor<f32>) -> tensor<1xf32>
      sdy.return %out : tensor<1xf32>
    } : () -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
