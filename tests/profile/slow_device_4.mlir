// Device 2 goes round its loop a thousand times as often as the others, between two sums: some 100 ms,
// beside which what a thread loses to other programs is little.  Before the first sum all do the same.
module @slow_device attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %y = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %start = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %even = "stablehlo.all_reduce"(%start) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %r = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %two = stablehlo.constant dense<2> : tensor<ui32>
      %is_slow = stablehlo.compare EQ, %id, %two : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %many = stablehlo.constant dense<6000000> : tensor<i32>
      %few = stablehlo.constant dense<6000> : tensor<i32>
      %turns = stablehlo.select %is_slow, %many, %few : tensor<i1>, tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %loop:2 = stablehlo.while(%k = %zero, %x = %even) : tensor<i32>, tensor<f32>
      cond {
        %go = stablehlo.compare LT, %k, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %next = stablehlo.sine %x : tensor<f32>
        %k1 = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %k1, %next : tensor<i32>, tensor<f32>
      }
      %sum = "stablehlo.all_reduce"(%loop#1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %r = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %out = stablehlo.reshape %sum : (tensor<f32>) -> tensor<1xf32>
      sdy.return %out : tensor<1xf32>
    } : () -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
