// A value in parts: outside of manual computations it is their sum; another manual computation
// that asks for the parts gets just these.
module @unreduced attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main() -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>}) {
    %parts = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"x"}], unreduced={"y"}>] manual_axes={"x", "y"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %mine = stablehlo.reshape %f : (tensor<f32>) -> tensor<1xf32>
      sdy.return %mine : tensor<1xf32>
    } : () -> tensor<2xf32>
    %sum = stablehlo.constant dense<[1.0, 5.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_eq(%parts, %sum) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %twice = stablehlo.add %parts, %parts : tensor<2xf32>
    %sums = stablehlo.constant dense<[2.0, 10.0]> : tensor<2xf32>
    stablehlo.custom_call @check.expect_eq(%twice, %sums) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %again = sdy.manual_computation(%parts, %twice) in_shardings=[<@mesh, [{"x"}], unreduced={"y"}>, <@mesh, [{"x"}], unreduced={"y"}>] out_shardings=[<@mesh, [{"x"}], unreduced={"y"}>] manual_axes={"x", "y"} (%a: tensor<1xf32>, %b: tensor<1xf32>) {
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %mine = stablehlo.reshape %f : (tensor<f32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%a, %mine) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %all = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      %two = stablehlo.constant dense<2> : tensor<ui32>
      %early = stablehlo.compare LT, %id, %two : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %t = stablehlo.constant dense<2.0> : tensor<1xf32>
      %u = stablehlo.constant dense<10.0> : tensor<1xf32>
      %want = stablehlo.select %early, %t, %u : tensor<i1>, tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%all, %want) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      sdy.return %a : tensor<1xf32>
    } : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %again : tensor<2xf32>
  }
}
