// The first of each group gets the sum of its group, the others zeros; and the older word for a sum.
module @collective_reduce attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func public @main() {
    %id = stablehlo.replica_id : tensor<ui32>
    %x = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
    %ten = stablehlo.constant dense<10> : tensor<i64>
    %y = stablehlo.add %x, %ten : tensor<i64>
    %r = "stablehlo.collective_reduce"(%y) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[2, 0], [1, 3]]> : tensor<2x2xi64>} : (tensor<i64>) -> tensor<i64>
    %table = stablehlo.constant dense<[0, 24, 22, 0]> : tensor<4xi64>
    %slice = stablehlo.dynamic_slice %table, %id, sizes = [1] : (tensor<4xi64>, tensor<ui32>) -> tensor<1xi64>
    %want = stablehlo.reshape %slice : (tensor<1xi64>) -> tensor<i64>
    check.expect_eq %r, %want : tensor<i64>
    %all = "stablehlo.cross-replica-sum"(%y) {replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>} : (tensor<i64>) -> tensor<i64>
    check.expect_eq_const %all, dense<23> : tensor<i64>
    %none = "stablehlo.collective_reduce"(%y) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %s = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<> : tensor<0x0xi64>} : (tensor<i64>) -> tensor<i64>
    %first = stablehlo.constant dense<[46, 0, 0, 0]> : tensor<4xi64>
    %one = stablehlo.dynamic_slice %first, %id, sizes = [1] : (tensor<4xi64>, tensor<ui32>) -> tensor<1xi64>
    %only = stablehlo.reshape %one : (tensor<1xi64>) -> tensor<i64>
    check.expect_eq %none, %only : tensor<i64>
    return
  }
}
