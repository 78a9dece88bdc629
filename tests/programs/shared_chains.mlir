// Chains in which every value is read twice, below a reduction and below arrays that are joined and reduced: nothing
// walks over them by every one of the 2^40 ways there are.
module @shared_chains {
  func.func public @main() {
    %n = stablehlo.iota dim = 0 : tensor<300x4xf32>
    %m = stablehlo.iota dim = 1 : tensor<300x4xf32>
    %hundred = stablehlo.constant dense<1.0e+02> : tensor<300x4xf32>
    %a = stablehlo.multiply %m, %hundred : tensor<300x4xf32>
    %b = stablehlo.subtract %n, %a : tensor<300x4xf32>
    %x0 = stablehlo.optimization_barrier %b : tensor<300x4xf32>
    %low = stablehlo.constant dense<-1.0> : tensor<f32>
    %n0 = stablehlo.negate %x0 : tensor<300x4xf32>
    %x1 = stablehlo.maximum %x0, %n0 : tensor<300x4xf32>
    %n1 = stablehlo.negate %x1 : tensor<300x4xf32>
    %x2 = stablehlo.maximum %x1, %n1 : tensor<300x4xf32>
    %n2 = stablehlo.negate %x2 : tensor<300x4xf32>
    %x3 = stablehlo.maximum %x2, %n2 : tensor<300x4xf32>
    %n3 = stablehlo.negate %x3 : tensor<300x4xf32>
    %x4 = stablehlo.maximum %x3, %n3 : tensor<300x4xf32>
    %n4 = stablehlo.negate %x4 : tensor<300x4xf32>
    %x5 = stablehlo.maximum %x4, %n4 : tensor<300x4xf32>
    %n5 = stablehlo.negate %x5 : tensor<300x4xf32>
    %x6 = stablehlo.maximum %x5, %n5 : tensor<300x4xf32>
    %n6 = stablehlo.negate %x6 : tensor<300x4xf32>
    %x7 = stablehlo.maximum %x6, %n6 : tensor<300x4xf32>
    %n7 = stablehlo.negate %x7 : tensor<300x4xf32>
    %x8 = stablehlo.maximum %x7, %n7 : tensor<300x4xf32>
    %n8 = stablehlo.negate %x8 : tensor<300x4xf32>
    %x9 = stablehlo.maximum %x8, %n8 : tensor<300x4xf32>
    %n9 = stablehlo.negate %x9 : tensor<300x4xf32>
    %x10 = stablehlo.maximum %x9, %n9 : tensor<300x4xf32>
    %n10 = stablehlo.negate %x10 : tensor<300x4xf32>
    %x11 = stablehlo.maximum %x10, %n10 : tensor<300x4xf32>
    %n11 = stablehlo.negate %x11 : tensor<300x4xf32>
    %x12 = stablehlo.maximum %x11, %n11 : tensor<300x4xf32>
    %n12 = stablehlo.negate %x12 : tensor<300x4xf32>
    %x13 = stablehlo.maximum %x12, %n12 : tensor<300x4xf32>
    %n13 = stablehlo.negate %x13 : tensor<300x4xf32>
    %x14 = stablehlo.maximum %x13, %n13 : tensor<300x4xf32>
    %n14 = stablehlo.negate %x14 : tensor<300x4xf32>
    %x15 = stablehlo.maximum %x14, %n14 : tensor<300x4xf32>
    %n15 = stablehlo.negate %x15 : tensor<300x4xf32>
    %x16 = stablehlo.maximum %x15, %n15 : tensor<300x4xf32>
    %n16 = stablehlo.negate %x16 : tensor<300x4xf32>
    %x17 = stablehlo.maximum %x16, %n16 : tensor<300x4xf32>
    %n17 = stablehlo.negate %x17 : tensor<300x4xf32>
    %x18 = stablehlo.maximum %x17, %n17 : tensor<300x4xf32>
    %n18 = stablehlo.negate %x18 : tensor<300x4xf32>
    %x19 = stablehlo.maximum %x18, %n18 : tensor<300x4xf32>
    %n19 = stablehlo.negate %x19 : tensor<300x4xf32>
    %x20 = stablehlo.maximum %x19, %n19 : tensor<300x4xf32>
    %n20 = stablehlo.negate %x20 : tensor<300x4xf32>
    %x21 = stablehlo.maximum %x20, %n20 : tensor<300x4xf32>
    %n21 = stablehlo.negate %x21 : tensor<300x4xf32>
    %x22 = stablehlo.maximum %x21, %n21 : tensor<300x4xf32>
    %n22 = stablehlo.negate %x22 : tensor<300x4xf32>
    %x23 = stablehlo.maximum %x22, %n22 : tensor<300x4xf32>
    %n23 = stablehlo.negate %x23 : tensor<300x4xf32>
    %x24 = stablehlo.maximum %x23, %n23 : tensor<300x4xf32>
    %n24 = stablehlo.negate %x24 : tensor<300x4xf32>
    %x25 = stablehlo.maximum %x24, %n24 : tensor<300x4xf32>
    %n25 = stablehlo.negate %x25 : tensor<300x4xf32>
    %x26 = stablehlo.maximum %x25, %n25 : tensor<300x4xf32>
    %n26 = stablehlo.negate %x26 : tensor<300x4xf32>
    %x27 = stablehlo.maximum %x26, %n26 : tensor<300x4xf32>
    %n27 = stablehlo.negate %x27 : tensor<300x4xf32>
    %x28 = stablehlo.maximum %x27, %n27 : tensor<300x4xf32>
    %n28 = stablehlo.negate %x28 : tensor<300x4xf32>
    %x29 = stablehlo.maximum %x28, %n28 : tensor<300x4xf32>
    %n29 = stablehlo.negate %x29 : tensor<300x4xf32>
    %x30 = stablehlo.maximum %x29, %n29 : tensor<300x4xf32>
    %n30 = stablehlo.negate %x30 : tensor<300x4xf32>
    %x31 = stablehlo.maximum %x30, %n30 : tensor<300x4xf32>
    %n31 = stablehlo.negate %x31 : tensor<300x4xf32>
    %x32 = stablehlo.maximum %x31, %n31 : tensor<300x4xf32>
    %n32 = stablehlo.negate %x32 : tensor<300x4xf32>
    %x33 = stablehlo.maximum %x32, %n32 : tensor<300x4xf32>
    %n33 = stablehlo.negate %x33 : tensor<300x4xf32>
    %x34 = stablehlo.maximum %x33, %n33 : tensor<300x4xf32>
    %n34 = stablehlo.negate %x34 : tensor<300x4xf32>
    %x35 = stablehlo.maximum %x34, %n34 : tensor<300x4xf32>
    %n35 = stablehlo.negate %x35 : tensor<300x4xf32>
    %x36 = stablehlo.maximum %x35, %n35 : tensor<300x4xf32>
    %n36 = stablehlo.negate %x36 : tensor<300x4xf32>
    %x37 = stablehlo.maximum %x36, %n36 : tensor<300x4xf32>
    %n37 = stablehlo.negate %x37 : tensor<300x4xf32>
    %x38 = stablehlo.maximum %x37, %n37 : tensor<300x4xf32>
    %n38 = stablehlo.negate %x38 : tensor<300x4xf32>
    %x39 = stablehlo.maximum %x38, %n38 : tensor<300x4xf32>
    %n39 = stablehlo.negate %x39 : tensor<300x4xf32>
    %x40 = stablehlo.maximum %x39, %n39 : tensor<300x4xf32>
    %joined = stablehlo.concatenate %x40, %x0, dim = 1 : (tensor<300x4xf32>, tensor<300x4xf32>) -> tensor<300x8xf32>
    %p = stablehlo.reduce(%joined init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<300x8xf32>, tensor<f32>) -> tensor<300xf32>
    %q = stablehlo.reduce(%x40 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<300x4xf32>, tensor<f32>) -> tensor<300xf32>
    %abs = stablehlo.abs %x0 : tensor<300x4xf32>
    %whole = stablehlo.optimization_barrier %abs : tensor<300x4xf32>
    %want = stablehlo.reduce(%whole init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<300x4xf32>, tensor<f32>) -> tensor<300xf32>
    check.expect_eq %p, %want : tensor<300xf32>
    check.expect_eq %q, %want : tensor<300xf32>
    return
  }
}
