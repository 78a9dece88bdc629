// An update may read what it is about to write: rows and columns of an array, by constant places and by a counter,
// are changed where they lie, in vectors and what is left of them. What reads beside its place is made first.
module @loop_update_in_step {
  func.func public @main() {
    %n = stablehlo.iota dim = 0 : tensor<2793xf32>
    %m = stablehlo.reshape %n : (tensor<2793xf32>) -> tensor<57x49xf32>
    %x = stablehlo.optimization_barrier %m : tensor<57x49xf32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:3 = stablehlo.while(%i = %zero, %a = %x, %b = %x) : tensor<i32>, tensor<57x49xf32>, tensor<57x49xf32>
    cond {
      %limit = stablehlo.constant dense<3> : tensor<i32>
      %goes = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %none = stablehlo.constant dense<0> : tensor<i32>
      %half = stablehlo.constant dense<0.5> : tensor<55x46xf32>
      %two = stablehlo.constant dense<2.0> : tensor<55x46xf32>
      %next = stablehlo.add %i, %one : tensor<i32>

      // in step
      %s = stablehlo.slice %a [1:56, 2:48] : (tensor<57x49xf32>) -> tensor<55x46xf32>
      %o = stablehlo.slice %b [0:55, 0:46] : (tensor<57x49xf32>) -> tensor<55x46xf32>
      %s2 = stablehlo.multiply %s, %two : tensor<55x46xf32>
      %u = stablehlo.subtract %s2, %o : tensor<55x46xf32>
      %c1 = stablehlo.constant dense<1> : tensor<i32>
      %c2 = stablehlo.constant dense<2> : tensor<i32>
      %a1 = stablehlo.dynamic_update_slice %a, %u, %c1, %c2 : (tensor<57x49xf32>, tensor<55x46xf32>, tensor<i32>, tensor<i32>) -> tensor<57x49xf32>

      // one row, found by the counter
      %row = stablehlo.dynamic_slice %a1, %i, %none, sizes = [1, 49] : (tensor<57x49xf32>, tensor<i32>, tensor<i32>) -> tensor<1x49xf32>
      %row2 = stablehlo.add %row, %row : tensor<1x49xf32>
      %a2 = stablehlo.dynamic_update_slice %a1, %row2, %i, %none : (tensor<57x49xf32>, tensor<1x49xf32>, tensor<i32>, tensor<i32>) -> tensor<57x49xf32>

      // beside its place
      %t = stablehlo.slice %b [0:55, 2:48] : (tensor<57x49xf32>) -> tensor<55x46xf32>
      %t1 = stablehlo.slice %b [1:56, 2:48] : (tensor<57x49xf32>) -> tensor<55x46xf32>
      %v = stablehlo.add %t, %t1 : tensor<55x46xf32>
      %w = stablehlo.multiply %v, %half : tensor<55x46xf32>
      %b1 = stablehlo.dynamic_update_slice %b, %w, %c1, %c2 : (tensor<57x49xf32>, tensor<55x46xf32>, tensor<i32>, tensor<i32>) -> tensor<57x49xf32>
      stablehlo.return %next, %a2, %b1 : tensor<i32>, tensor<57x49xf32>, tensor<57x49xf32>
    }
    // each sum weighs places, so that none may be exchanged
    %p = stablehlo.convert %r#1 : (tensor<57x49xf32>) -> tensor<57x49xf64>
    %q = stablehlo.convert %r#2 : (tensor<57x49xf32>) -> tensor<57x49xf64>
    %k = stablehlo.iota dim = 0 : tensor<2793xf64>
    %weights = stablehlo.reshape %k : (tensor<2793xf64>) -> tensor<57x49xf64>
    %pw = stablehlo.multiply %p, %weights : tensor<57x49xf64>
    %qw = stablehlo.multiply %q, %weights : tensor<57x49xf64>
    %nothing = stablehlo.constant dense<0.0> : tensor<f64>
    %ps = stablehlo.reduce(%pw init: %nothing) applies stablehlo.add across dimensions = [0, 1] : (tensor<57x49xf64>, tensor<f64>) -> tensor<f64>
    %qs = stablehlo.reduce(%qw init: %nothing) applies stablehlo.add across dimensions = [0, 1] : (tensor<57x49xf64>, tensor<f64>) -> tensor<f64>
    %pe = stablehlo.constant dense<8855883433.0> : tensor<f64>
    %qe = stablehlo.constant dense<6999142360.0> : tensor<f64>
    check.expect_eq %ps, %pe : tensor<f64>
    check.expect_eq %qs, %qe : tensor<f64>
    return
  }
}
