// Loops of unknown length that take so long that a run leaves them on its caller's thread and enters them again on another:
// the inner of two, in a branch, whose rounds work on variables (a number, a few) and on an array; and what comes after.
module @loop_pauses {
  func.func public @main() {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %rounds = stablehlo.constant dense<40> : tensor<i32>
    %inner = stablehlo.constant dense<20000> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %few0 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    %many0 = stablehlo.iota dim = 0 : tensor<100xi32>
    %yes = stablehlo.constant dense<true> : tensor<i1>
    %outer:4 = "stablehlo.if"(%yes) ({
      %o:4 = stablehlo.while(%i = %zero, %x = %one, %few = %few0, %many = %many0) : tensor<i32>, tensor<i32>, tensor<3xi32>, tensor<100xi32>
      cond {
        %go = stablehlo.compare NE, %i, %rounds : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %n:4 = stablehlo.while(%j = %zero, %a = %x, %f = %few, %m = %many) : tensor<i32>, tensor<i32>, tensor<3xi32>, tensor<100xi32>
        cond {
          %go = stablehlo.compare NE, %j, %inner : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %go : tensor<i1>
        } do {
          %a3 = stablehlo.multiply %a, %three : tensor<i32>
          %a4 = stablehlo.add %a3, %j : tensor<i32>
          %js = stablehlo.broadcast_in_dim %j, dims = [] : (tensor<i32>) -> tensor<3xi32>
          %as = stablehlo.broadcast_in_dim %a4, dims = [] : (tensor<i32>) -> tensor<100xi32>
          %f2 = stablehlo.multiply %f, %f : tensor<3xi32>
          %f3 = stablehlo.add %f2, %js : tensor<3xi32>
          %m2 = stablehlo.xor %m, %as : tensor<100xi32>
          %j1 = stablehlo.add %j, %one : tensor<i32>
          stablehlo.return %j1, %a4, %f3, %m2 : tensor<i32>, tensor<i32>, tensor<3xi32>, tensor<100xi32>
        }
        %y = stablehlo.add %n#1, %i : tensor<i32>
        %i1 = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %i1, %y, %n#2, %n#3 : tensor<i32>, tensor<i32>, tensor<3xi32>, tensor<100xi32>
      }
      stablehlo.return %o#0, %o#1, %o#2, %o#3 : tensor<i32>, tensor<i32>, tensor<3xi32>, tensor<100xi32>
    }, {
      stablehlo.return %zero, %zero, %few0, %many0 : tensor<i32>, tensor<i32>, tensor<3xi32>, tensor<100xi32>
    }) : (tensor<i1>) -> (tensor<i32>, tensor<i32>, tensor<3xi32>, tensor<100xi32>)
    %number = stablehlo.constant dense<466225549> : tensor<i32>
    %numbers = stablehlo.constant dense<[2077602083, 947471440, 2077602083]> : tensor<3xi32>
    %bits = stablehlo.constant dense<-707683648> : tensor<i32>
    %all = stablehlo.broadcast_in_dim %bits, dims = [] : (tensor<i32>) -> tensor<100xi32>
    %array = stablehlo.xor %many0, %all : tensor<100xi32>
    stablehlo.custom_call @check.expect_eq(%outer#1, %number) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    stablehlo.custom_call @check.expect_eq(%outer#2, %numbers) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%outer#3, %array) {has_side_effect = true} : (tensor<100xi32>, tensor<100xi32>) -> ()
    return
  }
}
