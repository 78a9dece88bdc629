// Windows that overlap along the last dimension are selected from many at a time: as where channels lie last.
module @select_scatter_lanes {
  func.func public @main() {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.iota dim = 0 : tensor<4305xi32>
    %factor = stablehlo.constant dense<7919> : tensor<4305xi32>
    %seven = stablehlo.constant dense<7> : tensor<4305xi32>
    %p = stablehlo.multiply %n, %factor : tensor<4305xi32>
    %r = stablehlo.remainder %p, %seven : tensor<4305xi32>
    %f = stablehlo.convert %r : (tensor<4305xi32>) -> tensor<4305xf32>
    %h = stablehlo.optimization_barrier %f : tensor<4305xf32>
    %x = stablehlo.reshape %h : (tensor<4305xf32>) -> tensor<3x35x41xf32>
    %m = stablehlo.iota dim = 0 : tensor<1071xf32>
    %hm = stablehlo.optimization_barrier %m : tensor<1071xf32>
    %s = stablehlo.reshape %hm : (tensor<1071xf32>) -> tensor<3x17x21xf32>

    %planes = "stablehlo.select_and_scatter"(%x, %s, %zero) <{padding = dense<[[0, 0], [0, 0], [1, 1]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
    }) : (tensor<3x35x41xf32>, tensor<3x17x21xf32>, tensor<f32>) -> tensor<3x35x41xf32>

    %xt = stablehlo.transpose %x, dims = [1, 2, 0] : (tensor<3x35x41xf32>) -> tensor<35x41x3xf32>
    %st = stablehlo.transpose %s, dims = [1, 2, 0] : (tensor<3x17x21xf32>) -> tensor<17x21x3xf32>
    %channels = "stablehlo.select_and_scatter"(%xt, %st, %zero) <{padding = dense<[[0, 0], [1, 1], [0, 0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 3, 3, 1>, window_strides = array<i64: 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
    }) : (tensor<35x41x3xf32>, tensor<17x21x3xf32>, tensor<f32>) -> tensor<35x41x3xf32>
    %back = stablehlo.transpose %channels, dims = [2, 0, 1] : (tensor<35x41x3xf32>) -> tensor<3x35x41xf32>
    check.expect_eq %planes, %back : tensor<3x35x41xf32>
    return
  }
}
