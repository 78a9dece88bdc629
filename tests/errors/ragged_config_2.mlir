// error: NAME:12:12: ragged_all_to_all: attribute 'replica_groups' is missing
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main() -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %r = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %x = stablehlo.constant dense<1.000000e+00> : tensor<1xf32>
      %which = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %o = stablehlo.constant dense<0> : tensor<2xi32>
      %n = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
      %rows = stablehlo.constant dense<1.0> : tensor<2xf32>
      %y = stablehlo.custom_call @ragged_all_to_all(%rows, %x, %o, %n, %o, %n) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64}} : (tensor<2xf32>, tensor<1xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1xf32>
      sdy.return %y : tensor<1xf32>
    } : () -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
