/* programs.h - programs in text for operations that no C function makes; $E is the element type. */
#ifndef TUTTI_TESTS_FRONT_PROGRAMS_H
#define TUTTI_TESTS_FRONT_PROGRAMS_H
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
#define SUM_WINDOWS(in, attributes, out)                                                           \
    "func.func @main(%x: tensor<" in "x$E>) -> tensor<" out "x$E> {\n"                             \
    "  %z = stablehlo.constant dense<0.0> : tensor<$E>\n"                                          \
    "  %r = \"stablehlo.reduce_window\"(%x, %z) <{" attributes "}> ({\n"                           \
    "  ^bb0(%a: tensor<$E>, %b: tensor<$E>):\n"                                                    \
    "    %s = stablehlo.add %a, %b : tensor<$E>\n"                                                 \
    "    stablehlo.return %s : tensor<$E>\n"                                                       \
    "  }) : (tensor<" in "x$E>, tensor<$E>) -> tensor<" out "x$E>\n"                               \
    "  return %r : tensor<" out "x$E>\n}\n"
static const char cumsum_text[] = SUM_WINDOWS(
    "2x5",
    "window_dimensions = array<i64: 1, 5>, padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>",
    "2x5");
static const char dilated_text[] =
    SUM_WINDOWS("4x5",
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
/* ---- order ---- */

/* By the first array, downwards, with the second and positions along. */
static const char sort_two_text[] =
    "func.func @main(%x: tensor<4x3x$E>, %w: tensor<4x3x$E>) -> tensor<4x3x$E> {\n"
    "  %i = stablehlo.iota dim = 0 : tensor<4x3xi32>\n"
    "  %r:3 = \"stablehlo.sort\"(%x, %w, %i) <{dimension = 0 : i64, is_stable = true}> ({\n"
    "  ^bb0(%a: tensor<$E>, %b: tensor<$E>, %c: tensor<$E>, %d: tensor<$E>, %e: tensor<i32>, "
    "%f: tensor<i32>):\n"
    "    %l = stablehlo.compare GT, %a, %b : (tensor<$E>, tensor<$E>) -> tensor<i1>\n"
    "    stablehlo.return %l : tensor<i1>\n"
    "  }) : (tensor<4x3x$E>, tensor<4x3x$E>, tensor<4x3xi32>) -> "
    "(tensor<4x3x$E>, tensor<4x3x$E>, tensor<4x3xi32>)\n"
    "  %p = stablehlo.convert %r#2 : (tensor<4x3xi32>) -> tensor<4x3x$E>\n"
    "  %m = stablehlo.multiply %r#1, %p : tensor<4x3x$E>\n"
    "  %s = stablehlo.multiply %r#0, %m : tensor<4x3x$E>\n"
    "  return %s : tensor<4x3x$E>\n}\n";

/* ---- folds ---- */

#define FOLD_WINDOWS(in, init, attributes, op, out)                                                \
    "func.func @main(%x: tensor<" in "x$E>) -> tensor<" out "x$E> {\n"                             \
    "  %z = stablehlo.constant dense<" init "> : tensor<$E>\n"                                     \
    "  %r = \"stablehlo.reduce_window\"(%x, %z) <{" attributes "}> ({\n"                           \
    "  ^bb0(%a: tensor<$E>, %b: tensor<$E>):\n"                                                    \
    "    %s = stablehlo." op " %a, %b : tensor<$E>\n"                                              \
    "    stablehlo.return %s : tensor<$E>\n"                                                       \
    "  }) : (tensor<" in "x$E>, tensor<$E>) -> tensor<" out "x$E>\n"                               \
    "  return %r : tensor<" out "x$E>\n}\n"
static const char max_window_text[] =
    FOLD_WINDOWS("5x6", "-9.0",
                 "window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 2, 2>, "
                 "padding = dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>",
                 "maximum", "3x4");
static const char min_window_text[] =
    FOLD_WINDOWS("4x5", "9.0",
                 "window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>, "
                 "base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>, "
                 "padding = dense<[[3, 0], [0, 2]]> : tensor<2x2xi64>",
                 "minimum", "4x5");
static const char cumprod_text[] = FOLD_WINDOWS(
    "2x5", "1.0",
    "window_dimensions = array<i64: 1, 5>, padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>",
    "multiply", "2x5");
static const char product_window_text[] =
    FOLD_WINDOWS("4x5", "1.0",
                 "window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>, "
                 "base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>, "
                 "padding = dense<[[1, 0], [-1, 2]]> : tensor<2x2xi64>",
                 "multiply", "3x4");
static const char select_scatter_text[] =
    "func.func @main(%x: tensor<5x6x$E>, %s: tensor<3x4x$E>, %i: tensor<$E>) -> tensor<5x6x$E> {\n"
    "  %r = \"stablehlo.select_and_scatter\"(%x, %s, %i) <{window_dimensions = array<i64: 3, 2>, "
    "window_strides = array<i64: 2, 2>, padding = dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>}> ({\n"
    "  ^bb0(%a: tensor<$E>, %b: tensor<$E>):\n"
    "    %c = stablehlo.compare GE, %a, %b : (tensor<$E>, tensor<$E>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n  }, {\n"
    "  ^bb0(%a: tensor<$E>, %b: tensor<$E>):\n"
    "    %c = stablehlo.add %a, %b : tensor<$E>\n"
    "    stablehlo.return %c : tensor<$E>\n"
    "  }) : (tensor<5x6x$E>, tensor<3x4x$E>, tensor<$E>) -> tensor<5x6x$E>\n"
    "  return %r : tensor<5x6x$E>\n}\n";
/* A product from an initial value on; a maximum that the initial value may win. */
static const char product_text[] =
    "func.func @main(%x: tensor<3x5x$E>, %i: tensor<$E>) -> tensor<5x$E> {\n"
    "  %r = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [0] : "
    "(tensor<3x5x$E>, tensor<$E>) -> tensor<5x$E>\n"
    "  return %r : tensor<5x$E>\n}\n";
static const char relu_text[] =
    "func.func @main(%x: tensor<3x5x$E>) -> tensor<3x$E> {\n"
    "  %i = stablehlo.constant dense<0.5> : tensor<$E>\n"
    "  %r = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : "
    "(tensor<3x5x$E>, tensor<$E>) -> tensor<3x$E>\n"
    "  return %r : tensor<3x$E>\n}\n";
/* Affine maps composed: (a, b), (c, d) -> (a c, b c + d). */
static const char affine_text[] =
    "func.func @main(%x: tensor<3x5x$E>, %w: tensor<3x5x$E>) -> tensor<3x$E> {\n"
    "  %o = stablehlo.constant dense<1.0> : tensor<$E>\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<$E>\n"
    "  %r:2 = stablehlo.reduce(%x init: %o), (%w init: %z) across dimensions = [1] : "
    "(tensor<3x5x$E>, tensor<3x5x$E>, tensor<$E>, tensor<$E>) -> (tensor<3x$E>, tensor<3x$E>)\n"
    "  reducer(%a: tensor<$E>, %c: tensor<$E>) (%b: tensor<$E>, %d: tensor<$E>) {\n"
    "    %p = stablehlo.multiply %a, %c : tensor<$E>\n"
    "    %q = stablehlo.multiply %b, %c : tensor<$E>\n"
    "    %s = stablehlo.add %q, %d : tensor<$E>\n"
    "    stablehlo.return %p, %s : tensor<$E>, tensor<$E>\n  }\n"
    "  %m = stablehlo.multiply %r#0, %r#1 : tensor<3x$E>\n"
    "  return %m : tensor<3x$E>\n}\n";

/* ---- convolutions ---- */

#define CONVOLUTION_1D(x, w, y, window, batch_groups, feature_groups)                              \
    "func.func @main(%x: tensor<" x "x$E>, %w: tensor<" w "x$E>) -> tensor<" y "x$E> {\n"          \
    "  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "          \
    "window = {" window "} {batch_group_count = " batch_groups " : i64, "                          \
    "feature_group_count = " feature_groups " : i64} : "                                           \
    "(tensor<" x "x$E>, tensor<" w "x$E>) -> tensor<" y "x$E>\n"                                   \
    "  return %r : tensor<" y "x$E>\n}\n"
static const char depthwise_text[] =
    CONVOLUTION_1D("2x5x4", "2x1x8", "2x3x8", "stride = [2], pad = [[1, 0]]", "1", "4");
static const char batch_groups_text[] =
    CONVOLUTION_1D("6x5x2", "2x2x4", "3x4x4", "stride = [1], pad = [[0, 0]]", "2", "1");
static const char reversed_text[] = CONVOLUTION_1D(
    "1x6x2", "3x2x4", "1x5x4", "stride = [1], pad = [[1, 0]], reverse = [true]", "1", "1");

/* ---- Fourier transforms ---- */

/* Both parts of what comes out, one after the other. */
#define FOURIER(type, length, x, y, both)                                                          \
    "func.func @main(%x: tensor<" x "x$E>, %w: tensor<" x "x$E>) -> tensor<" both "x$E> {\n"       \
    "  %z = stablehlo.complex %x, %w : tensor<" x "xcomplex<$E>>\n"                                \
    "  %c = stablehlo.fft %z, type = " type ", length = [" length "] : (tensor<" x                 \
    "xcomplex<$E>>) -> tensor<" y "xcomplex<$E>>\n"                                                \
    "  %r = stablehlo.real %c : (tensor<" y "xcomplex<$E>>) -> tensor<" y "x$E>\n"                 \
    "  %i = stablehlo.imag %c : (tensor<" y "xcomplex<$E>>) -> tensor<" y "x$E>\n"                 \
    "  %b = stablehlo.concatenate %r, %i, dim = 0 : (tensor<" y "x$E>, tensor<" y "x$E>) -> "      \
    "tensor<" both "x$E>\n"                                                                        \
    "  return %b : tensor<" both "x$E>\n}\n"
static const char fft_complex_text[] = FOURIER("FFT", "5", "2x5", "2x5", "4x5");
static const char ifft_text[] = FOURIER("IFFT", "2, 6", "2x6", "2x6", "4x6");
static const char rfft_text[] =
    "func.func @main(%x: tensor<4x7x$E>) -> tensor<8x4x$E> {\n"
    "  %c = stablehlo.fft %x, type = RFFT, length = [4, 7] : (tensor<4x7x$E>) -> "
    "tensor<4x4xcomplex<$E>>\n"
    "  %r = stablehlo.real %c : (tensor<4x4xcomplex<$E>>) -> tensor<4x4x$E>\n"
    "  %i = stablehlo.imag %c : (tensor<4x4xcomplex<$E>>) -> tensor<4x4x$E>\n"
    "  %b = stablehlo.concatenate %r, %i, dim = 0 : (tensor<4x4x$E>, tensor<4x4x$E>) -> "
    "tensor<8x4x$E>\n"
    "  return %b : tensor<8x4x$E>\n}\n";
#define TO_REAL(length, x, y)                                                                      \
    "func.func @main(%x: tensor<" x "x$E>, %w: tensor<" x "x$E>) -> tensor<" y "x$E> {\n"          \
    "  %z = stablehlo.complex %x, %w : tensor<" x "xcomplex<$E>>\n"                                \
    "  %c = stablehlo.fft %z, type = IRFFT, length = [" length "] : (tensor<" x                    \
    "xcomplex<$E>>) -> tensor<" y "x$E>\n"                                                         \
    "  return %c : tensor<" y "x$E>\n}\n"
static const char irfft_text[] = TO_REAL("6", "2x4", "2x6");
static const char irfft_odd_text[] = TO_REAL("4, 7", "4x4", "4x7");

/* ---- linear algebra ---- */

static const char cholesky_upper_text[] =
    "func.func @main(%x: tensor<2x3x3x$E>) -> tensor<2x3x3x$E> {\n"
    "  %r = stablehlo.cholesky %x, lower = false : tensor<2x3x3x$E>\n"
    "  %a = stablehlo.iota dim = 1 : tensor<2x3x3xi32>\n"
    "  %b = stablehlo.iota dim = 2 : tensor<2x3x3xi32>\n"
    "  %c = stablehlo.compare LE, %a, %b : (tensor<2x3x3xi32>, tensor<2x3x3xi32>) -> "
    "tensor<2x3x3xi1>\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<2x3x3x$E>\n"
    "  %u = stablehlo.select %c, %r, %z : tensor<2x3x3xi1>, tensor<2x3x3x$E>\n"
    "  return %u : tensor<2x3x3x$E>\n}\n";
/* Of a complex matrix; x is its real part, w its imaginary part. */
static const char cholesky_complex_text[] =
    "func.func @main(%x: tensor<3x3x$E>, %w: tensor<3x3x$E>) -> tensor<6x3x$E> {\n"
    "  %z = stablehlo.complex %x, %w : tensor<3x3xcomplex<$E>>\n"
    "  %c = stablehlo.cholesky %z, lower = true : tensor<3x3xcomplex<$E>>\n"
    "  %r = stablehlo.real %c : (tensor<3x3xcomplex<$E>>) -> tensor<3x3x$E>\n"
    "  %i = stablehlo.imag %c : (tensor<3x3xcomplex<$E>>) -> tensor<3x3x$E>\n"
    "  %b = stablehlo.concatenate %r, %i, dim = 0 : (tensor<3x3x$E>, tensor<3x3x$E>) -> "
    "tensor<6x3x$E>\n"
    "  return %b : tensor<6x3x$E>\n}\n";
#define SOLVE(left, lower, unit, transpose, b)                                                     \
    "func.func @main(%a: tensor<3x3x$E>, %b: tensor<" b "x$E>) -> tensor<" b "x$E> {\n"            \
    "  %r = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = " left ", lower = " lower         \
    ", transpose_a = #stablehlo<transpose " transpose ">, unit_diagonal = " unit "}> : "           \
    "(tensor<3x3x$E>, tensor<" b "x$E>) -> tensor<" b "x$E>\n"                                     \
    "  return %r : tensor<" b "x$E>\n}\n"
static const char solve_right_text[] = SOLVE("false", "false", "false", "NO_TRANSPOSE", "2x3");
static const char solve_transposed_text[] = SOLVE("true", "true", "false", "TRANSPOSE", "3x2");
static const char solve_unit_text[] = SOLVE("true", "false", "true", "ADJOINT", "3x2");
/* (x + i w)' y = b + 2 i b */
static const char solve_complex_text[] =
    "func.func @main(%x: tensor<3x3x$E>, %w: tensor<3x3x$E>, %b: tensor<3x2x$E>) -> tensor<6x2x$E> "
    "{\n"
    "  %a = stablehlo.complex %x, %w : tensor<3x3xcomplex<$E>>\n"
    "  %b2 = stablehlo.add %b, %b : tensor<3x2x$E>\n"
    "  %d = stablehlo.complex %b, %b2 : tensor<3x2xcomplex<$E>>\n"
    "  %c = \"stablehlo.triangular_solve\"(%a, %d) <{left_side = true, lower = true, "
    "transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : "
    "(tensor<3x3xcomplex<$E>>, tensor<3x2xcomplex<$E>>) -> tensor<3x2xcomplex<$E>>\n"
    "  %r = stablehlo.real %c : (tensor<3x2xcomplex<$E>>) -> tensor<3x2x$E>\n"
    "  %i = stablehlo.imag %c : (tensor<3x2xcomplex<$E>>) -> tensor<3x2x$E>\n"
    "  %y = stablehlo.concatenate %r, %i, dim = 0 : (tensor<3x2x$E>, tensor<3x2x$E>) -> "
    "tensor<6x2x$E>\n"
    "  return %y : tensor<6x2x$E>\n}\n";

/* ---- random bits ---- */

static const char rng_bits_text[] =
    "func.func @main(%k: tensor<2xi32>) -> tensor<5xi32> {\n"
    "  %s = stablehlo.convert %k : (tensor<2xi32>) -> tensor<2xui64>\n"
    "  %n, %b = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> "
    "(tensor<2xui64>, tensor<5xui32>)\n"
    "  %h = stablehlo.constant dense<8> : tensor<5xui32>\n"
    "  %r = stablehlo.shift_right_logical %b, %h : tensor<5xui32>\n"
    "  %i = stablehlo.convert %r : (tensor<5xui32>) -> tensor<5xi32>\n"
    "  return %i : tensor<5xi32>\n}\n";

/* ---- functions ---- */

static const char composite_text[] =
    "func.func private @inner(%x: tensor<3x$E>) -> tensor<3x$E> {\n"
    "  %y = stablehlo.sine %x : tensor<3x$E>\n"
    "  %z = stablehlo.multiply %y, %x : tensor<3x$E>\n"
    "  return %z : tensor<3x$E>\n}\n"
    "func.func @main(%x: tensor<3x$E>) -> tensor<3x$E> {\n"
    "  %y = stablehlo.composite \"my.wave\" %x {decomposition = @inner} : "
    "(tensor<3x$E>) -> tensor<3x$E>\n"
    "  return %y : tensor<3x$E>\n}\n";

/* ---- loops of a known number of iterations ---- */

/* As JAX writes a scan: c <- sin(c w_i), and every sum of c is kept. */
static const char scan_text[] =
    "func.func private @step(%c: tensor<3x$E>, %w: tensor<3x$E>) -> (tensor<3x$E>, tensor<$E>) {\n"
    "  %m = stablehlo.multiply %c, %w : tensor<3x$E>\n"
    "  %s = stablehlo.sine %m : tensor<3x$E>\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<$E>\n"
    "  %t = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [0] : "
    "(tensor<3x$E>, tensor<$E>) -> tensor<$E>\n"
    "  return %s, %t : tensor<3x$E>, tensor<$E>\n}\n"
    "func.func @main(%x: tensor<3x$E>, %ws: tensor<5x3x$E>) -> tensor<8x$E> {\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<$E>\n"
    "  %ys = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<$E>) -> tensor<5x$E>\n"
    "  %o = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %r:4 = stablehlo.while(%v = %ws, %i = %o, %c = %x, %y = %ys) : tensor<5x3x$E>, tensor<i32>, "
    "tensor<3x$E>, tensor<5x$E>\n"
    "  cond {\n"
    "    %n = stablehlo.constant dense<5> : tensor<i32>\n"
    "    %g = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %g : tensor<i1>\n"
    "  } do {\n"
    "    %k = stablehlo.constant dense<0> : tensor<i32>\n"
    "    %d = stablehlo.dynamic_slice %v, %i, %k, sizes = [1, 3] : "
    "(tensor<5x3x$E>, tensor<i32>, tensor<i32>) -> tensor<1x3x$E>\n"
    "    %w = stablehlo.reshape %d : (tensor<1x3x$E>) -> tensor<3x$E>\n"
    "    %s:2 = func.call @step(%c, %w) : (tensor<3x$E>, tensor<3x$E>) -> "
    "(tensor<3x$E>, tensor<$E>)\n"
    "    %b = stablehlo.broadcast_in_dim %s#1, dims = [] : (tensor<$E>) -> tensor<1x$E>\n"
    "    %u = stablehlo.dynamic_update_slice %y, %b, %i : "
    "(tensor<5x$E>, tensor<1x$E>, tensor<i32>) -> tensor<5x$E>\n"
    "    %e = stablehlo.constant dense<1> : tensor<i32>\n"
    "    %j = stablehlo.add %i, %e : tensor<i32>\n"
    "    stablehlo.return %v, %j, %s#0, %u : tensor<5x3x$E>, tensor<i32>, tensor<3x$E>, "
    "tensor<5x$E>\n  }\n"
    "  %a = stablehlo.concatenate %r#2, %r#3, dim = 0 : (tensor<3x$E>, tensor<5x$E>) -> "
    "tensor<8x$E>\n"
    "  return %a : tensor<8x$E>\n}\n";
/* A loop in a loop: downwards from 9 by 4 to -3, and up to a bound from around it. */
static const char nested_text[] =
    "func.func @main(%x: tensor<3x$E>, %w: tensor<3x$E>) -> tensor<3x$E> {\n"
    "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %e = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %n = stablehlo.constant dense<2> : tensor<i32>\n"
    "  %f = stablehlo.constant dense<9> : tensor<i64>\n"
    "  %q = stablehlo.constant dense<4> : tensor<i64>\n"
    "  %t = stablehlo.constant dense<-3> : tensor<i64>\n"
    "  %r:2 = stablehlo.while(%i = %f, %v = %x) : tensor<i64>, tensor<3x$E>\n"
    "  cond {\n"
    "    %c = stablehlo.compare GE, %i, %t : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %k = stablehlo.subtract %i, %q : tensor<i64>\n"
    "    %h = stablehlo.convert %i : (tensor<i64>) -> tensor<$E>\n"
    "    %b = stablehlo.broadcast_in_dim %h, dims = [] : (tensor<$E>) -> tensor<3x$E>\n"
    "    %l = stablehlo.cosine %v : tensor<3x$E>\n"
    "    %s:3 = stablehlo.while(%j = %z, %u = %l, %m = %n) : tensor<i32>, tensor<3x$E>, "
    "tensor<i32>\n"
    "    cond {\n"
    "      %c = stablehlo.compare GT, %m, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "      stablehlo.return %c : tensor<i1>\n"
    "    } do {\n"
    "      %o = stablehlo.add %e, %j : tensor<i32>\n"
    "      %p = stablehlo.multiply %u, %v : tensor<3x$E>\n"
    "      %g = stablehlo.add %p, %w : tensor<3x$E>\n"
    "      %y = stablehlo.sine %g : tensor<3x$E>\n"
    "      stablehlo.return %o, %y, %m : tensor<i32>, tensor<3x$E>, tensor<i32>\n    }\n"
    "    %a = stablehlo.multiply %s#1, %b : tensor<3x$E>\n"
    "    %d = stablehlo.tanh %a : tensor<3x$E>\n"
    "    stablehlo.return %k, %d : tensor<i64>, tensor<3x$E>\n  }\n"
    "  return %r#1 : tensor<3x$E>\n}\n";
/* A loop that runs no turn, and one whose turns depend on nothing that varies. */
static const char idle_text[] =
    "func.func @main(%x: tensor<3x$E>) -> tensor<3x$E> {\n"
    "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %r:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i32>, tensor<3x$E>\n"
    "  cond {\n"
    "    %c = stablehlo.compare LT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %e = stablehlo.constant dense<1> : tensor<i32>\n"
    "    %k = stablehlo.add %i, %e : tensor<i32>\n"
    "    %s = stablehlo.sine %v : tensor<3x$E>\n"
    "    stablehlo.return %k, %s : tensor<i32>, tensor<3x$E>\n  }\n"
    "  %f = stablehlo.constant dense<1.0> : tensor<$E>\n"
    "  %g = stablehlo.constant dense<9.0> : tensor<$E>\n"
    "  %d = stablehlo.while(%u = %f) : tensor<$E>\n"
    "  cond {\n"
    "    %c = stablehlo.compare LT, %u, %g : (tensor<$E>, tensor<$E>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %k = stablehlo.add %u, %u : tensor<$E>\n"
    "    stablehlo.return %k : tensor<$E>\n  }\n"
    "  %b = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<$E>) -> tensor<3x$E>\n"
    "  %q = stablehlo.sine %r#1 : tensor<3x$E>\n"
    "  %y = stablehlo.multiply %q, %b : tensor<3x$E>\n"
    "  return %y : tensor<3x$E>\n}\n";
#endif
