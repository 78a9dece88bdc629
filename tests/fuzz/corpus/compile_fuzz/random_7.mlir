module @grown attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
func.func public @main(%v2: tensor<32xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}, %v4: tensor<16x17xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}) -> (tensor<32xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}, tensor<32xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}, tensor<16x17xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}, {}]>}, tensor<32xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
  %r:4 = sdy.manual_computation(%v2, %v4) in_shardings=[<@mesh, [{"i"}]>, <@mesh, [{"i"}, {}]>] out_shardings=[<@mesh, [{"i"}]>, <@mesh, [{"i"}]>, <@mesh, [{"i"}, {}]>, <@mesh, [{"i"}]>] manual_axes={"i"} (%v1: tensor<8xi64>, %v3: tensor<4x17xi64>) {
  %v5 = "stablehlo.not"(%v1) : (tensor<8xi64>) -> tensor<8xi64>
  %v6 = "stablehlo.all_reduce"(%v5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a6: tensor<i64>, %b6: tensor<i64>):
    %s6 = stablehlo.maximum %a6, %b6 : tensor<i64>
    stablehlo.return %s6 : tensor<i64>
  }) : (tensor<8xi64>) -> tensor<8xi64>
  %v7 = "stablehlo.maximum"(%v3, %v3) : (tensor<4x17xi64>, tensor<4x17xi64>) -> tensor<4x17xi64>
  %v8 = stablehlo.constant dense<true> : tensor<8xi1>
  %v9 = stablehlo.select %v8, %v1, %v5 : tensor<8xi1>, tensor<8xi64>
  %v10 = "stablehlo.collective_permute"(%v9) <{source_target_pairs = dense<[[0, 1], [1, 0], [2, 2]]> : tensor<3x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<8xi64>) -> tensor<8xi64>
  %v11 = stablehlo.concatenate %v10, %v10, dim = 0 : (tensor<8xi64>, tensor<8xi64>) -> tensor<16xi64>
  %v12 = stablehlo.reverse %v1, dims = [0] : tensor<8xi64>
  %v13 = "stablehlo.count_leading_zeros"(%v11) : (tensor<16xi64>) -> tensor<16xi64>
  sdy.return %v12, %v9, %v7, %v6 : tensor<8xi64>, tensor<8xi64>, tensor<4x17xi64>, tensor<8xi64>
  } : (tensor<32xi64>, tensor<16x17xi64>) -> (tensor<32xi64>, tensor<32xi64>, tensor<16x17xi64>, tensor<32xi64>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<32xi64>, tensor<32xi64>, tensor<16x17xi64>, tensor<32xi64>
}
}
