// One of each form that the reader knows.
#l = loc("f.py":1:2)
!v = tensor<4xf32>
module @forms attributes {mhlo.num_partitions = 2 : i32, x.list = [1, -2.5 : f32, true, unit, "a\22", @f, i32, {k = dense<[[1], [2]]> : tensor<2x1xi64>}]} {
  sdy.mesh @mesh = <["a"=2, "b"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
  func.func public @main(%a: !v {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}], replicated={"b"}>} loc(#l), %i: tensor<i32>, %s: tensor<f32>, %p: tensor<i1>) -> (tensor<4xf32> {jax.result_info = ""}) {
    %c = stablehlo.constant dense<"0x0000803F000000400000404000008040"> : tensor<4xf32> loc("n"(callsite(#l at #m)))
    %z = stablehlo.constant dense<[(1.0,0x7F800000), (-2.5e-3,0.0)]> : tensor<2xcomplex<f32>>
    %0 = stablehlo.add %a, %c {mhlo.x = #foo.bar<[(1)] -> "z">} : tensor<4xf32>
    %1 = stablehlo.compare LT, %0, %a, FLOAT : (!v, !v) -> tensor<4xi1>
    %2 = stablehlo.select %1, %0, %a : tensor<4xi1>, tensor<4xf32>
    %3 = stablehlo.slice %2 [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>
    %4 = stablehlo.pad %3, %s, low = [-1], high = [2], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
    %6 = stablehlo.dot_general %5, %4, batching_dims = [] x [], contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
    %7 = stablehlo.reduce(%5 init: %s) applies stablehlo.maximum across dimensions = [0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<4xf32>
    %8:2 = stablehlo.while(%x = %i, %y = %7) : tensor<i32>, tensor<4xf32> cond {
      stablehlo.return %p : tensor<i1>
    } do {
      %t = func.call @f(%y) : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %x, %t : tensor<i32>, tensor<4xf32>
    }
    %9 = "stablehlo.case"(%i) ({
      stablehlo.return %a : tensor<4xf32>
    }, {
      stablehlo.return %c : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %10 = sdy.manual_computation(%9) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a", "b"} (%m: tensor<2xf32>) {
      %11 = "stablehlo.all_reduce"(%m) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%q: tensor<f32>, %r: tensor<f32>):
        %12 = stablehlo.add %q, %r : tensor<f32>
        stablehlo.return %12 : tensor<f32>
      }) : (tensor<2xf32>) -> tensor<2xf32>
      sdy.return %11 : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %13 = sdy.sharding_constraint %10 <@mesh, [{"b":(1)2}p1]> : tensor<4xf32>
    %14 = stablehlo.composite "c" %13 {composite_attributes = {n = 1 : i64}, decomposition = @f, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %15 = stablehlo.custom_call @t(%14) {api_version = 4 : i32, backend_config = {}, has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
    return %15 : tensor<4xf32>
  }
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>
    %1 = stablehlo.iota dim = 0 : tensor<4xf32>
    %2 = "stablehlo.sort"(%1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %3 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
#m = loc(fused["g.py":3:4, unknown])
