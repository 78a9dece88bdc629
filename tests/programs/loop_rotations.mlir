// Loops that hand large arrays on from place to place: a recurrence of two (eleven rounds: one is left over), the
// same by a counter that overflows, a ring of three (ten rounds), and five in a row, which are too many to be written out.  Expected: by hand.
module @loop_rotations {
  func.func public @main() {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a0 = stablehlo.iota dim = 0 : tensor<5000xi32>
    %b0 = stablehlo.constant dense<1> : tensor<5000xi32>
    %c0 = stablehlo.constant dense<7> : tensor<5000xi32>
    %fib:3 = stablehlo.while(%i = %zero, %a = %a0, %b = %b0) : tensor<i32>, tensor<5000xi32>, tensor<5000xi32>
    cond {
      %n = stablehlo.constant dense<11> : tensor<i32>
      %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %c = stablehlo.add %a, %b : tensor<5000xi32>
      stablehlo.return %next, %b, %c : tensor<i32>, tensor<5000xi32>, tensor<5000xi32>
    }
    // a becomes 55 a + 89 b, and b 89 a + 144 b; the counter is 11.
    %c55 = stablehlo.constant dense<55> : tensor<5000xi32>
    %c89 = stablehlo.constant dense<89> : tensor<5000xi32>
    %c144 = stablehlo.constant dense<144> : tensor<5000xi32>
    %p = stablehlo.multiply %a0, %c55 : tensor<5000xi32>
    %want_a = stablehlo.add %p, %c89 : tensor<5000xi32>
    %q = stablehlo.multiply %a0, %c89 : tensor<5000xi32>
    %want_b = stablehlo.add %q, %c144 : tensor<5000xi32>
    stablehlo.custom_call @check.expect_eq(%fib#1, %want_a) {has_side_effect = true} : (tensor<5000xi32>, tensor<5000xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%fib#2, %want_b) {has_side_effect = true} : (tensor<5000xi32>, tensor<5000xi32>) -> ()
    %c11 = stablehlo.constant dense<11> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%fib#0, %c11) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()

    // A counter that begins anew when it is past the largest number: eleven rounds, not the four of a larger one.
    %far = stablehlo.constant dense<-2013265920> : tensor<i32>
    %again:3 = stablehlo.while(%i = %far, %a = %a0, %b = %b0) : tensor<i32>, tensor<5000xi32>, tensor<5000xi32>
    cond {
      %n = stablehlo.constant dense<1879048192> : tensor<i32>
      %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %stride = stablehlo.constant dense<1140850688> : tensor<i32>
      %next = stablehlo.add %i, %stride : tensor<i32>
      %c = stablehlo.add %a, %b : tensor<5000xi32>
      stablehlo.return %next, %b, %c : tensor<i32>, tensor<5000xi32>, tensor<5000xi32>
    }
    stablehlo.custom_call @check.expect_eq(%again#1, %want_a) {has_side_effect = true} : (tensor<5000xi32>, tensor<5000xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%again#2, %want_b) {has_side_effect = true} : (tensor<5000xi32>, tensor<5000xi32>) -> ()

    %ring:4 = stablehlo.while(%i = %zero, %a = %a0, %b = %b0, %c = %c0) : tensor<i32>, tensor<5000xi32>, tensor<5000xi32>, tensor<5000xi32>
    cond {
      %n = stablehlo.constant dense<10> : tensor<i32>
      %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = stablehlo.add %one, %i : tensor<i32>
      stablehlo.return %next, %b, %c, %a : tensor<i32>, tensor<5000xi32>, tensor<5000xi32>, tensor<5000xi32>
    }
    stablehlo.custom_call @check.expect_eq(%ring#1, %b0) {has_side_effect = true} : (tensor<5000xi32>, tensor<5000xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%ring#2, %c0) {has_side_effect = true} : (tensor<5000xi32>, tensor<5000xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%ring#3, %a0) {has_side_effect = true} : (tensor<5000xi32>, tensor<5000xi32>) -> ()

    %row:6 = stablehlo.while(%i = %zero, %a = %a0, %b = %b0, %c = %c0, %d = %c55, %e = %c89) : tensor<i32>, tensor<5000xi32>, tensor<5000xi32>, tensor<5000xi32>, tensor<5000xi32>, tensor<5000xi32>
    cond {
      %n = stablehlo.constant dense<7> : tensor<i32>
      %go = stablehlo.compare LE, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %next = stablehlo.add %i, %two : tensor<i32>
      %f = stablehlo.subtract %e, %a : tensor<5000xi32>
      stablehlo.return %next, %b, %c, %d, %e, %f : tensor<i32>, tensor<5000xi32>, tensor<5000xi32>, tensor<5000xi32>, tensor<5000xi32>, tensor<5000xi32>
    }
    // Four rounds: e, then 89 - a, 89 - a - 1, 89 - a - 8, 89 - a - 63.
    %c26 = stablehlo.constant dense<26> : tensor<5000xi32>
    %want_e = stablehlo.subtract %c26, %a0 : tensor<5000xi32>
    stablehlo.custom_call @check.expect_eq(%row#1, %c89) {has_side_effect = true} : (tensor<5000xi32>, tensor<5000xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%row#5, %want_e) {has_side_effect = true} : (tensor<5000xi32>, tensor<5000xi32>) -> ()
    return
  }
}
