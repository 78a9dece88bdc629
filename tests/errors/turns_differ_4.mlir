// error: all_reduce (NAME:19:14): device 3 does not come: it has finished; 0 1 2 wait
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %c3 = stablehlo.constant dense<3> : tensor<ui32>
      %is = stablehlo.compare EQ, %id, %c3 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %n = stablehlo.select %is, %one, %two : tensor<i1>, tensor<i32>
      %w:2 = stablehlo.while(%k = %zero, %v = %x) : tensor<i32>, tensor<1xf32>
      cond {
        %go = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %u = "stablehlo.all_reduce"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }) : (tensor<1xf32>) -> tensor<1xf32>
        %k1 = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %k1, %u : tensor<i32>, tensor<1xf32>
      }
      %y = stablehlo.negate %w#1 : tensor<1xf32>
      sdy.return %y : tensor<1xf32>
    } : () -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
