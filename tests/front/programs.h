/* programs.h - programs in text for operations that no C function makes; $E is the element type. */
#ifndef TUTTI_TESTS_PROGRAMS_H
#define TUTTI_TESTS_PROGRAMS_H
static const char argmax_text[] =
    "func.func @main(%x: tensor<3x4x$E>) -> tensor<3x$E> {\n"
    "  %p = stablehlo.iota dim = 1 : tensor<3x4xi32>\n"
    "  %l = stablehlo.constant dense<-9.0> : tensor<$E>\n"
    "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %r:2 = stablehlo.reduce(%x init: %l), (%p init: %z) across dimensions = [1] : "
    "(tensor<3x4x$E>, tensor<3x4xi32>, tensor<$E>, tensor<i32>) -> (tensor<3x$E>, tensor<3xi32>)\n"
    "  reducer(%a: tensor<$E>, %b: tensor<$E>) (%i: tensor<i32>, %j: tensor<i32>) {\n"
    "    %g = stablehlo.compare GT, %a, %b : (tensor<$E>, tensor<$E>) -> tensor<i1>\n"
    "    %v = stablehlo.select %g, %a, %b : tensor<i1>, tensor<$E>\n"
    "    %k = stablehlo.select %g, %i, %j : tensor<i1>, tensor<i32>\n"
    "    stablehlo.return %v, %k : tensor<$E>, tensor<i32>\n  }\n"
    "  return %r#0 : tensor<3x$E>\n}\n";
static const char window_text[] =
    "func.func @main(%x: tensor<6x$E>) -> tensor<3x$E> {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<$E>\n"
    "  %r = \"stablehlo.reduce_window\"(%x, %z) <{window_dimensions = array<i64: 2>, "
    "window_strides = array<i64: 2>}> ({\n"
    "  ^bb0(%a: tensor<$E>, %b: tensor<$E>):\n"
    "    %s = stablehlo.add %a, %b : tensor<$E>\n"
    "    stablehlo.return %s : tensor<$E>\n"
    "  }) : (tensor<6x$E>, tensor<$E>) -> tensor<3x$E>\n"
    "  return %r : tensor<3x$E>\n}\n";
#define SUM_WINDOWS(in, attributes, out)                                                            \
    "func.func @main(%x: tensor<" in "x$E>) -> tensor<" out "x$E> {\n"                             \
    "  %z = stablehlo.constant dense<0.0> : tensor<$E>\n"                                          \
    "  %r = \"stablehlo.reduce_window\"(%x, %z) <{" attributes "}> ({\n"                           \
    "  ^bb0(%a: tensor<$E>, %b: tensor<$E>):\n"                                                    \
    "    %s = stablehlo.add %a, %b : tensor<$E>\n"                                                 \
    "    stablehlo.return %s : tensor<$E>\n"                                                       \
    "  }) : (tensor<" in "x$E>, tensor<$E>) -> tensor<" out "x$E>\n"                               \
    "  return %r : tensor<" out "x$E>\n}\n"
static const char cumsum_text[] = SUM_WINDOWS(
    "2x5", "window_dimensions = array<i64: 1, 5>, padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>",
    "2x5");
static const char dilated_text[] = SUM_WINDOWS(
    "4x5",
    "window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>, "
    "base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>, "
    "padding = dense<[[1, 0], [0, 2]]> : tensor<2x2xi64>",
    "3x5");
static const char sort_text[] =
    "func.func @main(%x: tensor<3x6x$E>) -> tensor<3x6x$E> {\n"
    "  %r = \"stablehlo.sort\"(%x) <{dimension = 1 : i64, is_stable = true}> ({\n"
    "  ^bb0(%a: tensor<$E>, %b: tensor<$E>):\n"
    "    %l = stablehlo.compare LT, %a, %b : (tensor<$E>, tensor<$E>) -> tensor<i1>\n"
    "    stablehlo.return %l : tensor<i1>\n"
    "  }) : (tensor<3x6x$E>) -> tensor<3x6x$E>\n"
    "  return %r : tensor<3x6x$E>\n}\n";
static const char top_k_text[] =
    "func.func @main(%x: tensor<3x6x$E>) -> tensor<3x2x$E> {\n"
    "  %v, %i = chlo.top_k(%x, k = 2) : tensor<3x6x$E> -> (tensor<3x2x$E>, tensor<3x2xi32>)\n"
    "  return %v : tensor<3x2x$E>\n}\n";
static const char convolution_text[] =
    "func.func @main(%x: tensor<1x6x2x$E>, %w: tensor<3x2x4x$E>) -> tensor<1x4x4x$E> {\n"
    "  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
    "window = {stride = [1], pad = [[0, 0]]} {batch_group_count = 1 : i64, "
    "feature_group_count = 1 : i64} : (tensor<1x6x2x$E>, tensor<3x2x4x$E>) -> tensor<1x4x4x$E>\n"
    "  return %r : tensor<1x4x4x$E>\n}\n";
/* Strides, dilations of both, and padding on one side. */
static const char strided_text[] =
    "func.func @main(%x: tensor<2x3x7x6x$E>, %w: tensor<2x3x3x2x$E>) -> tensor<2x2x8x3x$E> {\n"
    "  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], "
    "window = {stride = [2, 2], pad = [[2, 5], [1, 0]], lhs_dilate = [2, 1], rhs_dilate = [1, 2]} "
    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
    "(tensor<2x3x7x6x$E>, tensor<2x3x3x2x$E>) -> tensor<2x2x9x3x$E>\n"
    "  %s = stablehlo.slice %r [0:2, 0:2, 0:8, 0:3] : (tensor<2x2x9x3x$E>) -> tensor<2x2x8x3x$E>\n"
    "  return %s : tensor<2x2x8x3x$E>\n}\n";
