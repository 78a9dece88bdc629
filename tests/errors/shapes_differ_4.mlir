// error: all_reduce (NAME:22:14): device 1 comes here while device 0 of its group waits in all_reduce (NAME:14:14); all members must meet in the same order
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %which = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %is_first = stablehlo.compare EQ, %which, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %y = "stablehlo.if"(%is_first) ({
        %w = stablehlo.constant dense<1.0> : tensor<2xf32>
        %n = stablehlo.constant dense<1.0> : tensor<1xf32>
        %q = "stablehlo.all_reduce"(%w) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %c = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %c : tensor<f32>
        }) : (tensor<2xf32>) -> tensor<2xf32>
        %h = stablehlo.slice %q [0:1] : (tensor<2xf32>) -> tensor<1xf32>
        stablehlo.return %h : tensor<1xf32>
      }, {
        %q = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %c = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %c : tensor<f32>
        }) : (tensor<1xf32>) -> tensor<1xf32>
        stablehlo.return %q : tensor<1xf32>
      }) : (tensor<i1>) -> tensor<1xf32>
      sdy.return %y : tensor<1xf32>
    } : () -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
