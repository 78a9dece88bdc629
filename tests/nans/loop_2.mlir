// Device 1's fourth turn takes the root of a negative number.
module @turns attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i"}]>}) {
    %y = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"i"}]>] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} (%mine: tensor<1xf32>) {
      %id = stablehlo.partition_id : tensor<ui32>
      %which = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %part = stablehlo.reshape %which : (tensor<f32>) -> tensor<1xf32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %turns = stablehlo.constant dense<6> : tensor<i32>
      %start = stablehlo.constant dense<3.500000e+00> : tensor<1xf32>
      %loop:2 = stablehlo.while(%k = %zero, %v = %start) : tensor<i32>, tensor<1xf32>
      cond {
        %go = stablehlo.compare LT, %k, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %root = stablehlo.sqrt %v : tensor<1xf32>
        %none = stablehlo.subtract %root, %root : tensor<1xf32>
        %less = stablehlo.subtract %v, %part : tensor<1xf32>
        %next = stablehlo.add %less, %none : tensor<1xf32>
        %k1 = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %k1, %next : tensor<i32>, tensor<1xf32>
      }
      sdy.return %loop#1 : tensor<1xf32>
    } : (tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }
}
