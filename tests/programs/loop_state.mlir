// What a loop carries lives in registers: three numbers that change places, a row that is written
// element by element, a number that a branch changes, and between them an array that a called kernel
// adds a carried number to and of which another is read.
module @loop_state {
  func.func public @main() {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %row = stablehlo.constant dense<0> : tensor<5xi32>
    %many = stablehlo.constant dense<0> : tensor<40xi32>
    %r:8 = stablehlo.while(%i = %zero, %a = %one, %b = %two, %c = %three, %s = %zero, %t = %zero, %v = %row, %m = %many)
      : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<5xi32>, tensor<40xi32>
    cond {
      %go = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %wide = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<i32>) -> tensor<40xi32>
      %m1 = stablehlo.add %m, %wide : tensor<40xi32>
      %first = stablehlo.slice %m1 [0:1] : (tensor<40xi32>) -> tensor<1xi32>
      %number = stablehlo.reshape %first : (tensor<1xi32>) -> tensor<i32>
      %s1 = stablehlo.add %s, %number : tensor<i32>
      %new = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
      %v1 = stablehlo.dynamic_update_slice %v, %new, %i : (tensor<5xi32>, tensor<1xi32>, tensor<i32>) -> tensor<5xi32>
      %early = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %t1 = "stablehlo.if"(%early) ({
        %sum = stablehlo.add %t, %s1 : tensor<i32>
        stablehlo.return %sum : tensor<i32>
      }, {
        %twice = stablehlo.add %t, %t : tensor<i32>
        stablehlo.return %twice : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      %i1 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %i1, %b, %c, %a, %s1, %t1, %v1, %m1 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<5xi32>, tensor<40xi32>
    }
    stablehlo.custom_call @check.expect_eq(%r#1, %three) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    stablehlo.custom_call @check.expect_eq(%r#2, %one) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    stablehlo.custom_call @check.expect_eq(%r#3, %two) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %s5 = stablehlo.constant dense<26> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%r#4, %s5) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %t5 = stablehlo.constant dense<40> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%r#5, %t5) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %v5 = stablehlo.constant dense<[1, 2, 3, 1, 2]> : tensor<5xi32>
    stablehlo.custom_call @check.expect_eq(%r#6, %v5) {has_side_effect = true} : (tensor<5xi32>, tensor<5xi32>) -> ()
    %m5 = stablehlo.constant dense<9> : tensor<40xi32>
    stablehlo.custom_call @check.expect_eq(%r#7, %m5) {has_side_effect = true} : (tensor<40xi32>, tensor<40xi32>) -> ()
    return
  }
}
