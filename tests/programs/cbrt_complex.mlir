// The principal root: its third power is the number, and it lies within 60 degrees of the axis.
func.func @main() {
  %x = stablehlo.constant dense<[(3.0, 4.0), (-8.0, 0.0), (0.0, -1.0), (1.0, 0.0)]> : tensor<4xcomplex<f64>>
  %y = stablehlo.cbrt %x : tensor<4xcomplex<f64>>
  %y2 = stablehlo.multiply %y, %y : tensor<4xcomplex<f64>>
  %y3 = stablehlo.multiply %y2, %y : tensor<4xcomplex<f64>>
  check.expect_almost_eq %y3, %x, tolerance = 1.0e-12 : tensor<4xcomplex<f64>>
  check.expect_almost_eq_const %y, dense<[(1.6289371459221759, 0.5201745023045458), (1.0, 1.7320508075688772), (0.86602540378443865, -0.5), (1.0, 0.0)]> : tensor<4xcomplex<f64>>
  func.return
}