static const char groups_text[] =
    "func.func @main(%x: tensor<1x5x4x$E>, %w: tensor<2x2x6x$E>) -> tensor<1x4x6x$E> {\n"
    "  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
    "window = {stride = [1], pad = [[0, 0]]} {batch_group_count = 1 : i64, "
    "feature_group_count = 2 : i64} : (tensor<1x5x4x$E>, tensor<2x2x6x$E>) -> tensor<1x4x6x$E>\n"
    "  return %r : tensor<1x4x6x$E>\n}\n";
static const char fft_text[] =
    "func.func @main(%x: tensor<3x8x$E>) -> tensor<3x5x$E> {\n"
    "  %c = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<3x8x$E>) -> "
    "tensor<3x5xcomplex<$E>>\n"
    "  %r = stablehlo.real %c : (tensor<3x5xcomplex<$E>>) -> tensor<3x5x$E>\n"
    "  return %r : tensor<3x5x$E>\n}\n";
static const char cholesky_text[] = "func.func @main(%x: tensor<3x3x$E>) -> tensor<3x3x$E> {\n"
                                    "  %r = stablehlo.cholesky %x, lower = true : tensor<3x3x$E>\n"
                                    "  return %r : tensor<3x3x$E>\n}\n";
static const char triangular_solve_text[] =
    "func.func @main(%a: tensor<3x3x$E>, %b: tensor<3x2x$E>) -> tensor<3x2x$E> {\n"
    "  %r = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = true, lower = true, "
    "transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : "
    "(tensor<3x3x$E>, tensor<3x2x$E>) -> tensor<3x2x$E>\n"
    "  return %r : tensor<3x2x$E>\n}\n";
/* x <- sin(x w), four times; w comes from around the loop. */
static const char while_text[] =
    "func.func @main(%x: tensor<3x$E>, %w: tensor<3x$E>) -> tensor<3x$E> {\n"
    "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %r:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i32>, tensor<3x$E>\n"
    "  cond {\n"
    "    %n = stablehlo.constant dense<4> : tensor<i32>\n"
    "    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %o = stablehlo.constant dense<1> : tensor<i32>\n"
    "    %k = stablehlo.add %i, %o : tensor<i32>\n"
    "    %m = stablehlo.multiply %v, %w : tensor<3x$E>\n"
    "    %s = stablehlo.sine %m : tensor<3x$E>\n"
    "    stablehlo.return %k, %s : tensor<i32>, tensor<3x$E>\n  }\n"
    "  return %r#1 : tensor<3x$E>\n}\n";
/* Multiplies by w until 10 is passed: every row stops in its own time. */
static const char doubling_text[] =
    "func.func @main(%x: tensor<$E>, %w: tensor<$E>) -> tensor<$E> {\n"
    "  %r = stablehlo.while(%v = %x) : tensor<$E>\n"
    "  cond {\n"
    "    %n = stablehlo.constant dense<10.0> : tensor<$E>\n"
    "    %c = stablehlo.compare LT, %v, %n : (tensor<$E>, tensor<$E>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %m = stablehlo.multiply %v, %w : tensor<$E>\n"
    "    stablehlo.return %m : tensor<$E>\n  }\n"
    "  return %r : tensor<$E>\n}\n";
static const char case_text[] =
    "func.func @main(%x: tensor<3x$E>, %w: tensor<3x$E>, %i: tensor<i32>) -> tensor<3x$E> {\n"
    "  %y = stablehlo.cosine %w : tensor<3x$E>\n"
    "  %r = \"stablehlo.case\"(%i) ({\n"
    "    %a = stablehlo.multiply %x, %w : tensor<3x$E>\n"
    "    %s = stablehlo.sine %a : tensor<3x$E>\n"
    "    stablehlo.return %s : tensor<3x$E>\n  }, {\n"
    "    stablehlo.return %y : tensor<3x$E>\n  }, {\n"
    "    %e = stablehlo.exponential %x : tensor<3x$E>\n"
    "    stablehlo.return %e : tensor<3x$E>\n"
    "  }) : (tensor<i32>) -> tensor<3x$E>\n"
    "  return %r : tensor<3x$E>\n}\n";
static const char if_text[] =
    "func.func @main(%x: tensor<$E>, %w: tensor<3x$E>) -> tensor<3x$E> {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<$E>\n"
    "  %c = stablehlo.compare GT, %x, %z : (tensor<$E>, tensor<$E>) -> tensor<i1>\n"
    "  %r = \"stablehlo.if\"(%c) ({\n"
    "    %s = stablehlo.sine %w : tensor<3x$E>\n"
    "    stablehlo.return %s : tensor<3x$E>\n  }, {\n"
    "    %b = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<$E>) -> tensor<3x$E>\n"
    "    %m = stablehlo.multiply %b, %w : tensor<3x$E>\n"
    "    stablehlo.return %m : tensor<3x$E>\n"
    "  }) : (tensor<i1>) -> tensor<3x$E>\n"
    "  return %r : tensor<3x$E>\n}\n";
static const char barrier_text[] =
    "func.func @main(%x: tensor<3x$E>, %w: tensor<3x$E>) -> (tensor<3x$E>, tensor<3x$E>) {\n"
    "  %r:2 = stablehlo.optimization_barrier %x, %w : tensor<3x$E>, tensor<3x$E>\n"
    "  %m = stablehlo.multiply %r#0, %r#1 : tensor<3x$E>\n"
    "  return %r#0, %m : tensor<3x$E>, tensor<3x$E>\n}\n";
#endif
