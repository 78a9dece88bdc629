// Tuples in tuples, through calls, taken apart and put together.
module {
  func.func private @swap(%t: tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<2xf32>>>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
    %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<2xf32>>>) -> tensor<2xf32>
    %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<2xf32>>>) -> tuple<tensor<i32>, tensor<2xf32>>
    %c = "stablehlo.get_tuple_element"(%b) <{index = 1 : i32}> : (tuple<tensor<i32>, tensor<2xf32>>) -> tensor<2xf32>
    %r = stablehlo.tuple %c, %a : tuple<tensor<2xf32>, tensor<2xf32>>
    return %r : tuple<tensor<2xf32>, tensor<2xf32>>
  }
  func.func @main() -> (tensor<i32>, tuple<tensor<2xf32>, tensor<2xf32>>) {
    %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %y = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
    %n = stablehlo.constant dense<7> : tensor<i32>
    %inner = stablehlo.tuple %n, %y : tuple<tensor<i32>, tensor<2xf32>>
    %outer = stablehlo.tuple %x, %inner : tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<2xf32>>>
    %r = call @swap(%outer) : (tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<2xf32>>>) -> tuple<tensor<2xf32>, tensor<2xf32>>
    %0 = stablehlo.get_tuple_element %r[0] : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
    %1 = stablehlo.get_tuple_element %r[1] : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
    check.expect_eq_const %0, dense<[3.0, 4.0]> : tensor<2xf32>
    check.expect_eq_const %1, dense<[1.0, 2.0]> : tensor<2xf32>
    return %n, %r : tensor<i32>, tuple<tensor<2xf32>, tensor<2xf32>>
  }
}
