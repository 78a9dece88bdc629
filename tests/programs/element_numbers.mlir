// Rows times their length and columns are the numbers of elements; other sums of positions are not.
module @element_numbers {
  func.func public @main() {
    %row = stablehlo.iota dim = 0 : tensor<2100x3xui64>
    %column = stablehlo.iota dim = 1 : tensor<2100x3xui64>
    %three = stablehlo.constant dense<3> : tensor<2100x3xui64>
    %start = stablehlo.multiply %row, %three : tensor<2100x3xui64>
    %numbers = stablehlo.add %start, %column : tensor<2100x3xui64>
    %high = stablehlo.constant dense<4> : tensor<2100x3xui64>
    %four = stablehlo.multiply %high, %row : tensor<2100x3xui64>
    %other = stablehlo.add %column, %four : tensor<2100x3xui64>

    // the same of numbers that no pass sees through
    %hrow = stablehlo.optimization_barrier %row : tensor<2100x3xui64>
    %hcolumn = stablehlo.optimization_barrier %column : tensor<2100x3xui64>
    %hstart = stablehlo.multiply %hrow, %three : tensor<2100x3xui64>
    %hnumbers = stablehlo.add %hstart, %hcolumn : tensor<2100x3xui64>
    %hfour = stablehlo.multiply %high, %hrow : tensor<2100x3xui64>
    %hother = stablehlo.add %hcolumn, %hfour : tensor<2100x3xui64>
    check.expect_eq %numbers, %hnumbers : tensor<2100x3xui64>
    check.expect_eq %other, %hother : tensor<2100x3xui64>

    // of three dimensions, one of which is 1; the factor of the first is two factors
    %i = stablehlo.iota dim = 0 : tensor<700x1x5xi32>
    %j = stablehlo.iota dim = 1 : tensor<700x1x5xi32>
    %k = stablehlo.iota dim = 2 : tensor<700x1x5xi32>
    %minus = stablehlo.constant dense<-1> : tensor<700x1x5xi32>
    %five = stablehlo.constant dense<-5> : tensor<700x1x5xi32>
    %mi = stablehlo.multiply %minus, %i : tensor<700x1x5xi32>
    %ti = stablehlo.multiply %mi, %five : tensor<700x1x5xi32>
    %tj = stablehlo.multiply %j, %five : tensor<700x1x5xi32>
    %ij = stablehlo.add %ti, %tj : tensor<700x1x5xi32>
    %ijk = stablehlo.add %ij, %k : tensor<700x1x5xi32>
    %line = stablehlo.iota dim = 0 : tensor<3500xi32>
    %hidden = stablehlo.optimization_barrier %line : tensor<3500xi32>
    %want = stablehlo.reshape %hidden : (tensor<3500xi32>) -> tensor<700x1x5xi32>
    check.expect_eq %ijk, %want : tensor<700x1x5xi32>
    return
  }
}
