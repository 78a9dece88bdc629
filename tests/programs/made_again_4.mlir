// What a broadcast spreads lay whole in one meeting and is spread again in the next: b is used by
// the meeting of the loop and by the case behind it.
module @made_again attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2, "j"=2]>
  func.func public @main() -> tensor<4x5xi32> {
    %i = stablehlo.iota dim = 0 : tensor<4xi32>
    %x = sdy.sharding_constraint %i <@mesh, [{"j"}]> : tensor<4xi32>
    %t = stablehlo.reverse %x, dims = [0] : tensor<4xi32>
    %c = sdy.sharding_constraint %t <@mesh, [{}]> : tensor<4xi32>
    %b = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<4xi32>) -> tensor<4x5xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %w:2 = stablehlo.while(%k = %zero, %v = %x) : tensor<i32>, tensor<4xi32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %go = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %u = stablehlo.add %v, %x : tensor<4xi32>
      %k1 = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %k1, %u : tensor<i32>, tensor<4xi32>
    }
    %which = stablehlo.constant dense<1> : tensor<i32>
    %r = "stablehlo.case"(%which) ({
      stablehlo.return %b : tensor<4x5xi32>
    }, {
      %s = stablehlo.reverse %w#1, dims = [0] : tensor<4xi32>
      %d = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xi32>) -> tensor<4x5xi32>
      %e = stablehlo.add %d, %b : tensor<4x5xi32>
      stablehlo.return %e : tensor<4x5xi32>
    }) : (tensor<i32>) -> tensor<4x5xi32>
    %expected = stablehlo.constant dense<[[15, 15, 15, 15, 15], [10, 10, 10, 10, 10], [5, 5, 5, 5, 5], [0, 0, 0, 0, 0]]> : tensor<4x5xi32>
    stablehlo.custom_call @check.expect_eq(%r, %expected) {has_side_effect = true} : (tensor<4x5xi32>, tensor<4x5xi32>) -> ()
    return %r : tensor<4x5xi32>
  }
}
