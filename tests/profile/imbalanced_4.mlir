// Two sums.  Before the first device 1 has much to do, before the second device 3 has a fifteenth of it: it is the first
// sum at which most is waited, and no one device is to blame for both.
module @imbalanced attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %y = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %start = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %few = stablehlo.constant dense<3000> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %who0 = stablehlo.constant dense<1> : tensor<ui32>
      %is0 = stablehlo.compare EQ, %id, %who0 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %many0 = stablehlo.constant dense<9000000> : tensor<i32>
      %turns0 = stablehlo.select %is0, %many0, %few : tensor<i1>, tensor<i32>
      %loop0:2 = stablehlo.while(%k = %zero, %x = %start) : tensor<i32>, tensor<f32>
      cond {
        %go = stablehlo.compare LT, %k, %turns0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %next = stablehlo.sine %x : tensor<f32>
        %k1 = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %k1, %next : tensor<i32>, tensor<f32>
      }
      %first = "stablehlo.all_reduce"(%loop0#1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %r = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %who1 = stablehlo.constant dense<3> : tensor<ui32>
      %is1 = stablehlo.compare EQ, %id, %who1 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %many1 = stablehlo.constant dense<600000> : tensor<i32>
      %turns1 = stablehlo.select %is1, %many1, %few : tensor<i1>, tensor<i32>
      %loop1:2 = stablehlo.while(%k = %zero, %x = %first) : tensor<i32>, tensor<f32>
      cond {
        %go = stablehlo.compare LT, %k, %turns1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %next = stablehlo.sine %x : tensor<f32>
        %k1 = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %k1, %next : tensor<i32>, tensor<f32>
      }
      %second = "stablehlo.all_reduce"(%loop1#1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %r = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %out = stablehlo.reshape %second : (tensor<f32>) -> tensor<1xf32>
      sdy.return %out : tensor<1xf32>
    } : () -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
