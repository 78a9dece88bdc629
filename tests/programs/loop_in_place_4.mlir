// What a loop carries through meetings stays where it is: rings, chains, exchanges and sums.
// Device d begins with 1000 d + i.
module @loops attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func public @main() {
    %id = stablehlo.replica_id : tensor<ui32>
    %d = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
    %k1 = stablehlo.constant dense<1000> : tensor<i64>
    %start = stablehlo.multiply %d, %k1 : tensor<i64>
    %starts = stablehlo.broadcast_in_dim %start, dims = [] : (tensor<i64>) -> tensor<96xi64>
    %i = stablehlo.iota dim = 0 : tensor<96xi64>
    %x = stablehlo.add %starts, %i : tensor<96xi64>
    %c0 = stablehlo.constant dense<0> : tensor<i64>
    %c1 = stablehlo.constant dense<1> : tensor<i64>
    %c2 = stablehlo.constant dense<2> : tensor<i64>
    %c5 = stablehlo.constant dense<5> : tensor<i64>
    %five:4 = stablehlo.while(%n = %c0, %a = %x, %b = %x, %c = %x) : tensor<i64>, tensor<96xi64>, tensor<96xi64>, tensor<96xi64>
      cond {
        %t = stablehlo.compare LT, %n, %c5, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %t : tensor<i1>
      } do {
        %a1 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>} : (tensor<96xi64>) -> tensor<96xi64>
        %b1 = "stablehlo.all_to_all"(%b) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<96xi64>) -> tensor<96xi64>
        %c3 = "stablehlo.all_reduce"(%c) ({
          ^bb0(%l: tensor<i64>, %r: tensor<i64>):
            %s = stablehlo.add %l, %r : tensor<i64>
            stablehlo.return %s : tensor<i64>
        }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<96xi64>) -> tensor<96xi64>
        %n1 = stablehlo.add %n, %c1 : tensor<i64>
        stablehlo.return %n1, %a1, %b1, %c3 : tensor<i64>, tensor<96xi64>, tensor<96xi64>, tensor<96xi64>
      }
    // Five times round a ring of four: from the device before, 1000 ((d + 3) mod 4) + i.
    %three = stablehlo.constant dense<3> : tensor<i64>
    %four = stablehlo.constant dense<4> : tensor<i64>
    %d3 = stablehlo.add %d, %three : tensor<i64>
    %before = stablehlo.remainder %d3, %four : tensor<i64>
    %before1 = stablehlo.multiply %before, %k1 : tensor<i64>
    %before2 = stablehlo.broadcast_in_dim %before1, dims = [] : (tensor<i64>) -> tensor<96xi64>
    %ring = stablehlo.add %before2, %i : tensor<96xi64>
    check.expect_eq %five#1, %ring : tensor<96xi64>
    // An odd number of exchanges is one: 1000 (i / 24) + 24 d + i mod 24.
    %m24 = stablehlo.constant dense<24> : tensor<96xi64>
    %m1000 = stablehlo.constant dense<1000> : tensor<96xi64>
    %from = stablehlo.divide %i, %m24 : tensor<96xi64>
    %from1 = stablehlo.multiply %from, %m1000 : tensor<96xi64>
    %rest = stablehlo.remainder %i, %m24 : tensor<96xi64>
    %ds = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<i64>) -> tensor<96xi64>
    %d24 = stablehlo.multiply %ds, %m24 : tensor<96xi64>
    %e1 = stablehlo.add %from1, %d24 : tensor<96xi64>
    %exchanged = stablehlo.add %e1, %rest : tensor<96xi64>
    check.expect_eq %five#2, %exchanged : tensor<96xi64>
    // The sum 6000 + 4 i, then four times 4 of it.
    %m4 = stablehlo.constant dense<4> : tensor<96xi64>
    %m6000 = stablehlo.constant dense<6000> : tensor<96xi64>
    %m256 = stablehlo.constant dense<256> : tensor<96xi64>
    %i4 = stablehlo.multiply %i, %m4 : tensor<96xi64>
    %s1 = stablehlo.add %i4, %m6000 : tensor<96xi64>
    %summed = stablehlo.multiply %s1, %m256 : tensor<96xi64>
    check.expect_eq %five#3, %summed : tensor<96xi64>
    // Twice down a chain: zeros on 0 and 1, 1000 (d - 2) + i on 2 and 3; and from the first to all.
    %two:3 = stablehlo.while(%n = %c0, %a = %x, %b = %x) : tensor<i64>, tensor<96xi64>, tensor<96xi64>
      cond {
        %t = stablehlo.compare LT, %n, %c2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %t : tensor<i1>
      } do {
        %a1 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>} : (tensor<96xi64>) -> tensor<96xi64>
        %b1 = "stablehlo.collective_broadcast"(%b) {replica_groups = dense<[[2, 0, 1, 3]]> : tensor<1x4xi64>} : (tensor<96xi64>) -> tensor<96xi64>
        %n1 = stablehlo.add %n, %c1 : tensor<i64>
        stablehlo.return %n1, %a1, %b1 : tensor<i64>, tensor<96xi64>, tensor<96xi64>
      }
    %d2 = stablehlo.subtract %d, %c2 : tensor<i64>
    %d21 = stablehlo.multiply %d2, %k1 : tensor<i64>
    %d22 = stablehlo.broadcast_in_dim %d21, dims = [] : (tensor<i64>) -> tensor<96xi64>
    %later = stablehlo.add %d22, %i : tensor<96xi64>
    %zeros = stablehlo.constant dense<0> : tensor<96xi64>
    %is_later = stablehlo.compare GE, %d, %c2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %chain = stablehlo.select %is_later, %later, %zeros : tensor<i1>, tensor<96xi64>
    check.expect_eq %two#1, %chain : tensor<96xi64>
    %m2000 = stablehlo.constant dense<2000> : tensor<96xi64>
    %second = stablehlo.add %i, %m2000 : tensor<96xi64>
    check.expect_eq %two#2, %second : tensor<96xi64>
    return
  }
}
