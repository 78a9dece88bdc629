// In a program of one replica the groups of a channel number its partitions.
module @collective_reduce attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() {
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %y = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
      %r = "stablehlo.collective_reduce"(%y) ({
        ^bb0(%a: tensor<i64>, %b: tensor<i64>):
          %s = stablehlo.add %a, %b : tensor<i64>
          stablehlo.return %s : tensor<i64>
      }) {replica_groups = dense<[[2, 0], [1, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<i64>) -> tensor<i64>
      %table = stablehlo.constant dense<[0, 4, 2, 0]> : tensor<4xi64>
      %slice = stablehlo.dynamic_slice %table, %id, sizes = [1] : (tensor<4xi64>, tensor<ui32>) -> tensor<1xi64>
      %want = stablehlo.reshape %slice : (tensor<1xi64>) -> tensor<i64>
      stablehlo.custom_call @check.expect_eq(%r, %want) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
      sdy.return
    } : () -> ()
    return
  }
}
