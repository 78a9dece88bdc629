// What a broadcast spreads was whole in one meeting, which gave the broadcast alone; behind the loop
// the broadcast is to lie differently, and is cut, not spread again.
module @spread_after attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2, "j"=2]>
  func.func public @main() -> tensor<4x4xi32> {
    %i = stablehlo.iota dim = 0 : tensor<16xi32>
    %square = stablehlo.reshape %i : (tensor<16xi32>) -> tensor<4x4xi32>
    %y = sdy.sharding_constraint %square <@mesh, [{"j"}, {}]> : tensor<4x4xi32>
    %x = sdy.sharding_constraint %square <@mesh, [{"j"}, {"i"}]> : tensor<4x4xi32>
    %t = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<4x4xi32>) -> tensor<3x4x4xi32>
    %r = stablehlo.reshape %t : (tensor<3x4x4xi32>) -> tensor<6x8xi32>
    %b = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<6x8xi32>) -> tensor<6x8x4xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %w:2 = stablehlo.while(%k = %zero, %z = %x) : tensor<i32>, tensor<4x4xi32>
    cond {
      %n = stablehlo.constant dense<2> : tensor<i32>
      %go = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %next, %z : tensor<i32>, tensor<4x4xi32>
    }
    %c = sdy.sharding_constraint %b <@mesh, [{}, {}, {"i"}]> : tensor<6x8x4xi32>
    %rows = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15], [0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]> : tensor<6x8xi32>
    %expected = stablehlo.broadcast_in_dim %rows, dims = [0, 1] : (tensor<6x8xi32>) -> tensor<6x8x4xi32>
    stablehlo.custom_call @check.expect_eq(%c, %expected) {has_side_effect = true} : (tensor<6x8x4xi32>, tensor<6x8x4xi32>) -> ()
    return %w#1 : tensor<4x4xi32>
  }
}
