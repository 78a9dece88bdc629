// Regions may combine wider numbers than they are given: 2^24 + 1 is there in f64 and not in f32,
// 100 + 100 in i32 and not in i8.
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main() {
    %c = stablehlo.constant dense<[1.0, 16777216.0, 1.0]> : tensor<3xf32>
    %i8 = stablehlo.constant dense<100> : tensor<2xi8>
    %given:2 = stablehlo.optimization_barrier %c, %i8 : tensor<3xf32>, tensor<2xi8>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %wide_zero = stablehlo.constant dense<0.0> : tensor<f64>
    %small_zero = stablehlo.constant dense<0> : tensor<i8>
    %sum = stablehlo.constant dense<16777218.0> : tensor<f64>

    %r0 = "stablehlo.reduce"(%given#0, %wide_zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) : (tensor<3xf32>, tensor<f64>) -> tensor<f64>
    stablehlo.custom_call @check.expect_eq(%r0, %sum) {has_side_effect = true} : (tensor<f64>, tensor<f64>) -> ()

    %r1:2 = "stablehlo.reduce"(%given#1, %given#1, %small_zero, %small_zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i8>, %d: tensor<i32>, %e: tensor<i8>):
      %s = stablehlo.add %a, %d : tensor<i32>
      %t = stablehlo.maximum %b, %e : tensor<i8>
      stablehlo.return %s, %t : tensor<i32>, tensor<i8>
    }) : (tensor<2xi8>, tensor<2xi8>, tensor<i8>, tensor<i8>) -> (tensor<i32>, tensor<i8>)
    %r1s = stablehlo.constant dense<200> : tensor<i32>
    %r1t = stablehlo.constant dense<100> : tensor<i8>
    stablehlo.custom_call @check.expect_eq(%r1#0, %r1s) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    stablehlo.custom_call @check.expect_eq(%r1#1, %r1t) {has_side_effect = true} : (tensor<i8>, tensor<i8>) -> ()

    %w = "stablehlo.reduce_window"(%given#0, %zero) <{window_dimensions = array<i64: 2>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<2xf64>
    %ws = stablehlo.constant dense<16777217.0> : tensor<2xf64>
    stablehlo.custom_call @check.expect_eq(%w, %ws) {has_side_effect = true} : (tensor<2xf64>, tensor<2xf64>) -> ()

    %at = stablehlo.constant dense<[[1], [1]]> : tensor<2x1xi32>
    %ones = stablehlo.constant dense<1.0> : tensor<2xf32>
    %x = "stablehlo.scatter"(%given#0, %at, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) : (tensor<3xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<3xf64>
    %xs = stablehlo.constant dense<[1.0, 16777218.0, 1.0]> : tensor<3xf64>
    stablehlo.custom_call @check.expect_eq(%x, %xs) {has_side_effect = true} : (tensor<3xf64>, tensor<3xf64>) -> ()

    %source = stablehlo.constant dense<[16777216.0, 1.0]> : tensor<2xf32>
    %p = "stablehlo.select_and_scatter"(%given#0, %source, %zero) <{window_dimensions = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }, {
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) : (tensor<3xf32>, tensor<2xf32>, tensor<f32>) -> tensor<3xf64>
    %ps = stablehlo.constant dense<[0.0, 16777217.0, 0.0]> : tensor<3xf64>
    stablehlo.custom_call @check.expect_eq(%p, %ps) {has_side_effect = true} : (tensor<3xf64>, tensor<3xf64>) -> ()

    %m = "stablehlo.all_reduce"(%given#1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<2xi8>) -> tensor<2xi32>
    %ms = stablehlo.constant dense<200> : tensor<2xi32>
    stablehlo.custom_call @check.expect_eq(%m, %ms) {has_side_effect = true} : (tensor<2xi32>, tensor<2xi32>) -> ()

    %q = "stablehlo.reduce_scatter"(%given#1) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i16>, %b: tensor<i16>):
      %s = stablehlo.add %a, %b : tensor<i16>
      stablehlo.return %s : tensor<i16>
    }) : (tensor<2xi8>) -> tensor<1xi16>
    %qs = stablehlo.constant dense<200> : tensor<1xi16>
    stablehlo.custom_call @check.expect_eq(%q, %qs) {has_side_effect = true} : (tensor<1xi16>, tensor<1xi16>) -> ()
    return
  }
}
