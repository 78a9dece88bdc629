// All devices are in step, then the ways part: devices 0 and 1 meet and the others do not, and all meet
// again behind it, in groups of two, and in the next turn.
module @parting attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<i32>, tensor<i32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %id = stablehlo.partition_id : tensor<ui32>
    %me = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %is_low = stablehlo.compare LT, %me, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %w:3 = stablehlo.while(%k = %zero, %x = %me, %y = %me) : tensor<i32>, tensor<i32>, tensor<i32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %go = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %sum = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<i32>) -> tensor<i32>
      %more = "stablehlo.if"(%is_low) ({
        %both = "stablehlo.all_reduce"(%sum) ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %s = stablehlo.add %a, %b : tensor<i32>
          stablehlo.return %s : tensor<i32>
        }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids} : (tensor<i32>) -> tensor<i32>
        %up = stablehlo.add %both, %one : tensor<i32>
        stablehlo.return %up : tensor<i32>
      }, {
        stablehlo.return %sum : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      %pair = "stablehlo.all_reduce"(%y) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) {replica_groups = dense<[[3, 0], [1, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids} : (tensor<i32>) -> tensor<i32>
      %mine = stablehlo.add %pair, %me : tensor<i32>
      %next = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %next, %more, %mine : tensor<i32>, tensor<i32>, tensor<i32>
    }
    // x: 0 1 2 3, 13 13 6 6, 77 77 38 38, 461 461 230 230
    %low = stablehlo.constant dense<461> : tensor<i32>
    %high = stablehlo.constant dense<230> : tensor<i32>
    %x_expected = stablehlo.select %is_low, %low, %high : tensor<i1>, tensor<i32>
    stablehlo.custom_call @check.expect_eq(%w#1, %x_expected) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    // y: 0 1 2 3, 3 4 5 6, 9 10 11 12, 21 22 23 24
    %y_base = stablehlo.constant dense<21> : tensor<i32>
    %y_expected = stablehlo.add %y_base, %me : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%w#2, %y_expected) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    return %w#1, %w#2 : tensor<i32>, tensor<i32>
  }
}
