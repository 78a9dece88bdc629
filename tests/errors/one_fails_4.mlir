// error: device 2: check.expect_eq of i32[], at NAME:13:9: 1 of 1 elements differ, the first at []: 2 where 0 is expected
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %which = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %is_it = stablehlo.compare EQ, %which, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %k = "stablehlo.if"(%is_it) ({
        %zero = stablehlo.constant dense<0> : tensor<i32>
        stablehlo.custom_call @check.expect_eq(%which, %zero) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
        stablehlo.return %zero : tensor<i32>
      }, {
        stablehlo.return %two : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      %y = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      sdy.return %y : tensor<1xf32>
    } : () -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
