// The lesson's function, x ** 2 + sin(x), mapped over four devices: each holds one row of
// the 4x2 array, and inside sdy.manual_computation every device sees its own row alone.
//
//     tutti run examples/lesson.mlir --input examples/lesson.npy --devices 4
module @lesson attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @devices = <["i"=4]>
  func.func public @main(%x: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@devices, [{"i"}, {}]>})
      -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@devices, [{"i"}, {}]>}) {
    %y = sdy.manual_computation(%x) in_shardings=[<@devices, [{"i"}, {}]>]
        out_shardings=[<@devices, [{"i"}, {}]>] manual_axes={"i"} (%row: tensor<1x2xf32>) {
      %squared = stablehlo.multiply %row, %row : tensor<1x2xf32>
      %sine = stablehlo.sine %row : tensor<1x2xf32>
      %sum = stablehlo.add %squared, %sine : tensor<1x2xf32>
      sdy.return %sum : tensor<1x2xf32>
    } : (tensor<4x2xf32>) -> tensor<4x2xf32>
    return %y : tensor<4x2xf32>
  }
}
