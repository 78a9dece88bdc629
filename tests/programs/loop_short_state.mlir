// A loop whose state is a short row: what its kernels read is the row, shifted, with zeros beside it, and it stays
// in registers.
module @loop_short_state {
  func.func public @main() {
    %c = stablehlo.constant dense<[0.0, 1.0, 4.0, 2.0, 2.0, 4.0, 1.0, 0.0, 1.0, 4.0]> : tensor<10xf32>
    %x = stablehlo.optimization_barrier %c : tensor<10xf32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<10xf32>
    cond {
      %five = stablehlo.constant dense<5> : tensor<i32>
      %goes = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %none = stablehlo.constant dense<0.0> : tensor<f32>
      %two = stablehlo.constant dense<2.0> : tensor<9xf32>
      %three = stablehlo.constant dense<3.0> : tensor<9xf32>
      %a = stablehlo.slice %y [1:10] : (tensor<10xf32>) -> tensor<9xf32>
      %b = stablehlo.slice %y [0:9] : (tensor<10xf32>) -> tensor<9xf32>
      %b2 = stablehlo.multiply %b, %two : tensor<9xf32>
      %d = stablehlo.subtract %a, %b2 : tensor<9xf32>
      %d3 = stablehlo.multiply %d, %three : tensor<9xf32>
      %p = stablehlo.pad %d, %none, low = [0], high = [1], interior = [0] : (tensor<9xf32>, tensor<f32>) -> tensor<10xf32>
      %q = stablehlo.pad %d3, %none, low = [1], high = [0], interior = [0] : (tensor<9xf32>, tensor<f32>) -> tensor<10xf32>
      %s = stablehlo.add %p, %q : tensor<10xf32>
      %t = stablehlo.add %s, %y : tensor<10xf32>
      stablehlo.return %next, %t : tensor<i32>, tensor<10xf32>
    }
    %w = stablehlo.constant dense<[-297.0, -201.0, 4806.0, 2883.0, -20642.0, 866.0, 36164.0, -31404.0, -5112.0, 38584.0]> : tensor<10xf32>
    check.expect_eq %r#1, %w : tensor<10xf32>
    return
  }
}
