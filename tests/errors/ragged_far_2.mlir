// error: tutti.ragged_all_to_all (NAME:12:12): partition 0 sends partition 1 rows 9223372036854775807 to 9223372036854775807, outside of f32[2]
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main() -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %which = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %o = stablehlo.constant dense<[0, 9223372036854775807]> : tensor<2xi64>
      %n = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
      %rows = stablehlo.constant dense<1.0> : tensor<2xf32>
      %y = stablehlo.custom_call @ragged_all_to_all(%rows, %x, %o, %n, %o, %n) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<2xf32>, tensor<1xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1xf32>
      sdy.return %y : tensor<1xf32>
    } : () -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
