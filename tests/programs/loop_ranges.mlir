// What is known of the numbers that loops carry: counters up and down, remainders of what is never negative and of
// what is, a limit that is only known when it runs, a counter that begins anew past the largest number, and two
// that count alike.
module @loop_ranges {
  func.func public @main() {
    %zero_ = stablehlo.constant dense<0> : tensor<i32>
    %zero = stablehlo.optimization_barrier %zero_ : tensor<i32>
    %ten_ = stablehlo.constant dense<10> : tensor<i32>
    %ten = stablehlo.optimization_barrier %ten_ : tensor<i32>
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %c9 = stablehlo.constant dense<9> : tensor<i32>
    %most = stablehlo.constant dense<2147483640> : tensor<i32>

    // i counts up to a limit from outside, d counts down, f is Fibonacci's number mod 7, w wraps round
    %r:6 = stablehlo.while(%i = %c0, %d = %c9, %e = %c0, %f = %c1, %w = %most, %s = %c0) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    cond {
      %goes = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %four = stablehlo.constant dense<4> : tensor<i32>
      %seven = stablehlo.constant dense<7> : tensor<i32>
      %none = stablehlo.constant dense<0> : tensor<i32>
      %i1 = stablehlo.add %i, %one : tensor<i32>
      %d1 = stablehlo.subtract %d, %three : tensor<i32>
      %w1 = stablehlo.add %w, %one : tensor<i32>
      %sum = stablehlo.add %e, %f : tensor<i32>
      %f1 = stablehlo.remainder %sum, %seven : tensor<i32>
      %i4 = stablehlo.remainder %i, %four : tensor<i32>
      %ih = stablehlo.divide %i, %two : tensor<i32>
      %d4 = stablehlo.remainder %d, %four : tensor<i32>
      %dh = stablehlo.divide %d, %two : tensor<i32>
      %w4 = stablehlo.remainder %w, %four : tensor<i32>
      %is = stablehlo.compare LT, %d, %none, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %ws = stablehlo.compare LT, %w, %none, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %isn = stablehlo.convert %is : (tensor<i1>) -> tensor<i32>
      %wsn = stablehlo.convert %ws : (tensor<i1>) -> tensor<i32>
      %a = stablehlo.add %s, %i4 : tensor<i32>
      %b = stablehlo.add %a, %ih : tensor<i32>
      %c = stablehlo.add %b, %d4 : tensor<i32>
      %g = stablehlo.add %c, %dh : tensor<i32>
      %h = stablehlo.add %g, %w4 : tensor<i32>
      %hundred = stablehlo.constant dense<100> : tensor<i32>
      %isw = stablehlo.multiply %isn, %hundred : tensor<i32>
      %k = stablehlo.add %h, %isw : tensor<i32>
      %thousand = stablehlo.constant dense<1000> : tensor<i32>
      %wsw = stablehlo.multiply %wsn, %thousand : tensor<i32>
      %l = stablehlo.add %k, %wsw : tensor<i32>
      stablehlo.return %i1, %d1, %f, %f1, %w1, %l : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    }
    check.expect_eq_const %r#0, dense<10> : tensor<i32>
    check.expect_eq_const %r#1, dense<-21> : tensor<i32>
    check.expect_eq_const %r#3, dense<5> : tensor<i32>
    check.expect_eq_const %r#4, dense<-2147483646> : tensor<i32>
    check.expect_eq_const %r#5, dense<2615> : tensor<i32>

    // the loop's own counter and the program's, and numpy's remainder by a constant that is carried
    %by = stablehlo.constant dense<3> : tensor<i32>
    %q:4 = stablehlo.while(%n = %c0, %j = %c0, %m = %by, %t = %zero) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    cond {
      %limit = stablehlo.constant dense<20> : tensor<i32>
      %goes = stablehlo.compare LT, %n, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %none = stablehlo.constant dense<0> : tensor<i32>
      %seven = stablehlo.constant dense<7> : tensor<i32>
      %n1 = stablehlo.add %n, %one : tensor<i32>
      %j1 = stablehlo.add %one, %j : tensor<i32>
      %below = stablehlo.subtract %j, %seven : tensor<i32>
      %rest = stablehlo.remainder %below, %m : tensor<i32>
      %neg = stablehlo.compare LT, %rest, %none, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %mneg = stablehlo.compare LT, %m, %none, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %differ = stablehlo.compare NE, %neg, %mneg, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %some = stablehlo.compare NE, %rest, %none, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %fix = stablehlo.and %differ, %some : tensor<i1>
      %more = stablehlo.add %rest, %m : tensor<i32>
      %floor = stablehlo.select %fix, %more, %rest : tensor<i1>, tensor<i32>
      %by2 = stablehlo.multiply %floor, %j1 : tensor<i32>
      %t1 = stablehlo.add %t, %by2 : tensor<i32>
      stablehlo.return %n1, %j1, %m, %t1 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    }
    check.expect_eq_const %q#1, dense<20> : tensor<i32>
    check.expect_eq_const %q#2, dense<3> : tensor<i32>
    check.expect_eq_const %q#3, dense<203> : tensor<i32>
    return
  }
}
