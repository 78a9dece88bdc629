// error: result 0 of @main: there is no memory "attic"; there are device, pinned_host and unpinned_host
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32> {mhlo.memory_kind = "attic"}) {
  return %x : tensor<2xf32>
}
