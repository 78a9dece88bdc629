// Loops that compute alike in every iteration: a psum of the device's number (6), a product and a slice,
// in a loop in a loop, which goes round 2 x 3 times; and one that goes round not at all.
module @hoist attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=4]>
  func.func public @main() -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %y = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} () {
      %id = stablehlo.partition_id : tensor<ui32>
      %me = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %row = stablehlo.iota dim = 0 : tensor<8xi32>
      %outer:2 = stablehlo.while(%i = %zero, %x = %zero) : tensor<i32>, tensor<i32>
      cond {
        %go = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %inner:2 = stablehlo.while(%j = %zero, %z = %x) : tensor<i32>, tensor<i32>
        cond {
          %go = stablehlo.compare LT, %j, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %go : tensor<i1>
        } do {
          %sum = "stablehlo.all_reduce"(%me) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
          ^bb0(%a: tensor<i32>, %b: tensor<i32>):
            %r = stablehlo.add %a, %b : tensor<i32>
            stablehlo.return %r : tensor<i32>
          }) : (tensor<i32>) -> tensor<i32>
          %last = stablehlo.slice %row [7:8] : (tensor<8xi32>) -> tensor<1xi32>
          %seven = stablehlo.reshape %last : (tensor<1xi32>) -> tensor<i32>
          %mine = stablehlo.multiply %me, %seven : tensor<i32>
          %both = stablehlo.add %sum, %mine : tensor<i32>
          %z1 = stablehlo.add %z, %both : tensor<i32>
          %j1 = stablehlo.add %j, %one : tensor<i32>
          stablehlo.return %j1, %z1 : tensor<i32>, tensor<i32>
        }
        %i1 = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %i1, %inner#1 : tensor<i32>, tensor<i32>
      }
      %none:2 = stablehlo.while(%k = %three, %w = %outer#1) : tensor<i32>, tensor<i32>
      cond {
        %go = stablehlo.compare LT, %k, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %square = stablehlo.multiply %me, %me : tensor<i32>
        %w1 = stablehlo.add %w, %square : tensor<i32>
        %k1 = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %k1, %w1 : tensor<i32>, tensor<i32>
      }
      %six = stablehlo.constant dense<6> : tensor<i32>
      %seven = stablehlo.constant dense<7> : tensor<i32>
      %e0 = stablehlo.multiply %me, %seven : tensor<i32>
      %e1 = stablehlo.add %e0, %six : tensor<i32>
      %expected = stablehlo.multiply %e1, %six : tensor<i32>
      stablehlo.custom_call @check.expect_eq(%none#1, %expected) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
      %out = stablehlo.reshape %none#1 : (tensor<i32>) -> tensor<1xi32>
      sdy.return %out : tensor<1xi32>
    } : () -> tensor<4xi32>
    return %y : tensor<4xi32>
  }
}
