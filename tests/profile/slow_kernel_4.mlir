// One product among small operations takes nearly all of the time.
module @slow_kernel attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main(%x: tensor<2048x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}, %w: tensor<512x512xf32>) -> tensor<512xf32> {
    %y = sdy.manual_computation(%x, %w) in_shardings=[<@mesh, [{"i"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"i"} (%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) {
      %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %d = stablehlo.dot_general %c, %b, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %e = stablehlo.slice %d [0:1, 0:512] : (tensor<512x512xf32>) -> tensor<1x512xf32>
      %f = stablehlo.reshape %e : (tensor<1x512xf32>) -> tensor<512xf32>
      %g = stablehlo.tanh %f : tensor<512xf32>
      %sum = "stablehlo.all_reduce"(%g) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %r = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }) : (tensor<512xf32>) -> tensor<512xf32>
      sdy.return %sum : tensor<512xf32>
    } : (tensor<2048x512xf32>, tensor<512x512xf32>) -> tensor<512xf32>
    return %y : tensor<512xf32>
  }
}
