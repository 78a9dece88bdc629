// A composite of one number that bears a function's name is that function: its decomposition, here
// a product that leaves the normal range and is flushed, is for readers that do not have it.
// One of another name, or with attributes of its own, is what it decomposes into.
module @composite_function {
  func.func private @written_out(%x: tensor<2xf32>) -> tensor<2xf32> {
    %small = stablehlo.constant dense<0.0112837917> : tensor<2xf32>
    %large = stablehlo.constant dense<100.0> : tensor<2xf32>
    %part = stablehlo.multiply %x, %small : tensor<2xf32>
    %y = stablehlo.multiply %part, %large : tensor<2xf32>
    return %y : tensor<2xf32>
  }
  func.func public @main() {
    %x = stablehlo.constant dense<[0x03800000, 0x81800000]> : tensor<2xf32> // 2^-120, -2^-124
    %up = stablehlo.constant dense<[0x7B800000, 0x7D800000]> : tensor<2xf32> // 2^120, 2^124
    %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
    %slope = stablehlo.constant dense<[1.12837917, -1.12837917]> : tensor<2xf32> // 2 / sqrt(pi)
    %a = stablehlo.composite "chlo.erf" %x {decomposition = @written_out} : (tensor<2xf32>) -> tensor<2xf32>
    %a_up = stablehlo.multiply %a, %up : tensor<2xf32>
    stablehlo.custom_call @check.expect_almost_eq(%a_up, %slope) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %b = stablehlo.composite "my.erf" %x {decomposition = @written_out} : (tensor<2xf32>) -> tensor<2xf32>
    %b_up = stablehlo.multiply %b, %up : tensor<2xf32>
    stablehlo.custom_call @check.expect_almost_eq(%b_up, %zero) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %c = stablehlo.composite "chlo.erf" %x {composite_attributes = {kind = 1 : i32}, decomposition = @written_out} : (tensor<2xf32>) -> tensor<2xf32>
    %c_up = stablehlo.multiply %c, %up : tensor<2xf32>
    stablehlo.custom_call @check.expect_almost_eq(%c_up, %zero) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    return
  }
}
