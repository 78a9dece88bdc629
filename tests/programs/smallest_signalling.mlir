// The smallest few of a line of f16 keep their bits, those of a signalling NaN too, which comes first of all.
func.func @main() {
  %bits = stablehlo.constant dense<[32001, 15360, 48128, 64769, 0, 16384, 49152, 31744]> : tensor<8xui16>
  %later = stablehlo.optimization_barrier %bits : tensor<8xui16>
  %x = stablehlo.bitcast_convert %later : (tensor<8xui16>) -> tensor<8xf16>
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %s:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%p: tensor<f16>, %q: tensor<f16>, %r: tensor<i32>, %t: tensor<i32>):
    %c = stablehlo.compare LT, %p, %q, TOTALORDER : (tensor<f16>, tensor<f16>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<8xf16>, tensor<8xi32>) -> (tensor<8xf16>, tensor<8xi32>)
  %u = stablehlo.slice %s#0 [0:4] : (tensor<8xf16>) -> tensor<4xf16>
  %v = stablehlo.slice %s#1 [0:4] : (tensor<8xi32>) -> tensor<4xi32>
  %w = stablehlo.bitcast_convert %u : (tensor<4xf16>) -> tensor<4xui16>
  check.expect_eq_const %w, dense<[64769, 49152, 48128, 0]> : tensor<4xui16>
  check.expect_eq_const %v, dense<[3, 6, 2, 4]> : tensor<4xi32>
  func.return
}
