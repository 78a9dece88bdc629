// A function that a kernel has many times is a function of its own, also where the loops are cut at a border.
module @padded_sines {
  func.func public @main() {
    %n = stablehlo.iota dim = 0 : tensor<78x78xf32>
    %x = stablehlo.optimization_barrier %n : tensor<78x78xf32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %a0 = stablehlo.pad %x, %one, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<78x78xf32>, tensor<f32>) -> tensor<80x80xf32>
    %b0 = stablehlo.optimization_barrier %a0 : tensor<80x80xf32>
    %a1 = stablehlo.sine %a0 : tensor<80x80xf32>
    %b1 = stablehlo.sine %b0 : tensor<80x80xf32>
    %a2 = stablehlo.sine %a1 : tensor<80x80xf32>
    %b2 = stablehlo.sine %b1 : tensor<80x80xf32>
    %a3 = stablehlo.sine %a2 : tensor<80x80xf32>
    %b3 = stablehlo.sine %b2 : tensor<80x80xf32>
    %a4 = stablehlo.sine %a3 : tensor<80x80xf32>
    %b4 = stablehlo.sine %b3 : tensor<80x80xf32>
    %a5 = stablehlo.sine %a4 : tensor<80x80xf32>
    %b5 = stablehlo.sine %b4 : tensor<80x80xf32>
    %a6 = stablehlo.sine %a5 : tensor<80x80xf32>
    %b6 = stablehlo.sine %b5 : tensor<80x80xf32>
    %a7 = stablehlo.sine %a6 : tensor<80x80xf32>
    %b7 = stablehlo.sine %b6 : tensor<80x80xf32>
    %a8 = stablehlo.sine %a7 : tensor<80x80xf32>
    %b8 = stablehlo.sine %b7 : tensor<80x80xf32>
    check.expect_eq %a8, %b8 : tensor<80x80xf32>
    return
  }
}
