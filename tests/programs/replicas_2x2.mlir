// Two replicas of two partitions: what the numbers in groups and pairs mean in every channel mode,
// and whole-array code of each replica for itself.
module @replicas attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main() {
    %out = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %z = stablehlo.constant dense<0> : tensor<ui32>
      %two = stablehlo.constant dense<2> : tensor<ui32>
      %replica = stablehlo.replica_id : tensor<ui32>
      %partition = stablehlo.partition_id : tensor<ui32>
      %row = stablehlo.multiply %replica, %two : tensor<ui32>
      %flat = stablehlo.add %row, %partition : tensor<ui32>
      %powers = stablehlo.constant dense<[1.0, 10.0, 100.0, 1000.0]> : tensor<4xf32>
      %mine = stablehlo.dynamic_slice %powers, %flat, sizes = [1] : (tensor<4xf32>, tensor<ui32>) -> tensor<1xf32>
      %cross_replica = "stablehlo.all_reduce"(%mine) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      %t_cross_replica = stablehlo.constant dense<[[101.0], [1010.0], [101.0], [1010.0]]> : tensor<4x1xf32>
      %w_cross_replica = stablehlo.dynamic_slice %t_cross_replica, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_cross_replica = stablehlo.reshape %w_cross_replica : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%cross_replica, %v_cross_replica) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %both = "stablehlo.all_reduce"(%mine) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      %t_both = stablehlo.constant dense<[[11.0], [11.0], [1100.0], [1100.0]]> : tensor<4x1xf32>
      %w_both = stablehlo.dynamic_slice %t_both, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_both = stablehlo.reshape %w_both : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%both, %v_both) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %everybody = "stablehlo.all_reduce"(%mine) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      %t_everybody = stablehlo.constant dense<[[1111.0], [1111.0], [1111.0], [1111.0]]> : tensor<4x1xf32>
      %w_everybody = stablehlo.dynamic_slice %t_everybody, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_everybody = stablehlo.reshape %w_everybody : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%everybody, %v_everybody) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %GLOBAL = "stablehlo.all_reduce"(%mine) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      %t_GLOBAL = stablehlo.constant dense<[[1001.0], [110.0], [110.0], [1001.0]]> : tensor<4x1xf32>
      %w_GLOBAL = stablehlo.dynamic_slice %t_GLOBAL, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_GLOBAL = stablehlo.reshape %w_GLOBAL : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%GLOBAL, %v_GLOBAL) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %ring = "stablehlo.collective_permute"(%mine) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
      %t_ring = stablehlo.constant dense<[[10.0], [1.0], [1000.0], [100.0]]> : tensor<4x1xf32>
      %w_ring = stablehlo.dynamic_slice %t_ring, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_ring = stablehlo.reshape %w_ring : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%ring, %v_ring) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %across = "stablehlo.collective_permute"(%mine) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
      %t_across = stablehlo.constant dense<[[0.0], [0.0], [1.0], [10.0]]> : tensor<4x1xf32>
      %w_across = stablehlo.dynamic_slice %t_across, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_across = stablehlo.reshape %w_across : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%across, %v_across) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %spread = "stablehlo.collective_broadcast"(%mine) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
      %t_spread = stablehlo.constant dense<[[10.0], [10.0], [1000.0], [1000.0]]> : tensor<4x1xf32>
      %w_spread = stablehlo.dynamic_slice %t_spread, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_spread = stablehlo.reshape %w_spread : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%spread, %v_spread) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %pair = stablehlo.concatenate %mine, %mine, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
      %half = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %marked = stablehlo.multiply %pair, %half : tensor<2xf32>
      %swap = "stablehlo.all_to_all"(%marked) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2xf32>) -> tensor<2xf32>
      %first = stablehlo.slice %swap [0:1] : (tensor<2xf32>) -> tensor<1xf32>
      %second = stablehlo.slice %swap [1:2] : (tensor<2xf32>) -> tensor<1xf32>
      %t_first = stablehlo.constant dense<[[1.0], [2.0], [100.0], [200.0]]> : tensor<4x1xf32>
      %w_first = stablehlo.dynamic_slice %t_first, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_first = stablehlo.reshape %w_first : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%first, %v_first) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %t_second = stablehlo.constant dense<[[10.0], [20.0], [1000.0], [2000.0]]> : tensor<4x1xf32>
      %w_second = stablehlo.dynamic_slice %t_second, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_second = stablehlo.reshape %w_second : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%second, %v_second) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      sdy.return %mine : tensor<1xf32>
    } : () -> tensor<2xf32>
    %back = stablehlo.reverse %out, dims = [0] : tensor<2xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%out init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    sdy.manual_computation(%back, %sum) in_shardings=[<@mesh, [{"i"}]>, <@mesh, []>] out_shardings=[] manual_axes={"i"} (%b: tensor<1xf32>, %s: tensor<f32>) {
      %z = stablehlo.constant dense<0> : tensor<ui32>
      %two = stablehlo.constant dense<2> : tensor<ui32>
      %replica = stablehlo.replica_id : tensor<ui32>
      %partition = stablehlo.partition_id : tensor<ui32>
      %row = stablehlo.multiply %replica, %two : tensor<ui32>
      %flat = stablehlo.add %row, %partition : tensor<ui32>
      %sr = stablehlo.reshape %s : (tensor<f32>) -> tensor<1xf32>
      %t_b = stablehlo.constant dense<[[10.0], [1.0], [1000.0], [100.0]]> : tensor<4x1xf32>
      %w_b = stablehlo.dynamic_slice %t_b, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_b = stablehlo.reshape %w_b : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%b, %v_b) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      %t_sr = stablehlo.constant dense<[[11.0], [11.0], [1100.0], [1100.0]]> : tensor<4x1xf32>
      %w_sr = stablehlo.dynamic_slice %t_sr, %flat, %z, sizes = [1, 1] : (tensor<4x1xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x1xf32>
      %v_sr = stablehlo.reshape %w_sr : (tensor<1x1xf32>) -> tensor<1xf32>
      stablehlo.custom_call @check.expect_eq(%sr, %v_sr) {has_side_effect = true} : (tensor<1xf32>, tensor<1xf32>) -> ()
      sdy.return
    } : (tensor<2xf32>, tensor<f32>) -> ()
    return
  }
}
