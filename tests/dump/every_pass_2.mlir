// Every pass that changes the module finds something to do here; tests/dump.sh looks at each.
module @every_pass attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>},
                         %p: tensor<128x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
      -> (tensor<128x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<4x4xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x4xf32>) {
    // refine: a call.
    %y = call @double(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // sink_captures: a reducer that uses a value computed outside.  simplify: the value is a constant.
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %quarter = stablehlo.multiply %half, %half : tensor<f32>
    %rows = "stablehlo.reduce"(%y, %zero) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %h = stablehlo.multiply %b, %quarter : tensor<f32>
      %s = stablehlo.add %a, %h : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    // place: a manual computation.  join_collectives: two sums over the same devices.
    %sums:2 = sdy.manual_computation(%rows) in_shardings=[<@mesh, [{"i"}]>] out_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] manual_axes={"i"} (%r: tensor<2xf32>) {
      %one = "stablehlo.all_reduce"(%r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2xf32>) -> tensor<2xf32>
      %n = stablehlo.negate %r : tensor<2xf32>
      %two = "stablehlo.all_reduce"(%n) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2xf32>) -> tensor<2xf32>
      sdy.return %one, %two : tensor<2xf32>, tensor<2xf32>
    } : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    // drop_barriers: one of them.
    %apart = stablehlo.optimization_barrier %sums#1 : tensor<2xf32>
    // hoist_replicated: 128 KiB that both devices would compute alike.
    %wide = stablehlo.broadcast_in_dim %sums#0, dims = [0] : (tensor<2xf32>) -> tensor<2x16384xf32>
    %grid = stablehlo.reshape %wide : (tensor<2x16384xf32>) -> tensor<128x256xf32>
    %new = stablehlo.subtract %p, %grid : tensor<128x256xf32>
    // drop_invariant_carries: %w never changes.
    // polish: products so small that a loop does them better.
    %w0 = stablehlo.broadcast_in_dim %apart, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %z0 = stablehlo.slice %y [0:4, 0:4] : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %loop:3 = stablehlo.while(%i = %c0, %w = %w0, %z = %z0) : tensor<i32>, tensor<2x4xf32>, tensor<4x4xf32>
    cond {
      %c3 = stablehlo.constant dense<3> : tensor<i32>
      %go = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %c1 : tensor<i32>
      %d = stablehlo.dot_general %w, %w, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
      %t = stablehlo.add %z, %d : tensor<4x4xf32>
      stablehlo.return %next, %w, %t : tensor<i32>, tensor<2x4xf32>, tensor<4x4xf32>
    }
    // split_columns: two columns are put together, negated, and one is taken.
    %k0 = stablehlo.slice %loop#2 [0:4, 0:1] : (tensor<4x4xf32>) -> tensor<4x1xf32>
    %k1 = stablehlo.slice %loop#2 [0:4, 1:2] : (tensor<4x4xf32>) -> tensor<4x1xf32>
    %both = stablehlo.concatenate %k1, %k0, dim = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
    %less = stablehlo.negate %both : tensor<4x2xf32>
    %k = stablehlo.slice %less [0:4, 0:1] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    // unroll_rotations: five rounds, of which one stands before the loop, and two are its body.
    %u0 = stablehlo.broadcast_in_dim %y, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x1024xf32>
    %v0 = stablehlo.negate %u0 : tensor<4x8x1024xf32>
    %turned:3 = stablehlo.while(%j = %c0, %u = %u0, %v = %v0) : tensor<i32>, tensor<4x8x1024xf32>, tensor<4x8x1024xf32>
    cond {
      %c5 = stablehlo.constant dense<5> : tensor<i32>
      %go = stablehlo.compare LT, %j, %c5 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %j, %c1 : tensor<i32>
      %s = stablehlo.sine %u : tensor<4x8x1024xf32>
      stablehlo.return %next, %v, %s : tensor<i32>, tensor<4x8x1024xf32>, tensor<4x8x1024xf32>
    }
    %t1 = stablehlo.slice %turned#1 [0:4, 0:1, 0:1] : (tensor<4x8x1024xf32>) -> tensor<4x1x1xf32>
    %t = stablehlo.reshape %t1 : (tensor<4x1x1xf32>) -> tensor<4x1xf32>
    // overwrite_rows: rows of %m that come from rows of %m, one by one.
    %c2 = stablehlo.constant dense<2> : tensor<i32>
    %m0 = stablehlo.slice %p [0:4, 0:4] : (tensor<128x256xf32>) -> tensor<4x4xf32>
    %around:2 = stablehlo.while(%j = %c0, %m = %m0) : tensor<i32>, tensor<4x4xf32>
    cond {
      %go = stablehlo.compare LT, %j, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %c4 = stablehlo.constant dense<4> : tensor<i32>
      %none = stablehlo.constant dense<7.0> : tensor<4x4xf32>
      %row:2 = stablehlo.while(%i = %c0, %stack = %none) : tensor<i32>, tensor<4x4xf32>
      cond {
        %go = stablehlo.compare LT, %i, %c4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %taken = stablehlo.dynamic_slice %m, %i, %c0, sizes = [1, 4] : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
        %root = stablehlo.cbrt %taken : tensor<1x4xf32>
        %stacked = stablehlo.dynamic_update_slice %stack, %root, %i, %c0 : (tensor<4x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
        %next = stablehlo.add %i, %c1 : tensor<i32>
        stablehlo.return %next, %stacked : tensor<i32>, tensor<4x4xf32>
      }
      %next = stablehlo.add %j, %c1 : tensor<i32>
      stablehlo.return %next, %row#1 : tensor<i32>, tensor<4x4xf32>
    }
    return %new, %loop#2, %k, %t, %around#1 : tensor<128x256xf32>, tensor<4x4xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x4xf32>
  }
  func.func private @double(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %b = stablehlo.add %x, %x : tensor<4x8xf32>
    return %b : tensor<4x8xf32>
  }
}
