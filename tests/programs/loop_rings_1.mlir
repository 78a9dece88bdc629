// A loop whose carried arrays change places: rings of five, of three and of two, chains that hang on
// them, one array that several take, and some that stay.
func.func @main() {
  %a0 = stablehlo.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  %a1 = stablehlo.constant dense<[10.0, 11.0, 12.0]> : tensor<3xf32>
  %a2 = stablehlo.constant dense<[20.0, 21.0, 22.0]> : tensor<3xf32>
  %a3 = stablehlo.constant dense<[30.0, 31.0, 32.0]> : tensor<3xf32>
  %a4 = stablehlo.constant dense<[40.0, 41.0, 42.0]> : tensor<3xf32>
  %a5 = stablehlo.constant dense<[50.0, 51.0, 52.0]> : tensor<3xf32>
  %a6 = stablehlo.constant dense<[60.0, 61.0, 62.0]> : tensor<3xf32>
  %a7 = stablehlo.constant dense<[70.0, 71.0, 72.0]> : tensor<3xf32>
  %a8 = stablehlo.constant dense<[80.0, 81.0, 82.0]> : tensor<3xf32>
  %a9 = stablehlo.constant dense<[90.0, 91.0, 92.0]> : tensor<3xf32>
  %a10 = stablehlo.constant dense<[100.0, 101.0, 102.0]> : tensor<3xf32>
  %a11 = stablehlo.constant dense<[110.0, 111.0, 112.0]> : tensor<3xf32>
  %a12 = stablehlo.constant dense<[120.0, 121.0, 122.0]> : tensor<3xf32>
  %a13 = stablehlo.constant dense<[130.0, 131.0, 132.0]> : tensor<3xf32>
  %a14 = stablehlo.constant dense<[140.0, 141.0, 142.0]> : tensor<3xf32>
  %a15 = stablehlo.constant dense<[150.0, 151.0, 152.0]> : tensor<3xf32>
  %a16 = stablehlo.constant dense<[160.0, 161.0, 162.0]> : tensor<3xf32>
  %a17 = stablehlo.constant dense<[170.0, 171.0, 172.0]> : tensor<3xf32>
  %a18 = stablehlo.constant dense<[180.0, 181.0, 182.0]> : tensor<3xf32>
  %a19 = stablehlo.constant dense<[190.0, 191.0, 192.0]> : tensor<3xf32>
  %a20 = stablehlo.constant dense<[200.0, 201.0, 202.0]> : tensor<3xf32>
  %a21 = stablehlo.constant dense<[210.0, 211.0, 212.0]> : tensor<3xf32>
  %a22 = stablehlo.constant dense<[220.0, 221.0, 222.0]> : tensor<3xf32>
  %a23 = stablehlo.constant dense<[230.0, 231.0, 232.0]> : tensor<3xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %r:25 = stablehlo.while(%i = %zero, %c0 = %a0, %c1 = %a1, %c2 = %a2, %c3 = %a3, %c4 = %a4, %c5 = %a5, %c6 = %a6, %c7 = %a7, %c8 = %a8, %c9 = %a9, %c10 = %a10, %c11 = %a11, %c12 = %a12, %c13 = %a13, %c14 = %a14, %c15 = %a15, %c16 = %a16, %c17 = %a17, %c18 = %a18, %c19 = %a19, %c20 = %a20, %c21 = %a21, %c22 = %a22, %c23 = %a23) : tensor<i32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  cond {
    %p = stablehlo.compare LT, %i, %seven : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %c1, %c2, %c3, %c4, %c0, %c6, %c5, %c7, %c0, %c8, %c9, %c8, %c3, %c6, %c14, %c13, %c15, %c13, %c13, %c20, %c21, %c19, %c2, %c22 : tensor<i32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
  %e0 = stablehlo.constant dense<[20.0, 21.0, 22.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#1, %e0) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e1 = stablehlo.constant dense<[30.0, 31.0, 32.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#2, %e1) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e2 = stablehlo.constant dense<[40.0, 41.0, 42.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#3, %e2) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e3 = stablehlo.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#4, %e3) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e4 = stablehlo.constant dense<[10.0, 11.0, 12.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#5, %e4) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e5 = stablehlo.constant dense<[60.0, 61.0, 62.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#6, %e5) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e6 = stablehlo.constant dense<[50.0, 51.0, 52.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#7, %e6) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e7 = stablehlo.constant dense<[70.0, 71.0, 72.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#8, %e7) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e8 = stablehlo.constant dense<[10.0, 11.0, 12.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#9, %e8) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e9 = stablehlo.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#10, %e9) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e10 = stablehlo.constant dense<[40.0, 41.0, 42.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#11, %e10) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e11 = stablehlo.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#12, %e11) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e12 = stablehlo.constant dense<[40.0, 41.0, 42.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#13, %e12) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e13 = stablehlo.constant dense<[60.0, 61.0, 62.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#14, %e13) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e14 = stablehlo.constant dense<[140.0, 141.0, 142.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#15, %e14) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e15 = stablehlo.constant dense<[50.0, 51.0, 52.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#16, %e15) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e16 = stablehlo.constant dense<[60.0, 61.0, 62.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#17, %e16) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e17 = stablehlo.constant dense<[50.0, 51.0, 52.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#18, %e17) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e18 = stablehlo.constant dense<[50.0, 51.0, 52.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#19, %e18) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e19 = stablehlo.constant dense<[200.0, 201.0, 202.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#20, %e19) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e20 = stablehlo.constant dense<[210.0, 211.0, 212.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#21, %e20) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e21 = stablehlo.constant dense<[190.0, 191.0, 192.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#22, %e21) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e22 = stablehlo.constant dense<[30.0, 31.0, 32.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#23, %e22) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %e23 = stablehlo.constant dense<[20.0, 21.0, 22.0]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_eq(%r#24, %e23) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  return
}
