// Roots that are data: a place in the group for each array, in a broadcast and in a sum.
module @roots attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func public @main() {
    %id = stablehlo.replica_id : tensor<ui32>
    %x = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
    %ten = stablehlo.constant dense<10> : tensor<i64>
    %y = stablehlo.add %x, %ten : tensor<i64>
    %z = stablehlo.multiply %y, %y : tensor<i64>
    %roots = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
    %b:2 = "stablehlo.collective_broadcast"(%y, %z, %roots) {replica_groups = dense<[[2, 0], [1, 3]]> : tensor<2x2xi64>, has_dynamic_root} : (tensor<i64>, tensor<i64>, tensor<2xi32>) -> (tensor<i64>, tensor<i64>)
    %first = stablehlo.constant dense<[10, 13, 10, 13]> : tensor<4xi64>
    %second = stablehlo.constant dense<[144, 121, 144, 121]> : tensor<4xi64>
    %f = stablehlo.dynamic_slice %first, %id, sizes = [1] : (tensor<4xi64>, tensor<ui32>) -> tensor<1xi64>
    %s = stablehlo.dynamic_slice %second, %id, sizes = [1] : (tensor<4xi64>, tensor<ui32>) -> tensor<1xi64>
    %f0 = stablehlo.reshape %f : (tensor<1xi64>) -> tensor<i64>
    %s0 = stablehlo.reshape %s : (tensor<1xi64>) -> tensor<i64>
    check.expect_eq %b#0, %f0 : tensor<i64>
    check.expect_eq %b#1, %s0 : tensor<i64>
    %plain:2 = "stablehlo.collective_broadcast"(%y, %z) {replica_groups = dense<[[3, 0, 1, 2]]> : tensor<1x4xi64>} : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    check.expect_eq_const %plain#0, dense<13> : tensor<i64>
    check.expect_eq_const %plain#1, dense<169> : tensor<i64>
    %r:2 = "stablehlo.collective_reduce"(%y, %z, %roots) ({
      ^bb0(%a: tensor<i64>, %c: tensor<i64>):
        %t = stablehlo.add %a, %c : tensor<i64>
        stablehlo.return %t : tensor<i64>
    }) {replica_groups = dense<[[2, 0], [1, 3]]> : tensor<2x2xi64>, has_dynamic_root} : (tensor<i64>, tensor<i64>, tensor<2xi32>) -> (tensor<i64>, tensor<i64>)
    %sums = stablehlo.constant dense<[22, 0, 0, 24]> : tensor<4xi64>
    %squares = stablehlo.constant dense<[0, 290, 244, 0]> : tensor<4xi64>
    %u = stablehlo.dynamic_slice %sums, %id, sizes = [1] : (tensor<4xi64>, tensor<ui32>) -> tensor<1xi64>
    %v = stablehlo.dynamic_slice %squares, %id, sizes = [1] : (tensor<4xi64>, tensor<ui32>) -> tensor<1xi64>
    %u0 = stablehlo.reshape %u : (tensor<1xi64>) -> tensor<i64>
    %v0 = stablehlo.reshape %v : (tensor<1xi64>) -> tensor<i64>
    check.expect_eq %r#0, %u0 : tensor<i64>
    check.expect_eq %r#1, %v0 : tensor<i64>
    return
  }
}
