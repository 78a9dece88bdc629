// Random numbers without a key lie where they should, on the average and each, and a second draw
// is another one.
func.func @main() {
  %a = stablehlo.constant dense<-1.0> : tensor<f32>
  %b = stablehlo.constant dense<3.0> : tensor<f32>
  %n = stablehlo.constant dense<20000> : tensor<1xi64>
  %u = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<20000xf32>
  %again = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<20000xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %many = stablehlo.constant dense<20000.0> : tensor<f32>
  %sum = stablehlo.reduce(%u init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<20000xf32>, tensor<f32>) -> tensor<f32>
  %mean = stablehlo.divide %sum, %many : tensor<f32>
  check.expect_almost_eq_const %mean, dense<1.0> : tensor<f32> {tolerance = 0.05 : f64}
  %least = stablehlo.reduce(%u init: %b) applies stablehlo.minimum across dimensions = [0] : (tensor<20000xf32>, tensor<f32>) -> tensor<f32>
  %most = stablehlo.reduce(%u init: %a) applies stablehlo.maximum across dimensions = [0] : (tensor<20000xf32>, tensor<f32>) -> tensor<f32>
  check.expect_almost_eq_const %least, dense<-1.0> : tensor<f32> {tolerance = 0.05 : f64}
  check.expect_almost_eq_const %most, dense<3.0> : tensor<f32> {tolerance = 0.05 : f64}
  %same = stablehlo.compare EQ, %u, %again : (tensor<20000xf32>, tensor<20000xf32>) -> tensor<20000xi1>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %all = stablehlo.reduce(%same init: %yes) applies stablehlo.and across dimensions = [0] : (tensor<20000xi1>, tensor<i1>) -> tensor<i1>
  check.expect_eq_const %all, dense<false> : tensor<i1>
  %g = stablehlo.rng %a, %b, %n, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<20000xf32>
  %total = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<20000xf32>, tensor<f32>) -> tensor<f32>
  %centre = stablehlo.divide %total, %many : tensor<f32>
  check.expect_almost_eq_const %centre, dense<-1.0> : tensor<f32> {tolerance = 0.1 : f64}
  %c = stablehlo.broadcast_in_dim %centre, dims = [] : (tensor<f32>) -> tensor<20000xf32>
  %away = stablehlo.subtract %g, %c : tensor<20000xf32>
  %squares = stablehlo.multiply %away, %away : tensor<20000xf32>
  %spread = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<20000xf32>, tensor<f32>) -> tensor<f32>
  %variance = stablehlo.divide %spread, %many : tensor<f32>
  check.expect_almost_eq_const %variance, dense<9.0> : tensor<f32> {tolerance = 0.05 : f64}
  %lo = stablehlo.constant dense<-2> : tensor<i8>
  %hi = stablehlo.constant dense<2> : tensor<i8>
  %i = stablehlo.rng %lo, %hi, %n, distribution = UNIFORM : (tensor<i8>, tensor<i8>, tensor<1xi64>) -> tensor<20000xi8>
  %low = stablehlo.reduce(%i init: %hi) applies stablehlo.minimum across dimensions = [0] : (tensor<20000xi8>, tensor<i8>) -> tensor<i8>
  %high = stablehlo.reduce(%i init: %lo) applies stablehlo.maximum across dimensions = [0] : (tensor<20000xi8>, tensor<i8>) -> tensor<i8>
  check.expect_eq_const %low, dense<-2> : tensor<i8>
  check.expect_eq_const %high, dense<1> : tensor<i8>
  func.return
}
