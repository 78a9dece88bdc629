// error: mhlo.num_replicas 65536 times mhlo.num_partitions 65536: at most 4096 devices are possible
module attributes {mhlo.num_partitions = 65536 : i32, mhlo.num_replicas = 65536 : i32} {
  func.func @main() -> tensor<f32> {
    %0 = stablehlo.constant dense<1.0> : tensor<f32>
    return %0 : tensor<f32>
  }
}
