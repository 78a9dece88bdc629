// error: bitcast_convert (NAME:3:8): f32[4] as i16[4]: the bits do not fit: elements of one width keep the shape, wider ones have their parts along one dimension more
func.func @main(%x: tensor<4xf32>) -> tensor<4xi16> {
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi16>
  return %0 : tensor<4xi16>
}
