// error: custom_call @tutti.local.each.0, at NAME:5:10: it gives f32[4]; what every device calls for itself gives nothing but tokens
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["i"=2]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"i"}]>}) -> tensor<4xf32> {
    %y = stablehlo.custom_call @tutti.local.each.0(%x) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
