// Reductions of few elements, which become operations on the arrays that these are of, against those written out.
module @short_reductions {
  func.func public @main() {
    %n = stablehlo.iota dim = 0 : tensor<300x4xi32>
    %m = stablehlo.iota dim = 1 : tensor<300x4xi32>
    %seven = stablehlo.constant dense<7> : tensor<300x4xi32>
    %five = stablehlo.constant dense<5> : tensor<300x4xi32>
    %eleven = stablehlo.constant dense<11> : tensor<300x4xi32>
    %a = stablehlo.multiply %n, %seven : tensor<300x4xi32>
    %b = stablehlo.multiply %m, %five : tensor<300x4xi32>
    %c = stablehlo.add %a, %b : tensor<300x4xi32>
    %d = stablehlo.remainder %c, %eleven : tensor<300x4xi32>
    %e = stablehlo.subtract %d, %five : tensor<300x4xi32>
    %f = stablehlo.convert %e : (tensor<300x4xi32>) -> tensor<300x4xf32>
    %x = stablehlo.optimization_barrier %f : tensor<300x4xf32>
    %s0 = stablehlo.slice %x [0:300, 0:1] : (tensor<300x4xf32>) -> tensor<300x1xf32>
    %x0 = stablehlo.reshape %s0 : (tensor<300x1xf32>) -> tensor<300xf32>
    %s1 = stablehlo.slice %x [0:300, 1:2] : (tensor<300x4xf32>) -> tensor<300x1xf32>
    %x1 = stablehlo.reshape %s1 : (tensor<300x1xf32>) -> tensor<300xf32>
    %s2 = stablehlo.slice %x [0:300, 2:3] : (tensor<300x4xf32>) -> tensor<300x1xf32>
    %x2 = stablehlo.reshape %s2 : (tensor<300x1xf32>) -> tensor<300xf32>
    %s3 = stablehlo.slice %x [0:300, 3:4] : (tensor<300x4xf32>) -> tensor<300x1xf32>
    %x3 = stablehlo.reshape %s3 : (tensor<300x1xf32>) -> tensor<300xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %low = stablehlo.constant dense<-3.0> : tensor<f32>
    // neighbours in memory
    %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<300x4xf32>, tensor<f32>) -> tensor<300xf32>
    %mxw_i = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<300xf32>
    %mxw_0 = stablehlo.maximum %mxw_i, %x0 : tensor<300xf32>
    %mxw_1 = stablehlo.maximum %mxw_0, %x1 : tensor<300xf32>
    %mxw_2 = stablehlo.maximum %mxw_1, %x2 : tensor<300xf32>
    %mxw_3 = stablehlo.maximum %mxw_2, %x3 : tensor<300xf32>
    check.expect_eq %mx, %mxw_3 : tensor<300xf32>
    %ad = stablehlo.reduce(%x init: %one) applies stablehlo.add across dimensions = [1] : (tensor<300x4xf32>, tensor<f32>) -> tensor<300xf32>
    %adw_i = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<300xf32>
    %adw_0 = stablehlo.add %adw_i, %x0 : tensor<300xf32>
    %adw_1 = stablehlo.add %adw_0, %x1 : tensor<300xf32>
    %adw_2 = stablehlo.add %adw_1, %x2 : tensor<300xf32>
    %adw_3 = stablehlo.add %adw_2, %x3 : tensor<300xf32>
    check.expect_eq %ad, %adw_3 : tensor<300xf32>
    %mu = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [1] : (tensor<300x4xf32>, tensor<f32>) -> tensor<300xf32>
    %muw_i = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<300xf32>
    %muw_0 = stablehlo.multiply %muw_i, %x0 : tensor<300xf32>
    %muw_1 = stablehlo.multiply %muw_0, %x1 : tensor<300xf32>
    %muw_2 = stablehlo.multiply %muw_1, %x2 : tensor<300xf32>
    %muw_3 = stablehlo.multiply %muw_2, %x3 : tensor<300xf32>
    check.expect_eq %mu, %muw_3 : tensor<300xf32>
    // what joins arrays, computed with on the way
    %r0 = stablehlo.reshape %x0 : (tensor<300xf32>) -> tensor<300x1xf32>
    %k0 = stablehlo.constant dense<1.0> : tensor<300x1xf32>
    %q0 = stablehlo.multiply %r0, %k0 : tensor<300x1xf32>
    %r1 = stablehlo.reshape %x1 : (tensor<300xf32>) -> tensor<300x1xf32>
    %k1 = stablehlo.constant dense<2.0> : tensor<300x1xf32>
    %q1 = stablehlo.multiply %r1, %k1 : tensor<300x1xf32>
    %r2 = stablehlo.reshape %x2 : (tensor<300xf32>) -> tensor<300x1xf32>
    %k2 = stablehlo.constant dense<3.0> : tensor<300x1xf32>
    %q2 = stablehlo.multiply %r2, %k2 : tensor<300x1xf32>
    %r3 = stablehlo.reshape %x3 : (tensor<300xf32>) -> tensor<300x1xf32>
    %k3 = stablehlo.constant dense<4.0> : tensor<300x1xf32>
    %q3 = stablehlo.multiply %r3, %k3 : tensor<300x1xf32>
    %r4 = stablehlo.reshape %x0 : (tensor<300xf32>) -> tensor<300x1xf32>
    %k4 = stablehlo.constant dense<5.0> : tensor<300x1xf32>
    %q4 = stablehlo.multiply %r4, %k4 : tensor<300x1xf32>
    %r5 = stablehlo.reshape %x1 : (tensor<300xf32>) -> tensor<300x1xf32>
    %k5 = stablehlo.constant dense<6.0> : tensor<300x1xf32>
    %q5 = stablehlo.multiply %r5, %k5 : tensor<300x1xf32>
    %r6 = stablehlo.reshape %x2 : (tensor<300xf32>) -> tensor<300x1xf32>
    %k6 = stablehlo.constant dense<7.0> : tensor<300x1xf32>
    %q6 = stablehlo.multiply %r6, %k6 : tensor<300x1xf32>
    %r7 = stablehlo.reshape %x3 : (tensor<300xf32>) -> tensor<300x1xf32>
    %k7 = stablehlo.constant dense<8.0> : tensor<300x1xf32>
    %q7 = stablehlo.multiply %r7, %k7 : tensor<300x1xf32>
    %r8 = stablehlo.reshape %x0 : (tensor<300xf32>) -> tensor<300x1xf32>
    %k8 = stablehlo.constant dense<9.0> : tensor<300x1xf32>
    %q8 = stablehlo.multiply %r8, %k8 : tensor<300x1xf32>
    %j = stablehlo.concatenate %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, dim = 1 : (tensor<300x1xf32>, tensor<300x1xf32>, tensor<300x1xf32>, tensor<300x1xf32>, tensor<300x1xf32>, tensor<300x1xf32>, tensor<300x1xf32>, tensor<300x1xf32>, tensor<300x1xf32>) -> tensor<300x9xf32>
    %row = stablehlo.iota dim = 1 : tensor<300x9xf32>
    %line = stablehlo.iota dim = 0 : tensor<9xf32>
    %lines = stablehlo.broadcast_in_dim %line, dims = [1] : (tensor<9xf32>) -> tensor<300x9xf32>
    %columns = stablehlo.broadcast_in_dim %x3, dims = [0] : (tensor<300xf32>) -> tensor<300x9xf32>
    %j1 = stablehlo.add %j, %row : tensor<300x9xf32>
    %j2 = stablehlo.subtract %j1, %lines : tensor<300x9xf32>
    %j3 = stablehlo.add %j2, %columns : tensor<300x9xf32>
    %js = stablehlo.reduce(%j3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<300x9xf32>, tensor<f32>) -> tensor<300xf32>
    %v0 = stablehlo.reshape %q0 : (tensor<300x1xf32>) -> tensor<300xf32>
    %w0 = stablehlo.add %v0, %x3 : tensor<300xf32>
    %v1 = stablehlo.reshape %q1 : (tensor<300x1xf32>) -> tensor<300xf32>
    %w1 = stablehlo.add %v1, %x3 : tensor<300xf32>
    %v2 = stablehlo.reshape %q2 : (tensor<300x1xf32>) -> tensor<300xf32>
    %w2 = stablehlo.add %v2, %x3 : tensor<300xf32>
    %v3 = stablehlo.reshape %q3 : (tensor<300x1xf32>) -> tensor<300xf32>
    %w3 = stablehlo.add %v3, %x3 : tensor<300xf32>
    %v4 = stablehlo.reshape %q4 : (tensor<300x1xf32>) -> tensor<300xf32>
    %w4 = stablehlo.add %v4, %x3 : tensor<300xf32>
    %v5 = stablehlo.reshape %q5 : (tensor<300x1xf32>) -> tensor<300xf32>
    %w5 = stablehlo.add %v5, %x3 : tensor<300xf32>
    %v6 = stablehlo.reshape %q6 : (tensor<300x1xf32>) -> tensor<300xf32>
    %w6 = stablehlo.add %v6, %x3 : tensor<300xf32>
    %v7 = stablehlo.reshape %q7 : (tensor<300x1xf32>) -> tensor<300xf32>
    %w7 = stablehlo.add %v7, %x3 : tensor<300xf32>
    %v8 = stablehlo.reshape %q8 : (tensor<300x1xf32>) -> tensor<300xf32>
    %w8 = stablehlo.add %v8, %x3 : tensor<300xf32>
    %jw_i = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<300xf32>
    %jw_0 = stablehlo.add %jw_i, %w0 : tensor<300xf32>
    %jw_1 = stablehlo.add %jw_0, %w1 : tensor<300xf32>
    %jw_2 = stablehlo.add %jw_1, %w2 : tensor<300xf32>
    %jw_3 = stablehlo.add %jw_2, %w3 : tensor<300xf32>
    %jw_4 = stablehlo.add %jw_3, %w4 : tensor<300xf32>
    %jw_5 = stablehlo.add %jw_4, %w5 : tensor<300xf32>
    %jw_6 = stablehlo.add %jw_5, %w6 : tensor<300xf32>
    %jw_7 = stablehlo.add %jw_6, %w7 : tensor<300xf32>
    %jw_8 = stablehlo.add %jw_7, %w8 : tensor<300xf32>
    check.expect_eq %js, %jw_8 : tensor<300xf32>
    // two results: the largest and where it is, the first of equals
    %p0 = stablehlo.reshape %x0 : (tensor<300xf32>) -> tensor<1x300xf32>
    %p1 = stablehlo.reshape %x1 : (tensor<300xf32>) -> tensor<1x300xf32>
    %p2 = stablehlo.reshape %x2 : (tensor<300xf32>) -> tensor<1x300xf32>
    %t = stablehlo.concatenate %p0, %p1, %p2, dim = 0 : (tensor<1x300xf32>, tensor<1x300xf32>, tensor<1x300xf32>) -> tensor<3x300xf32>
    %at = stablehlo.iota dim = 0 : tensor<3x300xi32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %top:2 = stablehlo.reduce(%t init: %least), (%at init: %none) across dimensions = [0] : (tensor<3x300xf32>, tensor<3x300xi32>, tensor<f32>, tensor<i32>) -> (tensor<300xf32>, tensor<300xi32>)
     reducer(%u: tensor<f32>, %y: tensor<f32>) (%ui: tensor<i32>, %yi: tensor<i32>) {
      %gt = stablehlo.compare GT, %u, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %eq = stablehlo.compare EQ, %u, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %lt = stablehlo.compare LT, %ui, %yi, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %both = stablehlo.and %eq, %lt : tensor<i1>
      %take = stablehlo.or %gt, %both : tensor<i1>
      %uy = stablehlo.select %gt, %u, %y : tensor<i1>, tensor<f32>
      %iy = stablehlo.select %take, %ui, %yi : tensor<i1>, tensor<i32>
      stablehlo.return %uy, %iy : tensor<f32>, tensor<i32>
    }
    %g0 = stablehlo.maximum %x0, %x1 : tensor<300xf32>
    %g1 = stablehlo.maximum %g0, %x2 : tensor<300xf32>
    check.expect_eq %top#0, %g1 : tensor<300xf32>
    %c0 = stablehlo.constant dense<0> : tensor<300xi32>
    %c1 = stablehlo.constant dense<1> : tensor<300xi32>
    %c2 = stablehlo.constant dense<2> : tensor<300xi32>
    %h0 = stablehlo.compare EQ, %x0, %g1, FLOAT : (tensor<300xf32>, tensor<300xf32>) -> tensor<300xi1>
    %h1 = stablehlo.compare EQ, %x1, %g1, FLOAT : (tensor<300xf32>, tensor<300xf32>) -> tensor<300xi1>
    %l1 = stablehlo.select %h1, %c1, %c2 : tensor<300xi1>, tensor<300xi32>
    %l0 = stablehlo.select %h0, %c0, %l1 : tensor<300xi1>, tensor<300xi32>
    check.expect_eq %top#1, %l0 : tensor<300xi32>
    // three numbers, joined
    %few_n0 = stablehlo.slice %x [1:2, 0:1] : (tensor<300x4xf32>) -> tensor<1x1xf32>
    %few_n1 = stablehlo.slice %x [4:5, 1:2] : (tensor<300x4xf32>) -> tensor<1x1xf32>
    %few_n2 = stablehlo.slice %x [9:10, 3:4] : (tensor<300x4xf32>) -> tensor<1x1xf32>
    %few_v0 = stablehlo.reshape %few_n0 : (tensor<1x1xf32>) -> tensor<1xf32>
    %few_v1 = stablehlo.reshape %few_n1 : (tensor<1x1xf32>) -> tensor<1xf32>
    %few_v2 = stablehlo.reshape %few_n2 : (tensor<1x1xf32>) -> tensor<1xf32>
    %few_vs = stablehlo.concatenate %few_v0, %few_v1, %few_v2, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3xf32>
    %few_va = stablehlo.abs %few_vs : tensor<3xf32>
    %few_vm = stablehlo.reduce(%few_va init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %few_w0 = stablehlo.abs %few_v0 : tensor<1xf32>
    %few_w1 = stablehlo.abs %few_v1 : tensor<1xf32>
    %few_w2 = stablehlo.abs %few_v2 : tensor<1xf32>
    %few_w01 = stablehlo.maximum %few_w0, %few_w1 : tensor<1xf32>
    %few_w = stablehlo.maximum %few_w01, %few_w2 : tensor<1xf32>
    %few_wr = stablehlo.reshape %few_w : (tensor<1xf32>) -> tensor<f32>
    check.expect_eq %few_vm, %few_wr : tensor<f32>
    return
  }
}
