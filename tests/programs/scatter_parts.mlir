// Many updates of few places: sums, maxima and the sum of floats, with indices outside that are dropped;
// a block at a constant place, set and added.  Expected: NumPy, in whole numbers.
module @scatter_parts {
  func.func public @main() {
    %i = stablehlo.iota dim = 0 : tensor<32768xi32>
    %three = stablehlo.constant dense<3> : tensor<32768xi32>
    %ii = stablehlo.multiply %i, %i : tensor<32768xi32>
    %i3 = stablehlo.multiply %i, %three : tensor<32768xi32>
    %s = stablehlo.add %ii, %i3 : tensor<32768xi32>
    %m = stablehlo.constant dense<9> : tensor<32768xi32>
    %wide = stablehlo.convert %s : (tensor<32768xi32>) -> tensor<32768xi64>
    %mw = stablehlo.convert %m : (tensor<32768xi32>) -> tensor<32768xi64>
    %r = stablehlo.remainder %wide, %mw : tensor<32768xi64>
    %one = stablehlo.constant dense<1> : tensor<32768xi64>
    %index = stablehlo.subtract %r, %one : tensor<32768xi64>
    %where = stablehlo.reshape %index : (tensor<32768xi64>) -> tensor<32768x1xi64>
    %p = stablehlo.constant dense<7919> : tensor<32768xi32>
    %k = stablehlo.constant dense<1000> : tensor<32768xi32>
    %half = stablehlo.constant dense<500> : tensor<32768xi32>
    %ip = stablehlo.multiply %i, %p : tensor<32768xi32>
    %v0 = stablehlo.remainder %ip, %k : tensor<32768xi32>
    %v = stablehlo.subtract %v0, %half : tensor<32768xi32>
    %five = stablehlo.constant dense<5> : tensor<7xi32>
    %low = stablehlo.constant dense<-3> : tensor<7xi32>
    %sums = "stablehlo.scatter"(%five, %where, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %o = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %o : tensor<i32>
    }) : (tensor<7xi32>, tensor<32768x1xi64>, tensor<32768xi32>) -> tensor<7xi32>
    %tops = "stablehlo.scatter"(%low, %where, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %o = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %o : tensor<i32>
    }) : (tensor<7xi32>, tensor<32768x1xi64>, tensor<32768xi32>) -> tensor<7xi32>
    %vf = stablehlo.convert %v : (tensor<32768xi32>) -> tensor<32768xf32>
    %ff = stablehlo.convert %five : (tensor<7xi32>) -> tensor<7xf32>
    %fsums = "stablehlo.scatter"(%ff, %where, %vf) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %o = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %o : tensor<f32>
    }) : (tensor<7xf32>, tensor<32768x1xi64>, tensor<32768xf32>) -> tensor<7xf32>
    %es = stablehlo.constant dense<[-4481, 5, 5, -4481, 5, 5, -2062]> : tensor<7xi32>
    %em = stablehlo.constant dense<[499, -3, -3, 499, -3, -3, 499]> : tensor<7xi32>
    %ef = stablehlo.convert %es : (tensor<7xi32>) -> tensor<7xf32>
    stablehlo.custom_call @check.expect_eq(%sums, %es) {has_side_effect = true} : (tensor<7xi32>, tensor<7xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%tops, %em) {has_side_effect = true} : (tensor<7xi32>, tensor<7xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%fsums, %ef) {has_side_effect = true} : (tensor<7xf32>, tensor<7xf32>) -> ()
    %line = stablehlo.iota dim = 0 : tensor<144xi32>
    %x = stablehlo.reshape %line : (tensor<144xi32>) -> tensor<12x12xi32>
    %near = stablehlo.slice %x [1:10, 4:12] : (tensor<12x12xi32>) -> tensor<9x8xi32>
    %block = stablehlo.add %near, %near : tensor<9x8xi32>
    %at = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
    %set = "stablehlo.scatter"(%x, %at, %block) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      stablehlo.return %b : tensor<i32>
    }) : (tensor<12x12xi32>, tensor<2xi32>, tensor<9x8xi32>) -> tensor<12x12xi32>
    %added = "stablehlo.scatter"(%x, %at, %block) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %o = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %o : tensor<i32>
    }) : (tensor<12x12xi32>, tensor<2xi32>, tensor<9x8xi32>) -> tensor<12x12xi32>
    %eset = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 32, 34, 36, 38, 40, 42, 44, 46, 35], [36, 37, 38, 56, 58, 60, 62, 64, 66, 68, 70, 47], [48, 49, 50, 80, 82, 84, 86, 88, 90, 92, 94, 59], [60, 61, 62, 104, 106, 108, 110, 112, 114, 116, 118, 71], [72, 73, 74, 128, 130, 132, 134, 136, 138, 140, 142, 83], [84, 85, 86, 152, 154, 156, 158, 160, 162, 164, 166, 95], [96, 97, 98, 176, 178, 180, 182, 184, 186, 188, 190, 107], [108, 109, 110, 200, 202, 204, 206, 208, 210, 212, 214, 119], [120, 121, 122, 224, 226, 228, 230, 232, 234, 236, 238, 131], [132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143]]> : tensor<12x12xi32>
    %eadd = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23], [24, 25, 26, 59, 62, 65, 68, 71, 74, 77, 80, 35], [36, 37, 38, 95, 98, 101, 104, 107, 110, 113, 116, 47], [48, 49, 50, 131, 134, 137, 140, 143, 146, 149, 152, 59], [60, 61, 62, 167, 170, 173, 176, 179, 182, 185, 188, 71], [72, 73, 74, 203, 206, 209, 212, 215, 218, 221, 224, 83], [84, 85, 86, 239, 242, 245, 248, 251, 254, 257, 260, 95], [96, 97, 98, 275, 278, 281, 284, 287, 290, 293, 296, 107], [108, 109, 110, 311, 314, 317, 320, 323, 326, 329, 332, 119], [120, 121, 122, 347, 350, 353, 356, 359, 362, 365, 368, 131], [132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143]]> : tensor<12x12xi32>
    stablehlo.custom_call @check.expect_eq(%set, %eset) {has_side_effect = true} : (tensor<12x12xi32>, tensor<12x12xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%added, %eadd) {has_side_effect = true} : (tensor<12x12xi32>, tensor<12x12xi32>) -> ()
    return
  }
}
