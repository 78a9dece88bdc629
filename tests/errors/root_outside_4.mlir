// error: collective_broadcast (NAME:6:10): the root of operand 0 is 4 in a group of 4: it must be between 0 and 3
module @roots attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func public @main() -> tensor<ui32> {
    %id = stablehlo.replica_id : tensor<ui32>
    %root = stablehlo.constant dense<4> : tensor<1xi32>
    %y = "stablehlo.collective_broadcast"(%id, %root) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, has_dynamic_root} : (tensor<ui32>, tensor<1xi32>) -> tensor<ui32>
    return %y : tensor<ui32>
  }
}
