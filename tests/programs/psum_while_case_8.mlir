// A psum inside a while inside a case: devices 0-3 take 3 turns (1 doubles to 8), 4-7 take 5 (to 32).
module @psum_while_case attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=8]>
  func.func public @main() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %y = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %four = stablehlo.constant dense<4> : tensor<ui32>
      %which = stablehlo.divide %id, %four : tensor<ui32>
      %branch = stablehlo.convert %which : (tensor<ui32>) -> tensor<i32>
      %y = "stablehlo.case"(%branch) ({
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %turns = stablehlo.constant dense<3> : tensor<i32>
        %half = stablehlo.constant dense<5.000000e-01> : tensor<f32>
        %x0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
        %loop:2 = stablehlo.while(%k = %zero, %x = %x0) : tensor<i32>, tensor<f32>
        cond {
          %go = stablehlo.compare LT, %k, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %go : tensor<i1>
        } do {
          %sum = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %r = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %r : tensor<f32>
          }) : (tensor<f32>) -> tensor<f32>
          %next = stablehlo.multiply %sum, %half : tensor<f32>
          %k1 = stablehlo.add %k, %one : tensor<i32>
          stablehlo.return %k1, %next : tensor<i32>, tensor<f32>
        }
        stablehlo.return %loop#1 : tensor<f32>
      }, {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %turns = stablehlo.constant dense<5> : tensor<i32>
        %half = stablehlo.constant dense<5.000000e-01> : tensor<f32>
        %x0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
        %loop:2 = stablehlo.while(%k = %zero, %x = %x0) : tensor<i32>, tensor<f32>
        cond {
          %go = stablehlo.compare LT, %k, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %go : tensor<i1>
        } do {
          %sum = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %r = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %r : tensor<f32>
          }) : (tensor<f32>) -> tensor<f32>
          %next = stablehlo.multiply %sum, %half : tensor<f32>
          %k1 = stablehlo.add %k, %one : tensor<i32>
          stablehlo.return %k1, %next : tensor<i32>, tensor<f32>
        }
        stablehlo.return %loop#1 : tensor<f32>
      }) : (tensor<i32>) -> tensor<f32>
      %early = stablehlo.compare LT, %id, %four : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %eight = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %many = stablehlo.constant dense<3.200000e+01> : tensor<f32>
      %expected = stablehlo.select %early, %eight, %many : tensor<i1>, tensor<f32>
      stablehlo.custom_call @check.expect_eq(%y, %expected) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
      %out = stablehlo.reshape %y : (tensor<f32>) -> tensor<1xf32>
      sdy.return %out : tensor<1xf32>
    } : () -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
}
