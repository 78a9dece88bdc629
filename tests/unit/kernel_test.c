/* kernel_test.c - kernels against the evaluator: every element rule, over many shapes and all
 * element types; then reduce, dot, update, scatter.  Links the engine and LLVM.
 *
 * A case is the text of a program whose main is taken as the body of one fusion.  In it, $S is
 * a shape ("3x5x17x", or nothing), $E an element type; so tensor<$S$E>. */
#include "base/guard.h"
#include "engine/eval/eval.h"
#include "engine/floats.h"
#include "engine/link/link.h"
#include "engine/tensor.h"
#include "tests/check.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 12 };

typedef void KernelFn(Frame *, void *, void *, void *, void *, void *, void *, void *, void *,
                      void *, void *, void *, void *);

static Text filled(const char *pattern, const char *shape, const char *element)
{
    Text text = { 0 };
    for (const char *at = pattern; *at; at++)
        if (at[0] == '$' && at[1] == 'S')
            text_add(&text, shape, strlen(shape)), at++;
        else if (at[0] == '$' && at[1] == 'E')
            text_add(&text, element, strlen(element)), at++;
        else
            text_add(&text, at, 1);
    return text;
}

/* ---- numbers ---- */

static uint64_t seed = 1;

static uint32_t random_bits(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

static double random_float(void)
{
    static const double special[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 0.5, 2, 100, -80 };
    if (random_bits() % 8 == 0)
        return special[random_bits() % (sizeof special / sizeof special[0])];
    return ((double)random_bits() / 0x1p31 - 0.5) * (random_bits() % 4 ? 4 : 40);
}

/* `tame`: no special values, small, so that sums can be compared. */
static double random_number(bool tame)
{
    return tame ? floor((double)random_bits() / 0x1p31 * 16) / 8 - 1 : random_float();
}

static int64_t random_int(Element e, bool tame)
{
    if (tame)
        return (int64_t)(random_bits() % 7) - (element_info[e].kind == SIGNED ? 3 : 0);
    int64_t wide = (int64_t)((uint64_t)random_bits() << 33 ^ (uint64_t)random_bits() << 9);
    switch (random_bits() % 4) {
    case 0: return wide;
    case 1: return INT64_MIN >> (random_bits() % 64);
    case 2: return INT64_MAX >> (random_bits() % 64);
    default: return (int64_t)(random_bits() % 11) - 5;
    }
}

static Tensor tensor_new(Type type)
{
    size_t bytes = type_bytes(type);
    char *at = malloc(bytes + 64);
    memset(at, 0xa5, bytes + 64);
    return (Tensor){ type, at };
}

static Tensor tensor_random(Type type, bool tame)
{
    Tensor t = tensor_new(type);
    ElementKind kind = element_info[type.element].kind;
    for (int64_t i = 0; i < type_count(type); i++)
        if (kind == FLOAT)
            float_set(t, i, random_number(tame));
        else if (kind == COMPLEX)
            complex_set(t, i, CMPLX(random_number(tame), random_number(tame)));
        else
            int_set(t, i, random_int(type.element, tame));
    return t;
}

/* Within so many ulps of the type; numbers below the normal range count as zero. */
static bool close_floats(double x, double y, Element e, double ulps)
{
    double unit = e == F64 ? 0x1p-52 : e == F32 ? 0x1p-23 : e == F16 ? 0x1p-10 : 0x1p-7;
    double least = e == F64 ? 0x1p-1022 : e == F16 ? 0x1p-14 : 0x1p-126;
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    x = fabs(x) < least ? copysign(0, x) : x;
    y = fabs(y) < least ? copysign(0, y) : y;
    if (x == y)
        return ulps != 0 || signbit(x) == signbit(y);
    if (isinf(x) || isinf(y))
        return false;
    return fabs(x - y) <= ulps * unit * fmax(fabs(x), fabs(y));
}

static bool close_at(Tensor a, Tensor b, int64_t i, double ulps)
{
    Element e = a.type.element;
    if (element_info[e].kind == FLOAT)
        return close_floats(float_at(a, i), float_at(b, i), e, ulps);
    if (element_info[e].kind != COMPLEX)
        return int_at(a, i) == int_at(b, i);
    Complex x = complex_at(a, i), y = complex_at(b, i);
    double size = fmax(fabs(creal(y)), fabs(cimag(y))), far = ulps * (e == C64 ? 0x1p-23 : 0x1p-52);
    Element part = element_part(e);
    return (close_floats(creal(x), creal(y), part, ulps) ||
            fabs(creal(x) - creal(y)) <= far * size) &&
           (close_floats(cimag(x), cimag(y), part, ulps) ||
            fabs(cimag(x) - cimag(y)) <= far * size);
}

static void show_at(Tensor t, int64_t i)
{
    ElementKind kind = element_info[t.type.element].kind;
    if (kind == FLOAT)
        printf("%.17g", float_at(t, i));
    else if (kind == COMPLEX)
        printf("(%.17g, %.17g)", creal(complex_at(t, i)), cimag(complex_at(t, i)));
    else
        printf("%lld", (long long)int_at(t, i));
}

/* ---- one case ---- */

typedef struct Case {
    Module *m;
    NodeId fusion;
    RegionId body;
    int nin, nout;
    Tensor in[MOST], want[MOST], got[MOST];
} Case;

static bool must(Error *error, const char *text)
{
    if (error)
        printf("%s\n  in: %s\n", error_text(error), text);
    CHECK(!error);
    error_free(error);
    return !error;
}

/* Makes main's body the region of a fusion. */
static bool case_read(Case *c, const char *text)
{
    Text whole = { 0 };
    text_printf(&whole, "module @t {\n func.func public @main%s\n}\n", text);
    Error *error = read_text(text_cstr(&whole), whole.n, "test", &c->m);
    text_free(&whole);
    if (!must(error, text))
        return false;
    c->body = func_find(c->m, STR("main"))->body;
    const Region *body = region_at(c->m, c->body);
    const Node *end = region_return(c->m, c->body);
    ValueId args[MOST];
    Type results[MOST];
    c->nin = body->nargs;
    c->nout = end->nin;
    for (int i = 0; i < c->nin; i++)
        args[i] = body->args + (ValueId)i;
    for (int i = 0; i < c->nout; i++)
        results[i] = type_of(c->m, end->in[i]);
    c->fusion = node_new(c->m, OP_FUSION, c->nin, args, c->nout, results, 1, &c->body, NULL, NULL);
    return must(module_check(c->m), text);
}

/* More than 2^63 ns are many, not less than none. */
static void test_cost_of_the_largest(void)
{
    Case c = { 0 };
    CHECK(case_read(&c, "(%a: tensor<16777216x16777216xf32>, %b: tensor<16777216x16777216xf32>)"
                        " -> tensor<16777216x16777216xf32> {\n"
                        " %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
                        " : (tensor<16777216x16777216xf32>, tensor<16777216x16777216xf32>)"
                        " -> tensor<16777216x16777216xf32>\n"
                        " return %c : tensor<16777216x16777216xf32> }"));
    CHECK(kernel_cost(c.m, c.fusion) == INT64_C(1) << 40);
    module_free(c.m);
}

static const _Atomic int never;
static bool hurries; /* kernels are made as in a program without loops */

static Error *kernel_run(Case *c, bool in_place)
{
    Arena *arena = arena_new();
    Emit e;
    LLVMValueRef function;
    char *bytes = NULL;
    size_t n = 0;
    Code *code = NULL;
    void *address = NULL;
    Error *error = emit_begin(&e, arena, "test", NULL);
    e.hurries = hurries;
    if (!error)
        error = kernel_emit(&e, c->m, c->fusion, "kernel", &function);
    if (!error) {
        LLVMSetLinkage(function, LLVMExternalLinkage);
        error = emit_object(&e, &bytes, &n);
    }
    emit_end(&e);
    if (!error)
        code = code_new(), error = code_add(code, bytes, n);
    if (!error)
        error = code_find(code, "kernel", &address);
    if (!error) {
        Frame f = { .rt = &runtime, .cancel = &never, .partition = 3, .replica = 1 };
        void *p[MOST] = { 0 };
        for (int i = 0; i < c->nin; i++)
            p[i] = c->in[i].data;
        for (int i = 0; i < c->nout; i++)
            p[c->nin + i] = c->got[i].data;
        if (in_place)
            p[c->nin] = memcpy(c->got[0].data, c->in[0].data, type_bytes(c->in[0].type)),
            p[0] = p[c->nin];
        Floats outer = floats_enter_compiled();
        ((KernelFn *)address)(&f, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10],
                              p[11]);
        floats_restore(outer);
    }
    code_free(code);
    heap_free(bytes);
    arena_free(arena);
    return error;
}

static void case_compare(const Case *c, const char *text, double ulps)
{
    for (int o = 0; o < c->nout; o++) {
        const unsigned char *end = (unsigned char *)c->got[o].data + type_bytes(c->got[o].type);
        bool is_inside = true;
        for (int i = 0; i < 64; i++)
            is_inside = is_inside && end[i] == 0xa5;
        CHECK(is_inside);
        for (int64_t i = 0; i < type_count(c->want[o].type); i++) {
            if (close_at(c->got[o], c->want[o], i, ulps))
                continue;
            printf("result %d, element %lld: got ", o, (long long)i);
            show_at(c->got[o], i);
            printf(", want ");
            show_at(c->want[o], i);
            for (int a = 0; a < c->nin; a++)
                if (type_same_shape(c->in[a].type, c->want[o].type)) {
                    printf(" of ");
                    show_at(c->in[a], i);
                }
            printf("\n  in: %s\n", text);
            CHECK(!"the kernel and the evaluator agree");
            return;
        }
    }
}

static void try_text(const char *text, double ulps, bool tame)
{
    Case c = { 0 };
    if (!case_read(&c, text))
        return;
    for (int i = 0; i < c.nin; i++)
        c.in[i] = tensor_random(type_of(c.m, region_at(c.m, c.body)->args + (ValueId)i), tame);
    for (int i = 0; i < c.nout; i++) {
        Type type = type_of(c.m, region_return(c.m, c.body)->in[i]);
        c.want[i] = tensor_new(type);
        c.got[i] = tensor_new(type);
    }
    const Region *body = region_at(c.m, c.body);
    for (int i = 0; i < body->nnodes; i++)
        if (node_at(c.m, body->nodes[i])->op != OP_RETURN &&
            !kernel_can_emit(c.m, body->nodes[i])) {
            printf("kernel_can_emit says no\n  in: %s\n", text);
            CHECK(!"kernel_can_emit");
        }
    if (must(eval_region(c.m, c.body, c.in, c.want), text) && must(kernel_run(&c, false), text))
        case_compare(&c, text, ulps);
    CHECK(kernel_cost(c.m, c.fusion) > 0);
    if (c.nin && c.nout && kernel_reads_in_place(c.m, c.fusion, 0, 0)) {
        if (must(kernel_run(&c, true), text))
            case_compare(&c, text, ulps);
    }
    for (int i = 0; i < c.nin; i++)
        free(c.in[i].data);
    for (int i = 0; i < c.nout; i++) {
        free(c.want[i].data);
        free(c.got[i].data);
    }
    module_free(c.m);
}

static void try(const char *pattern, const char *shape, const char *element, double ulps, bool tame)
{
    Text text = filled(pattern, shape, element);
    try_text(text_cstr(&text), ulps, tame);
    text_free(&text);
}

/* ---- elementwise ---- */

static void unary(const char *op, const char *const *elements, double ulps)
{
    Text text = { 0 };
    text_printf(&text,
                "(%%x: tensor<$S$E>) -> tensor<$S$E> {\n  %%y = stablehlo.%s %%x : tensor<$S$E>\n"
                "  return %%y : tensor<$S$E>\n}",
                op);
    static const char *const shapes[] = { "", "1x", "7x", "16x", "17x", "1023x", "3x5x17x", "0x" };
    for (int e = 0; elements[e]; e++)
        for (int s = 0; s < (e < 1 ? 8 : 1); s++)
            try(text_cstr(&text), e < 1 ? shapes[s] : "1023x", elements[e], ulps, false);
    text_free(&text);
}

static void binary(const char *op, const char *const *elements, double ulps)
{
    Text text = { 0 };
    text_printf(&text,
                "(%%x: tensor<$S$E>, %%y: tensor<$S$E>) -> tensor<$S$E> {\n"
                "  %%z = stablehlo.%s %%x, %%y : tensor<$S$E>\n"
                "  return %%z : tensor<$S$E>\n}",
                op);
    for (int e = 0; elements[e]; e++) {
        try(text_cstr(&text), "1023x", elements[e], ulps, false);
        if (e == 0)
            try(text_cstr(&text), "3x7x", elements[e], ulps, false);
    }
    text_free(&text);
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define FLOATS "f32", "f64", "f16", "bf16"
#define INTS "i32", "i8", "i16", "i64", "ui8", "ui16", "ui32", "ui64", "i4", "ui4", "i2", "ui2"
#define COMPLEXES "complex<f32>", "complex<f64>"

static void test_floats(void)
{
    static const char *const exact[] = {
        "negate", "abs", "sign", "sqrt", "floor", "ceil", "round_nearest_even", "round_nearest_afz"
    };
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++)
        unary(exact[i], LIST(FLOATS), 0);
    unary("rsqrt", LIST(FLOATS), 2);
    unary("exponential", LIST(FLOATS), 2);
    unary("log", LIST(FLOATS), 2);
    unary("log_plus_one", LIST(FLOATS), 3);
    unary("exponential_minus_one", LIST(FLOATS), 3);
    unary("tanh", LIST(FLOATS), 4);
    unary("logistic", LIST(FLOATS), 4);
    unary("sine", LIST(FLOATS), 3);
    unary("cosine", LIST(FLOATS), 3);
    unary("tan", LIST(FLOATS), 4);
    binary("add", LIST(FLOATS), 0);
    binary("subtract", LIST(FLOATS), 0);
    binary("multiply", LIST(FLOATS), 0);
    binary("divide", LIST(FLOATS), 0);
    binary("maximum", LIST(FLOATS), 0);
    binary("minimum", LIST(FLOATS), 0);
    binary("power", LIST(FLOATS), 4);
    binary("atan2", LIST(FLOATS), 2);
    binary("remainder", LIST(FLOATS), 0);
}

static void test_ints(void)
{
    /* clang-format off */
    static const char *const one[] = { "negate", "abs", "sign", "not", "popcnt",
                                       "count_leading_zeros" };
    static const char *const two[] = { "add", "subtract", "multiply", "divide", "remainder",
                                       "maximum", "minimum", "and", "or", "xor", "power",
                                       "shift_left", "shift_right_logical",
                                       "shift_right_arithmetic" };
    /* clang-format on */
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++) {
        bool is_signed = !strcmp(one[i], "abs") || !strcmp(one[i], "sign");
        unary(one[i], is_signed ? LIST("i32", "i8", "i16", "i64", "i4", "i2") : LIST(INTS), 0);
    }
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
        binary(two[i], LIST(INTS), 0);
    static const char *const bools[] = {
        "add", "multiply", "maximum", "minimum", "and", "or", "xor"
    };
    for (size_t i = 0; i < sizeof bools / sizeof bools[0]; i++)
        binary(bools[i], LIST("i1"), 0);
    unary("not", LIST("i1"), 0);
}

static void test_complex(void)
{
    unary("negate", LIST(COMPLEXES), 0);
    static const char *const two[] = { "add", "subtract" };
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
        binary(two[i], LIST(COMPLEXES), 0);
    static const char *const tame1[] = {
        "exponential",           "log",          "sine",     "cosine", "tanh", "sqrt", "rsqrt",
        "exponential_minus_one", "log_plus_one", "logistic", "sign"
    };
    for (size_t i = 0; i < sizeof tame1 / sizeof tame1[0]; i++) {
        Text text = { 0 };
        text_printf(&text,
                    "(%%x: tensor<37x$E>) -> tensor<37x$E> {\n  %%y = stablehlo.%s %%x : "
                    "tensor<37x$E>\n  return %%y : tensor<37x$E>\n}",
                    tame1[i]);
        try(text_cstr(&text), "", "complex<f32>", 6, true);
        try(text_cstr(&text), "", "complex<f64>", 12, true);
        text_free(&text);
    }
    static const char *const tame2[] = { "multiply", "divide", "power" };
    for (size_t i = 0; i < sizeof tame2 / sizeof tame2[0]; i++) {
        Text text = { 0 };
        text_printf(&text,
                    "(%%x: tensor<37x$E>, %%y: tensor<37x$E>) -> tensor<37x$E> {\n  %%z = "
                    "stablehlo.%s %%x, %%y : tensor<37x$E>\n  return %%z : tensor<37x$E>\n}",
                    tame2[i]);
        try(text_cstr(&text), "", "complex<f32>", 6, true);
        try(text_cstr(&text), "", "complex<f64>", 24, true);
        text_free(&text);
    }
}

static void test_conversions(void)
{
    static const char *const all[] = { "i1", INTS, FLOATS, COMPLEXES };
    enum { N = sizeof all / sizeof all[0] };
    for (int i = 0; i < N; i++) {
        Text text = { 0 };
        text_printf(&text, "(%%x: tensor<37x%s>) -> (", all[i]);
        for (int j = 0; j < 10; j++)
            text_printf(&text, "%stensor<37x%s>", j ? ", " : "", all[(i + j) % N]);
        text_printf(&text, ") {\n");
        for (int j = 0; j < 10; j++)
            text_printf(&text,
                        "  %%y%d = stablehlo.convert %%x : (tensor<37x%s>) -> tensor<37x%s>\n", j,
                        all[i], all[(i + j) % N]);
        text_printf(&text, "  return ");
        for (int j = 0; j < 10; j++)
            text_printf(&text, "%s%%y%d", j ? ", " : "", j);
        text_printf(&text, " : ");
        for (int j = 0; j < 10; j++)
            text_printf(&text, "%stensor<37x%s>", j ? ", " : "", all[(i + j) % N]);
        text_printf(&text, "\n}");
        try_text(text_cstr(&text), 0, false);
        text_free(&text);
    }
}

/* ---- mixed elementwise, views ---- */

#define SHAPES "", "1x", "7x", "16x", "17x", "64x", "1023x", "3x5x17x", "2x33x", "4x0x3x"

static void test_mixed(void)
{
    static const char *const shapes[] = { SHAPES };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        try("(%x: tensor<$S$E>, %y: tensor<$S$E>, %p: tensor<$Si1>) -> (tensor<$S$E>, tensor<$Si1>,"
            " tensor<$Si32>, tensor<$S$E>) {\n"
            "  %z = stablehlo.multiply %x, %y : tensor<$S$E>\n"
            "  %c = stablehlo.compare LT, %z, %y : (tensor<$S$E>, tensor<$S$E>) -> tensor<$Si1>\n"
            "  %q = stablehlo.and %c, %p : tensor<$Si1>\n"
            "  %s = stablehlo.select %q, %x, %z : tensor<$Si1>, tensor<$S$E>\n"
            "  %i = stablehlo.convert %q : (tensor<$Si1>) -> tensor<$Si32>\n"
            "  %b = stablehlo.bitcast_convert %x : (tensor<$Sf32>) -> tensor<$Si32>\n"
            "  %j = stablehlo.xor %i, %b : tensor<$Si32>\n"
            "  %m = stablehlo.maximum %s, %y : tensor<$S$E>\n"
            "  return %s, %q, %j, %m : tensor<$S$E>, tensor<$Si1>, tensor<$Si32>, tensor<$S$E>\n}",
            shapes[s], "f32", 0, false);
        try("(%lo: tensor<$E>, %x: tensor<$S$E>, %hi: tensor<$E>, %p: tensor<i1>) -> tensor<$S$E> "
            "{\n"
            "  %z = stablehlo.clamp %lo, %x, %hi : (tensor<$E>, tensor<$S$E>, tensor<$E>) -> "
            "tensor<$S$E>\n"
            "  %w = stablehlo.select %p, %z, %x : tensor<i1>, tensor<$S$E>\n"
            "  return %w : tensor<$S$E>\n}",
            shapes[s], "i32", 0, false);
    }
    static const char *const kinds[] = { "", ", FLOAT", ", TOTALORDER" };
    static const char *const ways[] = { "EQ", "NE", "GE", "GT", "LE", "LT" };
    for (int w = 0; w < 6; w++)
        for (int c = 0; c < 3; c++) {
            Text text = { 0 };
            text_printf(&text,
                        "(%%x: tensor<99x$E>, %%y: tensor<99x$E>) -> tensor<99xi1> {\n"
                        "  %%z = stablehlo.compare %s, %%x, %%y%s : (tensor<99x$E>, "
                        "tensor<99x$E>) -> tensor<99xi1>\n  return %%z : tensor<99xi1>\n}",
                        ways[w], kinds[c]);
            try(text_cstr(&text), "", c == 0 ? "ui8" : "f32", 0, false);
            try(text_cstr(&text), "", c == 0 ? "i64" : "bf16", 0, false);
            text_free(&text);
        }
}

static void test_views(void)
{
    static const char *const elements[] = { "f32", "i1", "bf16", "complex<f32>", "i64", "i4" };
    static const char *const programs[] = {
        /* rows and columns */
        "(%x: tensor<9x21x$E>, %r: tensor<21x$E>, %c: tensor<9x$E>, %s: tensor<$E>) -> "
        "tensor<9x21x$E> {\n"
        "  %a = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<21x$E>) -> tensor<9x21x$E>\n"
        "  %b = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<9x$E>) -> tensor<9x21x$E>\n"
        "  %d = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<$E>) -> tensor<9x21x$E>\n"
        "  %e = stablehlo.add %x, %a : tensor<9x21x$E>\n"
        "  %f = stablehlo.add %e, %b : tensor<9x21x$E>\n"
        "  %g = stablehlo.add %f, %d : tensor<9x21x$E>\n"
        "  return %g : tensor<9x21x$E>\n}",
        /* extents of 1 that are broadcast */
        "(%x: tensor<3x1x20x$E>) -> tensor<2x3x4x20x$E> {\n"
        "  %a = stablehlo.broadcast_in_dim %x, dims = [1, 2, 3] : (tensor<3x1x20x$E>) -> "
        "tensor<2x3x4x20x$E>\n"
        "  return %a : tensor<2x3x4x20x$E>\n}",
        "(%x: tensor<12x10x$E>) -> tensor<10x12x$E> {\n"
        "  %a = stablehlo.transpose %x, dims = [1, 0] : (tensor<12x10x$E>) -> tensor<10x12x$E>\n"
        "  return %a : tensor<10x12x$E>\n}",
        "(%x: tensor<2x3x4x20x$E>) -> tensor<3x2x4x20x$E> {\n"
        "  %a = stablehlo.transpose %x, dims = [1, 0, 2, 3] : (tensor<2x3x4x20x$E>) -> "
        "tensor<3x2x4x20x$E>\n"
        "  return %a : tensor<3x2x4x20x$E>\n}",
        "(%x: tensor<32x3x48x$E>) -> tensor<48x3x32x$E> {\n"
        "  %a = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<32x3x48x$E>) -> "
        "tensor<48x3x32x$E>\n"
        "  return %a : tensor<48x3x32x$E>\n}",
        "(%x: tensor<3x8x4x$E>) -> tensor<3x4x8x$E> {\n"
        "  %a = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<3x8x4x$E>) -> tensor<3x4x8x$E>\n"
        "  return %a : tensor<3x4x8x$E>\n}",
        /* rows of three, moved whole and turned */
        "(%x: tensor<5x70x3x$E>) -> tensor<70x5x3x$E> {\n"
        "  %a = stablehlo.reverse %x, dims = [1] : tensor<5x70x3x$E>\n"
        "  %b = stablehlo.transpose %a, dims = [1, 0, 2] : (tensor<5x70x3x$E>) -> "
        "tensor<70x5x3x$E>\n"
        "  return %b : tensor<70x5x3x$E>\n}",
        "(%x: tensor<70x4x3x$E>) -> tensor<4x70x3x$E> {\n"
        "  %a = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<70x4x3x$E>) -> "
        "tensor<4x70x3x$E>\n"
        "  return %a : tensor<4x70x3x$E>\n}",
        /* a reshape under a transpose: coordinates by division */
        "(%x: tensor<6x20x$E>) -> tensor<10x12x$E> {\n"
        "  %a = stablehlo.reshape %x : (tensor<6x20x$E>) -> tensor<12x10x$E>\n"
        "  %b = stablehlo.transpose %a, dims = [1, 0] : (tensor<12x10x$E>) -> tensor<10x12x$E>\n"
        "  return %b : tensor<10x12x$E>\n}",
        "(%x: tensor<4x64x$E>, %r: tensor<8x$E>) -> tensor<256x$E> {\n"
        "  %a = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<8x$E>) -> tensor<32x8x$E>\n"
        "  %b = stablehlo.reshape %a : (tensor<32x8x$E>) -> tensor<256x$E>\n"
        "  %c = stablehlo.reshape %x : (tensor<4x64x$E>) -> tensor<256x$E>\n"
        "  %d = stablehlo.add %b, %c : tensor<256x$E>\n"
        "  return %d : tensor<256x$E>\n}",
        "(%x: tensor<10x40x$E>) -> tensor<3x19x$E> {\n"
        "  %a = stablehlo.slice %x [1:10:3, 2:40:2] : (tensor<10x40x$E>) -> tensor<3x19x$E>\n"
        "  return %a : tensor<3x19x$E>\n}",
        "(%x: tensor<10x40x$E>) -> tensor<4x35x$E> {\n"
        "  %a = stablehlo.slice %x [3:7, 5:40] : (tensor<10x40x$E>) -> tensor<4x35x$E>\n"
        "  return %a : tensor<4x35x$E>\n}",
        "(%x: tensor<3x40x$E>) -> tensor<3x40x$E> {\n"
        "  %a = stablehlo.reverse %x, dims = [0, 1] : tensor<3x40x$E>\n"
        "  return %a : tensor<3x40x$E>\n}",
        /* neighbours that lie a few apart, backwards: of whole groups, of others, and with some lanes off */
        "(%x: tensor<3x40x2x$E>) -> tensor<3x40x$E> {\n"
        "  %a = stablehlo.reverse %x, dims = [1] : tensor<3x40x2x$E>\n"
        "  %b = stablehlo.slice %a [0:3, 0:40, 1:2] : (tensor<3x40x2x$E>) -> tensor<3x40x1x$E>\n"
        "  %c = stablehlo.reshape %b : (tensor<3x40x1x$E>) -> tensor<3x40x$E>\n"
        "  return %c : tensor<3x40x$E>\n}",
        "(%x: tensor<2x118x$E>, %v: tensor<$E>) -> tensor<2x45x$E> {\n"
        "  %a = stablehlo.slice %x [0:2, 1:118:3] : (tensor<2x118x$E>) -> tensor<2x39x$E>\n"
        "  %b = stablehlo.reverse %a, dims = [1] : tensor<2x39x$E>\n"
        "  %c = stablehlo.pad %b, %v, low = [0, 2], high = [0, 4], interior = [0, 0] : "
        "(tensor<2x39x$E>, tensor<$E>) -> tensor<2x45x$E>\n"
        "  return %c : tensor<2x45x$E>\n}",
        /* channels: the loops around rows are few each */
        "(%x: tensor<3x5x4x20x$E>, %c: tensor<5x$E>) -> tensor<3x5x4x20x$E> {\n"
        "  %a = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<5x$E>) -> tensor<3x5x4x20x$E>\n"
        "  %b = stablehlo.add %x, %a : tensor<3x5x4x20x$E>\n"
        "  return %b : tensor<3x5x4x20x$E>\n}",
        "(%x: tensor<3x20x$E>, %v: tensor<$E>) -> tensor<6x25x$E> {\n"
        "  %a = stablehlo.pad %x, %v, low = [1, 2], high = [2, 3], interior = [0, 0] : "
        "(tensor<3x20x$E>, tensor<$E>) -> tensor<6x25x$E>\n"
        "  return %a : tensor<6x25x$E>\n}",
        "(%x: tensor<3x20x$E>, %v: tensor<$E>) -> tensor<5x44x$E> {\n"
        "  %a = stablehlo.pad %x, %v, low = [-1, 3], high = [1, -17], interior = [1, 2] : "
        "(tensor<3x20x$E>, tensor<$E>) -> tensor<5x44x$E>\n"
        "  return %a : tensor<5x44x$E>\n}",
        "(%x: tensor<3x20x$E>, %y: tensor<3x5x$E>, %z: tensor<3x0x$E>, %w: tensor<3x17x$E>) -> "
        "tensor<3x42x$E> {\n"
        "  %a = stablehlo.concatenate %x, %y, %z, %w, dim = 1 : (tensor<3x20x$E>, tensor<3x5x$E>, "
        "tensor<3x0x$E>, tensor<3x17x$E>) -> tensor<3x42x$E>\n"
        "  return %a : tensor<3x42x$E>\n}",
        "(%x: tensor<3x20x$E>, %y: tensor<4x20x$E>) -> tensor<7x20x$E> {\n"
        "  %a = stablehlo.concatenate %x, %y, dim = 0 : (tensor<3x20x$E>, tensor<4x20x$E>) -> "
        "tensor<7x20x$E>\n"
        "  return %a : tensor<7x20x$E>\n}",
        /* neighbours that all views leave side by side are one: rows of 7 x 3, also with an extent of 1 between */
        "(%x: tensor<4x7x3x$E>, %y: tensor<2x5x3x$E>, %v: tensor<$E>) -> tensor<7x10x3x$E> {\n"
        "  %a = stablehlo.slice %x [1:4, 2:7, 0:3] : (tensor<4x7x3x$E>) -> tensor<3x5x3x$E>\n"
        "  %b = stablehlo.reverse %a, dims = [0] : tensor<3x5x3x$E>\n"
        "  %c = stablehlo.concatenate %y, %b, dim = 0 : (tensor<2x5x3x$E>, tensor<3x5x3x$E>) -> "
        "tensor<5x5x3x$E>\n"
        "  %d = stablehlo.concatenate %c, %c, dim = 1 : (tensor<5x5x3x$E>, tensor<5x5x3x$E>) -> "
        "tensor<5x10x3x$E>\n"
        "  %e = stablehlo.pad %d, %v, low = [1, -1, 0], high = [1, 1, 0], interior = [0, 0, 0] : "
        "(tensor<5x10x3x$E>, tensor<$E>) -> tensor<7x10x3x$E>\n"
        "  return %e : tensor<7x10x3x$E>\n}",
        "(%x: tensor<6x5x1x40x$E>, %v: tensor<$E>) -> tensor<3x7x1x40x$E> {\n"
        "  %a = stablehlo.slice %x [0:6:2, 0:5, 0:1, 0:40] : (tensor<6x5x1x40x$E>) -> "
        "tensor<3x5x1x40x$E>\n"
        "  %b = stablehlo.reverse %a, dims = [1, 2, 3] : tensor<3x5x1x40x$E>\n"
        "  %c = stablehlo.pad %b, %v, low = [0, 1, 0, 0], high = [0, 1, 0, 0], "
        "interior = [0, 0, 0, 0] : (tensor<3x5x1x40x$E>, tensor<$E>) -> tensor<3x7x1x40x$E>\n"
        "  return %c : tensor<3x7x1x40x$E>\n}",
        "(%x: tensor<4x5x20x$E>, %y: tensor<4x2x20x$E>) -> tensor<4x1x20x$E> {\n"
        "  %a = stablehlo.concatenate %x, %y, dim = 1 : (tensor<4x5x20x$E>, tensor<4x2x20x$E>) -> "
        "tensor<4x7x20x$E>\n"
        "  %b = stablehlo.slice %a [0:4, 4:5, 0:20] : (tensor<4x7x20x$E>) -> tensor<4x1x20x$E>\n"
        "  return %b : tensor<4x1x20x$E>\n}",
        "(%x: tensor<9x40x$E>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<3x21x$E> {\n"
        "  %a = stablehlo.dynamic_slice %x, %i, %j, sizes = [3, 21] : (tensor<9x40x$E>, "
        "tensor<i32>, tensor<i32>) -> tensor<3x21x$E>\n"
        "  return %a : tensor<3x21x$E>\n}",
    };
    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
            try(programs[p], "", elements[e], 0, true);
}

static void test_sources(void)
{
    try_text("() -> (tensor<3x17xi32>, tensor<3x17xf32>, tensor<3x17xui8>, "
             "tensor<3x17xcomplex<f32>>, tensor<3x17xbf16>) {\n"
             "  %a = stablehlo.iota dim = 0 : tensor<3x17xi32>\n"
             "  %b = stablehlo.iota dim = 1 : tensor<3x17xf32>\n"
             "  %c = stablehlo.iota dim = 1 : tensor<3x17xui8>\n"
             "  %d = stablehlo.iota dim = 1 : tensor<3x17xcomplex<f32>>\n"
             "  %e = stablehlo.iota dim = 0 : tensor<3x17xbf16>\n"
             "  return %a, %b, %c, %d, %e : tensor<3x17xi32>, tensor<3x17xf32>, tensor<3x17xui8>, "
             "tensor<3x17xcomplex<f32>>, tensor<3x17xbf16>\n}",
             0, true);
    try_text("(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {\n"
             "  %a = stablehlo.constant dense<[[1.5, -2.0, 3.0], [4.0, 5.0, 1.0e10]]> : "
             "tensor<2x3xf32>\n"
             "  %b = stablehlo.constant dense<2.5> : tensor<2x3xf32>\n"
             "  %c = stablehlo.add %a, %x : tensor<2x3xf32>\n"
             "  %d = stablehlo.multiply %b, %x : tensor<2x3xf32>\n"
             "  return %c, %d : tensor<2x3xf32>, tensor<2x3xf32>\n}",
             0, true);
    try_text("(%x: tensor<19xi32>, %y: tensor<19x4xui8>) -> (tensor<19x4xui8>) {\n"
             "  %a = stablehlo.bitcast_convert %x : (tensor<19xi32>) -> tensor<19x4xui8>\n"
             "  return %a : tensor<19x4xui8>\n}",
             0, false);
    try_text("(%y: tensor<19x4xui8>) -> (tensor<19xf32>) {\n"
             "  %a = stablehlo.bitcast_convert %y : (tensor<19x4xui8>) -> tensor<19xf32>\n"
             "  return %a : tensor<19xf32>\n}",
             0, false);
    try_text("(%y: tensor<19x2xbf16>) -> (tensor<19xui32>) {\n"
             "  %a = stablehlo.bitcast_convert %y : (tensor<19x2xbf16>) -> tensor<19xui32>\n"
             "  return %a : tensor<19xui32>\n}",
             0, true);
    try_text("(%x: tensor<99xf32>) -> (tensor<99xf32>, tensor<99xf32>) {\n"
             "  %a = stablehlo.reduce_precision %x, format = e5m10 : tensor<99xf32>\n"
             "  %b = stablehlo.reduce_precision %x, format = e8m7 : tensor<99xf32>\n"
             "  return %a, %b : tensor<99xf32>, tensor<99xf32>\n}",
             0, false);
    try_text("(%x: tensor<99xf32>, %y: tensor<99xf32>) -> (tensor<99xi1>, tensor<99xcomplex<f32>>, "
             "tensor<99xf32>) {\n"
             "  %a = stablehlo.is_finite %x : (tensor<99xf32>) -> tensor<99xi1>\n"
             "  %b = stablehlo.complex %x, %y : tensor<99xcomplex<f32>>\n"
             "  %c = stablehlo.imag %b : (tensor<99xcomplex<f32>>) -> tensor<99xf32>\n"
             "  return %a, %b, %c : tensor<99xi1>, tensor<99xcomplex<f32>>, tensor<99xf32>\n}",
             0, false);
}

static void test_gather(void)
{
    static const char *const elements[] = { "f32", "i8", "complex<f64>" };
    static const char *const programs[] = {
        /* rows of a table */
        "(%x: tensor<10x37x$E>, %i: tensor<6x1xi32>) -> tensor<6x37x$E> {\n"
        "  %a = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "
        "[1], "
        "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
        "indices_are_sorted = false, "
        "slice_sizes = array<i64: 1, 37>}> : (tensor<10x37x$E>, tensor<6x1xi32>) -> "
        "tensor<6x37x$E>\n"
        "  return %a : tensor<6x37x$E>\n}",
        /* short rows, alone and doubled */
        "(%x: tensor<10x3x$E>, %i: tensor<70x1xi32>) -> tensor<70x3x$E> {\n"
        "  %a = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "
        "[1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
        "slice_sizes = array<i64: 1, 3>}> : (tensor<10x3x$E>, tensor<70x1xi32>) -> "
        "tensor<70x3x$E>\n"
        "  return %a : tensor<70x3x$E>\n}",
        "(%x: tensor<10x3x$E>, %i: tensor<70x1xi32>) -> tensor<70x3x$E> {\n"
        "  %a = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "
        "[1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
        "slice_sizes = array<i64: 1, 3>}> : (tensor<10x3x$E>, tensor<70x1xi32>) -> "
        "tensor<70x3x$E>\n"
        "  %b = stablehlo.add %a, %a : tensor<70x3x$E>\n"
        "  return %b : tensor<70x3x$E>\n}",
        /* single elements */
        "(%x: tensor<10x7x$E>, %i: tensor<40x2xi64>) -> tensor<40x$E> {\n"
        "  %a = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<"
        "collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 1>, "
        "indices_are_sorted = false, "
        "slice_sizes = array<i64: 1, 1>}> : (tensor<10x7x$E>, tensor<40x2xi64>) -> tensor<40x$E>\n"
        "  return %a : tensor<40x$E>\n}",
        /* windows, indices without a vector dimension, unsigned */
        "(%x: tensor<10x7x$E>, %i: tensor<5xui8>) -> tensor<3x5x2x$E> {\n"
        "  %a = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "
        "[0, 2], "
        "start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, "
        "slice_sizes = array<i64: 3, 2>}> : (tensor<10x7x$E>, tensor<5xui8>) -> tensor<3x5x2x$E>\n"
        "  return %a : tensor<3x5x2x$E>\n}",
    /* numbers that follow from where they stand: windows, backwards, some of them outside */
#define OF_IOTAS(extent, step, first)                                                              \
    "(%x: tensor<" extent "x$E>) -> tensor<7x37x$E> {\n"                                           \
    "  %i = stablehlo.iota dim = 0 : tensor<7x37xi32>\n"                                           \
    "  %j = stablehlo.iota dim = 0 : tensor<37xi32>\n"                                             \
    "  %k = stablehlo.broadcast_in_dim %j, dims = [1] : (tensor<37xi32>) -> tensor<7x37xi32>\n"    \
    "  %s = stablehlo.constant dense<" step "> : tensor<7x37xi32>\n"                               \
    "  %f = stablehlo.constant dense<" first "> : tensor<7x37xi32>\n"                              \
    "  %m = stablehlo.multiply %i, %s : tensor<7x37xi32>\n"                                        \
    "  %n = stablehlo.add %m, %f : tensor<7x37xi32>\n"                                             \
    "  %o = stablehlo.subtract %n, %k : tensor<7x37xi32>\n"                                        \
    "  %p = stablehlo.add %n, %k : tensor<7x37xi32>\n" GATHERED("a", "o", extent)                  \
        GATHERED("b", "p", extent) "  %c = stablehlo.add %a, %b : tensor<7x37x$E>\n  return "      \
                                   "%c : tensor<7x37x$E>\n}"
#define GATHERED(to, by, extent)                                                                   \
    "  %" to " = \"stablehlo.gather\"(%x, %" by ") <{dimension_numbers = #stablehlo.gather<"       \
    "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, "                   \
    "indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<" extent                  \
    "x$E>, tensor<7x37xi32>) -> tensor<7x37x$E>\n"
        OF_IOTAS("91", "3", "36"),
        OF_IOTAS("91", "-3", "54"),
        OF_IOTAS("90", "3", "36"),
        OF_IOTAS("91", "3", "35"),
        /* a diagonal; places that are a constant, in steps and not */
        "(%x: tensor<40x40x$E>) -> tensor<40x$E> {\n"
        "  %i = stablehlo.iota dim = 0 : tensor<40x1xi32>\n"
        "  %j = stablehlo.concatenate %i, %i, dim = 1 : (tensor<40x1xi32>, tensor<40x1xi32>) -> "
        "tensor<40x2xi32>\n"
        "  %a = \"stablehlo.gather\"(%x, %j) <{dimension_numbers = #stablehlo.gather<"
        "collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, "
        "indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<40x40x$E>, "
        "tensor<40x2xi32>) -> tensor<40x$E>\n"
        "  return %a : tensor<40x$E>\n}",
        "(%x: tensor<9x40x$E>) -> tensor<4x40x$E> {\n"
        "  %i = stablehlo.constant dense<[8, 6, 4, 2]> : tensor<4xi32>\n"
        "  %j = stablehlo.constant dense<[8, 6, 4, 3]> : tensor<4xi32>\n"
        "  %a = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "
        "[1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
        "indices_are_sorted = false, slice_sizes = array<i64: 1, 40>}> : (tensor<9x40x$E>, "
        "tensor<4xi32>) -> tensor<4x40x$E>\n"
        "  %b = \"stablehlo.gather\"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = "
        "[1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
        "indices_are_sorted = false, slice_sizes = array<i64: 1, 40>}> : (tensor<9x40x$E>, "
        "tensor<4xi32>) -> tensor<4x40x$E>\n"
        "  %c = stablehlo.subtract %a, %b : tensor<4x40x$E>\n"
        "  return %c : tensor<4x40x$E>\n}",
    /* windows of dimensions that stay one: all three, and the last two */
#define OF_WINDOWS(sizes, window)                                                                  \
    "(%x: tensor<4x9x5x3x$E>, %i: tensor<6x3xi32>) -> tensor<6x" window "x$E> {\n"                 \
    "  %a = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "   \
    "[1, 2, 3], collapsed_slice_dims = [0], start_index_map = [0, 1, 2], index_vector_dim = 1>, "  \
    "indices_are_sorted = false, slice_sizes = array<i64: 1, " sizes ">}> : "                      \
    "(tensor<4x9x5x3x$E>, tensor<6x3xi32>) -> tensor<6x" window "x$E>\n"                           \
    "  return %a : tensor<6x" window "x$E>\n}"
        OF_WINDOWS("4, 5, 3", "4x5x3"),
        OF_WINDOWS("9, 2, 3", "9x2x3"),
        OF_WINDOWS("1, 5, 3", "1x5x3"),
        OF_WINDOWS("7, 1, 3", "7x1x3"),
        /* batched */
        "(%x: tensor<4x9x$E>, %i: tensor<4x6x1xi32>) -> tensor<4x6x$E> {\n"
        "  %a = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<"
        "collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = "
        "[0], "
        "start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, "
        "slice_sizes = array<i64: 1, 1>}> : (tensor<4x9x$E>, tensor<4x6x1xi32>) -> tensor<4x6x$E>\n"
        "  return %a : tensor<4x6x$E>\n}",
    };
    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++) {
            try(programs[p], "", elements[e], 0, true);
            try(programs[p], "", elements[e], 1, false);
        }
}

/* ---- roots ---- */

/* Tables that lie in registers: of one, two, three and all, with a part of the last, and some that are too long or
 * end within a word; also under a mask. */
static void test_small_tables(void)
{
    static const char *const elements[] = { "f32", "bf16", "ui8", "i1", "i32", "f64" };
    static const int extents[] = { 1, 4, 16, 31, 40, 130, 256, 300 };
    for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
        for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++) {
            Text text = { 0 };
            int n = extents[i];
            text_printf(
                &text,
                "(%%x: tensor<%dx$E>, %%i: tensor<91xui8>, %%v: tensor<$E>) -> (tensor<150x$E>, "
                "tensor<150x$E>) {\n"
                "  %%j = stablehlo.convert %%i : (tensor<91xui8>) -> tensor<91xi32>\n"
                "  %%a = \"stablehlo.gather\"(%%x, %%j) <{dimension_numbers = #stablehlo.gather<"
                "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
                "indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<%dx$E>, "
                "tensor<91xi32>) -> tensor<91x$E>\n"
                "  %%b = stablehlo.pad %%a, %%v, low = [20], high = [39], interior = [0] : "
                "(tensor<91x$E>, tensor<$E>) -> tensor<150x$E>\n"
                "  %%c = stablehlo.concatenate %%a, %%a, dim = 0 : (tensor<91x$E>, "
                "tensor<91x$E>) -> tensor<182x$E>\n"
                "  %%d = stablehlo.slice %%c [2:152] : (tensor<182x$E>) -> tensor<150x$E>\n"
                "  return %%b, %%d : tensor<150x$E>, tensor<150x$E>\n}",
                n, n);
            try(text_cstr(&text), "", elements[e], 0, true);
            text_free(&text);
        }
}

static void reduce(const char *op, const char *shape, const char *dims, const char *out,
                   const char *element)
{
    Text text = { 0 };
    text_printf(
        &text,
        "(%%x: tensor<%s$E>, %%y: tensor<%s$E>, %%i: tensor<$E>) -> tensor<%s$E> {\n"
        "  %%z = stablehlo.%s %%x, %%y : tensor<%s$E>\n"
        "  %%r = stablehlo.reduce(%%z init: %%i) applies stablehlo.%s across dimensions = [%s] : "
        "(tensor<%s$E>, tensor<$E>) -> tensor<%s$E>\n  return %%r : tensor<%s$E>\n}",
        shape, shape, out, strcmp(element, "i1") ? "add" : "xor", shape, op, dims, shape, out, out);
    try(text_cstr(&text), "", element, strcmp(element, "bf16") && strcmp(element, "f16") ? 64 : 40,
        true);
    text_free(&text);
}

static void test_reduce(void)
{
    static const char *const shapes[][3] = {
        { "100x", "0", "" },         { "5x", "0", "" },           { "16x", "0", "" },
        { "1x", "0", "" },           { "0x", "0", "" },           { "7x0x", "1", "7x" },
        { "9x70x", "1", "9x" },      { "9x70x", "0", "70x" },     { "9x200x", "0", "200x" },
        { "40x3x", "0", "3x" },      { "40x3x", "1", "40x" },     { "9x1x", "1", "9x" },
        { "1x33x", "0", "33x" },     { "4x5x6x", "0, 2", "5x" },  { "4x5x35x", "0, 1", "35x" },
        { "4x5x35x", "1, 2", "4x" }, { "4x5x35x", "1", "4x35x" }, { "4x5x6x7x", "1, 3", "4x6x" },
        { "3x4x", "", "3x4x" },      { "2x3x300x", "2", "2x3x" }, { "4x5x35x", "0, 1, 2", "" },
        { "20x600x", "0", "600x" },
    };
    enum { N = sizeof shapes / sizeof shapes[0] };
    for (int s = 0; s < N; s++) {
        reduce("add", shapes[s][0], shapes[s][1], shapes[s][2], "f32");
        reduce("maximum", shapes[s][0], shapes[s][1], shapes[s][2], "i32");
    }
    static const char *const ops[] = {
        "add", "multiply", "maximum", "minimum", "and", "or", "xor"
    };
    static const char *const elements[] = { "i1", INTS, FLOATS, COMPLEXES };
    for (size_t o = 0; o < sizeof ops / sizeof ops[0]; o++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++) {
            bool is_real = elements[e][0] == 'f' || elements[e][0] == 'b';
            bool is_complex = elements[e][0] == 'c';
            if ((o >= 4 && (is_real || is_complex)) || (o >= 1 && is_complex) ||
                (o == 1 && is_real))
                continue;
            reduce(ops[o], "3x37x", "1", "3x", elements[e]);
            reduce(ops[o], "3x37x", "0", "37x", elements[e]);
        }
}

/* Rows of bf16, which are read by pairs if they can: of even and odd lengths, with and without a rest. */
static void test_reduce_pairs(void)
{
    static const char *const shapes[][3] = {
        { "5x128x", "1", "5x" },     { "5x130x", "1", "5x" },     { "5x127x", "1", "5x" },
        { "3x32x", "1", "3x" },      { "3x62x", "1", "3x" },      { "2x4500x", "1", "2x" },
        { "4x5x38x", "0, 2", "5x" }, { "3x2x64x", "1, 2", "3x" }, { "9000x", "0", "" },
    };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        reduce("add", shapes[s][0], shapes[s][1], shapes[s][2], "bf16");
        reduce("maximum", shapes[s][0], shapes[s][1], shapes[s][2], "bf16");
    }
    for (int is_second = 0; is_second < 2; is_second++) {
        Text text = { 0 };
        text_printf(
            &text,
            "(%%x: tensor<5x90x$E>) -> tensor<5x45x$E> {\n"
            "  %%y = stablehlo.slice %%x [0:5, %d:90:2] : (tensor<5x90x$E>) -> tensor<5x45x$E>\n"
            "  %%z = stablehlo.add %%y, %%y : tensor<5x45x$E>\n"
            "  return %%z : tensor<5x45x$E>\n}",
            is_second);
        try(text_cstr(&text), "", "bf16", 0, false);
        text_free(&text);
    }
}

/* NaN, infinities and all.  Many rows of a few elements have rows in the lanes: of lengths that are a square's
 * side and that are not, and with rows left over. */
static void test_wild_reduce(void)
{
    static const char *const shapes[][3] = {
        { "5x6x", "1", "5x" },      { "5x6x", "0", "6x" },        { "83x10x", "1", "83x" },
        { "270x3x", "1", "270x" },  { "3x80x5x", "2", "3x80x" },  { "128x8x", "1", "128x" },
        { "9x9x17x", "2", "9x9x" }, { "70x3x3x", "1, 2", "70x" }, { "64x32x", "1", "64x" },
    };
    static const char *const elements[] = { "f32", "f64", "bf16", "f32" };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int is_min = 0; is_min < 2; is_min++)
            for (int again = 0; again < 4; again++) {
                Text text = { 0 };
                const char *in = shapes[s][0], *out = shapes[s][2];
                text_printf(
                    &text,
                    "(%%x: tensor<%s$E>, %%i: tensor<$E>) -> tensor<%s$E> {\n"
                    "  %%r = stablehlo.reduce(%%x init: %%i) applies stablehlo.%s across "
                    "dimensions = [%s] : "
                    "(tensor<%s$E>, tensor<$E>) -> tensor<%s$E>\n  return %%r : tensor<%s$E>\n}",
                    in, out, is_min ? "minimum" : "maximum", shapes[s][1], in, out, out);
                try(text_cstr(&text), "", elements[again], 1, false);
                text_free(&text);
            }
}

/* Two arrays at once with a region of several operations: the largest and where it stands. */
static void test_argmax(void)
{
    static const char *const shapes[][3] = {
        { "9x21x", "1", "9x" }, { "9x21x", "0", "21x" }, { "33x", "0", "" }, { "5x0x", "1", "5x" }
    };
    for (int s = 0; s < 4; s++)
        for (int e = 0; e < 2; e++) {
            Text text = { 0 };
            const char *in = shapes[s][0], *out = shapes[s][2], *dims = shapes[s][1];
            text_printf(&text,
                        "(%%x: tensor<%s$E>) -> (tensor<%s$E>, tensor<%si32>) {\n"
                        "  %%i = stablehlo.iota dim = %s : tensor<%si32>\n"
                        "  %%a = stablehlo.constant dense<-100> : tensor<i32>\n"
                        "  %%b = stablehlo.convert %%a : (tensor<i32>) -> tensor<$E>\n"
                        "  %%c = stablehlo.constant dense<0> : tensor<i32>\n"
                        "  %%r:2 = stablehlo.reduce(%%x init: %%b), (%%i init: %%c) across "
                        "dimensions = [%s] : "
                        "(tensor<%s$E>, tensor<%si32>, tensor<$E>, tensor<i32>) -> (tensor<%s$E>, "
                        "tensor<%si32>)\n"
                        "   reducer(%%v: tensor<$E>, %%w: tensor<$E>) (%%j: tensor<i32>, %%k: "
                        "tensor<i32>) {\n"
                        "    %%g = stablehlo.compare GT, %%v, %%w : (tensor<$E>, tensor<$E>) -> "
                        "tensor<i1>\n"
                        "    %%e = stablehlo.compare EQ, %%v, %%w : (tensor<$E>, tensor<$E>) -> "
                        "tensor<i1>\n"
                        "    %%l = stablehlo.compare LT, %%j, %%k : (tensor<i32>, tensor<i32>) -> "
                        "tensor<i1>\n"
                        "    %%t = stablehlo.and %%e, %%l : tensor<i1>\n"
                        "    %%u = stablehlo.or %%g, %%t : tensor<i1>\n"
                        "    %%m = stablehlo.select %%g, %%v, %%w : tensor<i1>, tensor<$E>\n"
                        "    %%n = stablehlo.select %%u, %%j, %%k : tensor<i1>, tensor<i32>\n"
                        "    stablehlo.return %%m, %%n : tensor<$E>, tensor<i32>\n  }\n"
                        "  return %%r#0, %%r#1 : tensor<%s$E>, tensor<%si32>\n}",
                        in, out, out, dims, in, dims, in, in, out, out, out, out);
            try(text_cstr(&text), "", e ? "f32" : "i8", 0, true);
            text_free(&text);
        }
}

/* argmax and argmin as JAX writes them: NaN is above all, and of equals the first counts. */
static void test_arg(void)
{
    static const char *const shapes[][3] = {
        { "9x53x", "1", "9x" },     { "53x9x", "0", "9x" },   { "300x", "0", "" },
        { "3x5x40x", "2", "3x5x" }, { "83x10x", "1", "83x" }, { "70x32x", "1", "70x" },
        { "270x3x", "1", "270x" },
    };
    static const char *const elements[] = { "f32", "f64", "i32", "ui8" };
    enum { N = sizeof shapes / sizeof shapes[0] };
    for (int s = 0; s < 4 * N; s++)
        for (int is_min = 0; is_min < 2; is_min++) {
            Text text = { 0 };
            const char *in = shapes[s % N][0], *out = shapes[s % N][2], *dims = shapes[s % N][1];
            const char *first = s / N == 0 ? (is_min ? "0x7F800000" : "0xFF800000")
                                : s / N == 1
                                    ? (is_min ? "0x7FF0000000000000" : "0xFFF0000000000000")
                                    : (is_min ? "127" : "0");
            text_printf(&text,
                        "(%%x: tensor<%s$E>) -> (tensor<%s$E>, tensor<%si32>) {\n"
                        "  %%i = stablehlo.iota dim = %s : tensor<%si32>\n"
                        "  %%b = stablehlo.constant dense<%s> : tensor<$E>\n"
                        "  %%c = stablehlo.constant dense<0> : tensor<i32>\n"
                        "  %%r:2 = stablehlo.reduce(%%x init: %%b), (%%i init: %%c) across "
                        "dimensions = [%s] : "
                        "(tensor<%s$E>, tensor<%si32>, tensor<$E>, tensor<i32>) -> (tensor<%s$E>, "
                        "tensor<%si32>)\n"
                        "   reducer(%%v: tensor<$E>, %%w: tensor<$E>) (%%j: tensor<i32>, %%k: "
                        "tensor<i32>) {\n"
                        "    %%f = stablehlo.compare %s, %%v, %%w : (tensor<$E>, tensor<$E>) -> "
                        "tensor<i1>\n"
                        "    %%h = stablehlo.compare NE, %%v, %%v : (tensor<$E>, tensor<$E>) -> "
                        "tensor<i1>\n"
                        "    %%g = stablehlo.or %%f, %%h : tensor<i1>\n"
                        "    %%e = stablehlo.compare EQ, %%v, %%w : (tensor<$E>, tensor<$E>) -> "
                        "tensor<i1>\n"
                        "    %%l = stablehlo.compare LT, %%j, %%k : (tensor<i32>, tensor<i32>) -> "
                        "tensor<i1>\n"
                        "    %%t = stablehlo.and %%e, %%l : tensor<i1>\n"
                        "    %%u = stablehlo.or %%g, %%t : tensor<i1>\n"
                        "    %%m = stablehlo.select %%g, %%v, %%w : tensor<i1>, tensor<$E>\n"
                        "    %%n = stablehlo.select %%u, %%j, %%k : tensor<i1>, tensor<i32>\n"
                        "    stablehlo.return %%m, %%n : tensor<$E>, tensor<i32>\n  }\n"
                        "  return %%r#0, %%r#1 : tensor<%s$E>, tensor<%si32>\n}",
                        in, out, out, dims, in, first, dims, in, in, out, out, is_min ? "LT" : "GT",
                        out, out);
            /* Of -0 and 0 either is the largest, which in rows of three is seen. */
            for (int tame = s % N == N - 1; tame < 2; tame++)
                try(text_cstr(&text), "", elements[s / N], 0, tame);
            text_free(&text);
        }
}

static void test_dot(void)
{
    static const char *const elements[] = { "f32", "f64", "i32", "bf16", "complex<f32>", "i8" };
    static const char *const programs[] = {
        "(%x: tensor<13x20x$E>, %y: tensor<20x37x$E>) -> tensor<13x37x$E> {\n"
        "  %a = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<13x20x$E>, "
        "tensor<20x37x$E>) -> tensor<13x37x$E>\n"
        "  return %a : tensor<13x37x$E>\n}",
        "(%x: tensor<20x13x$E>, %y: tensor<37x20x$E>) -> tensor<13x37x$E> {\n"
        "  %a = stablehlo.dot_general %x, %y, contracting_dims = [0] x [1] : (tensor<20x13x$E>, "
        "tensor<37x20x$E>) -> tensor<13x37x$E>\n"
        "  return %a : tensor<13x37x$E>\n}",
        "(%x: tensor<3x4x5x6x$E>, %y: tensor<4x3x6x7x$E>) -> tensor<3x4x5x7x$E> {\n"
        "  %a = stablehlo.dot_general %x, %y, batching_dims = [0, 1] x [1, 0], contracting_dims = "
        "[3] x [2] : (tensor<3x4x5x6x$E>, tensor<4x3x6x7x$E>) -> tensor<3x4x5x7x$E>\n"
        "  return %a : tensor<3x4x5x7x$E>\n}",
        "(%x: tensor<4x5x6x$E>, %y: tensor<6x7x4x$E>) -> tensor<5x7x$E> {\n"
        "  %a = stablehlo.dot_general %x, %y, contracting_dims = [0, 2] x [2, 0] : "
        "(tensor<4x5x6x$E>, tensor<6x7x4x$E>) -> tensor<5x7x$E>\n"
        "  return %a : tensor<5x7x$E>\n}",
        "(%x: tensor<4x6x5x$E>, %y: tensor<7x6x3x$E>) -> tensor<4x5x7x3x$E> {\n"
        "  %a = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<4x6x5x$E>, "
        "tensor<7x6x3x$E>) -> tensor<4x5x7x3x$E>\n"
        "  return %a : tensor<4x5x7x3x$E>\n}",
        "(%x: tensor<40x$E>, %y: tensor<40x$E>) -> tensor<$E> {\n"
        "  %a = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<40x$E>, "
        "tensor<40x$E>) -> tensor<$E>\n"
        "  return %a : tensor<$E>\n}",
        "(%x: tensor<9x40x$E>, %y: tensor<40x$E>) -> tensor<9x$E> {\n"
        "  %a = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<9x40x$E>, "
        "tensor<40x$E>) -> tensor<9x$E>\n"
        "  return %a : tensor<9x$E>\n}",
        "(%x: tensor<3x$E>, %y: tensor<4x$E>) -> tensor<3x4x$E> {\n"
        "  %a = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<3x$E>, "
        "tensor<4x$E>) -> tensor<3x4x$E>\n"
        "  return %a : tensor<3x4x$E>\n}",
        "(%x: tensor<3x0x$E>, %y: tensor<0x4x$E>) -> tensor<3x4x$E> {\n"
        "  %a = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x0x$E>, "
        "tensor<0x4x$E>) -> tensor<3x4x$E>\n"
        "  return %a : tensor<3x4x$E>\n}",
    };
    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
            try(programs[p], "", elements[e], 64, true);
    try_text("(%x: tensor<13x20xbf16>, %y: tensor<20x37xbf16>) -> tensor<13x37xf32> {\n"
             "  %a = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
             "(tensor<13x20xbf16>, tensor<20x37xbf16>) -> tensor<13x37xf32>\n"
             "  return %a : tensor<13x37xf32>\n}",
             64, true);
    try_text("(%x: tensor<13x20xi8>, %y: tensor<20x37xi8>) -> tensor<13x37xi32> {\n"
             "  %a = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
             "(tensor<13x20xi8>, tensor<20x37xi8>) -> tensor<13x37xi32>\n"
             "  return %a : tensor<13x37xi32>\n}",
             64, false);
}

static void test_update(void)
{
    static const char *const elements[] = { "f32", "i1", "bf16", "complex<f32>", "i64" };
    static const char *const programs[] = {
        "(%x: tensor<9x40x$E>, %u: tensor<3x21x$E>, %i: tensor<i32>, %j: tensor<i32>) -> "
        "tensor<9x40x$E> {\n"
        "  %v = stablehlo.add %u, %u : tensor<3x21x$E>\n"
        "  %a = stablehlo.dynamic_update_slice %x, %v, %i, %j : (tensor<9x40x$E>, tensor<3x21x$E>, "
        "tensor<i32>, tensor<i32>) -> tensor<9x40x$E>\n"
        "  return %a : tensor<9x40x$E>\n}",
        "(%x: tensor<9x7x$E>, %u: tensor<2x7x$E>, %i: tensor<ui8>, %j: tensor<ui8>) -> "
        "tensor<9x7x$E> {\n"
        "  %a = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<9x7x$E>, tensor<2x7x$E>, "
        "tensor<ui8>, tensor<ui8>) -> tensor<9x7x$E>\n"
        "  return %a : tensor<9x7x$E>\n}",
        "(%x: tensor<9x7x$E>, %u: tensor<0x7x$E>, %i: tensor<i32>) -> tensor<9x7x$E> {\n"
        "  %a = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<9x7x$E>, tensor<0x7x$E>, "
        "tensor<i32>, tensor<i32>) -> tensor<9x7x$E>\n"
        "  return %a : tensor<9x7x$E>\n}",
    };
    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
            for (int again = 0; again < 3; again++)
                try(programs[p], "", elements[e], 0, true);
}

/* So many single numbers that where they go is found for several at once: in order, and some outside. */
static void many_numbers(const char *index, const char *combine, const char *element)
{
    Text text = { 0 };
    text_printf(&text,
                "(%%x: tensor<4x6x$E>, %%i: tensor<2x300x2x%s>, %%u: tensor<2x300x$E>) -> "
                "tensor<4x6x$E> {\n"
                "  %%z = stablehlo.add %%i, %%i : tensor<2x300x2x%s>\n"
                "  %%a = \"stablehlo.scatter\"(%%x, %%z, %%u) <{indices_are_sorted = false, "
                "unique_indices = false, scatter_dimension_numbers = "
                "#stablehlo.scatter<inserted_window_dims = [0, 1], "
                "scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({\n"
                "   ^bb0(%%v: tensor<$E>, %%w: tensor<$E>):\n"
                "    %%s = stablehlo.%s : tensor<$E>\n"
                "    stablehlo.return %%s : tensor<$E>\n  }) : (tensor<4x6x$E>, "
                "tensor<2x300x2x%s>, tensor<2x300x$E>) -> tensor<4x6x$E>\n"
                "  return %%a : tensor<4x6x$E>\n}",
                index, index, combine, index);
    try(text_cstr(&text), "", element, 32, true);
    text_free(&text);
}

static void test_scatter(void)
{
    static const char *const elements[] = { "f32", "i16", "complex<f32>" };
    static const char *const programs[] = {
        "(%x: tensor<10x37x$E>, %i: tensor<8x1xi32>, %u: tensor<8x37x$E>) -> tensor<10x37x$E> {\n"
        "  %a = \"stablehlo.scatter\"(%x, %i, %u) <{indices_are_sorted = false, unique_indices = "
        "false, "
        "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
        "inserted_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
        "   ^bb0(%v: tensor<$E>, %w: tensor<$E>):\n    %s = stablehlo.add %v, %w : tensor<$E>\n"
        "    stablehlo.return %s : tensor<$E>\n  }) : (tensor<10x37x$E>, tensor<8x1xi32>, "
        "tensor<8x37x$E>) -> tensor<10x37x$E>\n"
        "  return %a : tensor<10x37x$E>\n}",
        "(%x: tensor<10x$E>, %i: tensor<30xi32>, %u: tensor<30x$E>) -> tensor<10x$E> {\n"
        "  %a = \"stablehlo.scatter\"(%x, %i, %u) <{indices_are_sorted = false, unique_indices = "
        "false, "
        "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
        "   ^bb0(%v: tensor<$E>, %w: tensor<$E>):\n"
        "    stablehlo.return %w : tensor<$E>\n  }) : (tensor<10x$E>, tensor<30xi32>, "
        "tensor<30x$E>) -> tensor<10x$E>\n"
        "  return %a : tensor<10x$E>\n}",
        "(%x: tensor<4x9x$E>, %i: tensor<4x6x1xi32>, %u: tensor<4x6x$E>) -> tensor<4x9x$E> {\n"
        "  %a = \"stablehlo.scatter\"(%x, %i, %u) <{indices_are_sorted = false, unique_indices = "
        "false, "
        "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], "
        "input_batching_dims = [0], "
        "scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim "
        "= 2>}> ({\n"
        "   ^bb0(%v: tensor<$E>, %w: tensor<$E>):\n    %s = stablehlo.multiply %v, %w : "
        "tensor<$E>\n"
        "    stablehlo.return %s : tensor<$E>\n  }) : (tensor<4x9x$E>, tensor<4x6x1xi32>, "
        "tensor<4x6x$E>) -> tensor<4x9x$E>\n"
        "  return %a : tensor<4x9x$E>\n}",
        /* whole rows, several to one place */
        "(%x: tensor<10x96x$E>, %i: tensor<40x1xi32>, %u: tensor<40x96x$E>) -> tensor<10x96x$E> {\n"
        "  %a = \"stablehlo.scatter\"(%x, %i, %u) <{indices_are_sorted = false, unique_indices = "
        "false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
        "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> "
        "({\n"
        "   ^bb0(%v: tensor<$E>, %w: tensor<$E>):\n    %s = stablehlo.add %v, %w : tensor<$E>\n"
        "    stablehlo.return %s : tensor<$E>\n  }) : (tensor<10x96x$E>, tensor<40x1xi32>, "
        "tensor<40x96x$E>) -> tensor<10x96x$E>\n"
        "  return %a : tensor<10x96x$E>\n}",
        "(%i: tensor<9x1xi32>, %u: tensor<2x9x64x$E>) -> tensor<10x3x64x$E> {\n"
        "  %z = stablehlo.constant dense<3> : tensor<i32>\n"
        "  %c = stablehlo.convert %z : (tensor<i32>) -> tensor<$E>\n"
        "  %x = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<$E>) -> tensor<10x3x64x$E>\n"
        "  %a = \"stablehlo.scatter\"(%x, %i, %u) <{indices_are_sorted = false, unique_indices = "
        "false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 2], "
        "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> "
        "({\n"
        "   ^bb0(%v: tensor<$E>, %w: tensor<$E>):\n"
        "    stablehlo.return %w : tensor<$E>\n  }) : (tensor<10x3x64x$E>, tensor<9x1xi32>, "
        "tensor<2x9x64x$E>) -> tensor<10x3x64x$E>\n"
        "  return %a : tensor<10x3x64x$E>\n}",
    };
    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
            try(programs[p], "", elements[e], 32, true);
    static const char *const indices[] = { "i32", "i64", "ui8", "i8", "ui32" };
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++) {
            many_numbers(indices[i], "add %v, %w", elements[e]);
            many_numbers(indices[i], "subtract %w, %v", elements[e]);
        }
}

static void test_windows(void)
{
    static const char *const elements[] = { "f32", "i32", "bf16", "f64" };
    static const char *const programs[] = {
        "(%x: tensor<2x9x21x$E>, %i: tensor<$E>) -> tensor<2x4x21x$E> {\n"
        "  %a = \"stablehlo.reduce_window\"(%x, %i) <{window_dimensions = array<i64: 1, 3, 1>, "
        "window_strides = array<i64: 1, 2, 1>}> ({\n"
        "   ^bb0(%v: tensor<$E>, %w: tensor<$E>):\n    %s = stablehlo.add %v, %w : tensor<$E>\n"
        "    stablehlo.return %s : tensor<$E>\n  }) : (tensor<2x9x21x$E>, tensor<$E>) -> "
        "tensor<2x4x21x$E>\n"
        "  return %a : tensor<2x4x21x$E>\n}",
        "(%x: tensor<9x21x$E>, %i: tensor<$E>) -> tensor<10x20x$E> {\n"
        "  %a = \"stablehlo.reduce_window\"(%x, %i) <{window_dimensions = array<i64: 2, 3>, "
        "window_dilations = array<i64: 1, 2>, "
        "base_dilations = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = "
        "dense<[[1, 1], [2, 1]]> : tensor<2x2xi64>}> ({\n"
        "   ^bb0(%v: tensor<$E>, %w: tensor<$E>):\n    %s = stablehlo.maximum %v, %w : tensor<$E>\n"
        "    stablehlo.return %s : tensor<$E>\n  }) : (tensor<9x21x$E>, tensor<$E>) -> "
        "tensor<10x20x$E>\n"
        "  return %a : tensor<10x20x$E>\n}",
        "(%x: tensor<9x21x$E>, %s: tensor<4x10x$E>, %i: tensor<$E>) -> tensor<9x21x$E> {\n"
        "  %a = \"stablehlo.select_and_scatter\"(%x, %s, %i) <{window_dimensions = array<i64: 3, "
        "3>, window_strides = array<i64: 2, 2>, padding = dense<[[0, 0], [1, 0]]> : "
        "tensor<2x2xi64>}> ({\n"
        "   ^bb0(%v: tensor<$E>, %w: tensor<$E>):\n    %c = stablehlo.compare GE, %v, %w : "
        "(tensor<$E>, tensor<$E>) -> tensor<i1>\n"
        "    stablehlo.return %c : tensor<i1>\n  }, {\n"
        "   ^bb0(%v: tensor<$E>, %w: tensor<$E>):\n    %c = stablehlo.add %v, %w : tensor<$E>\n"
        "    stablehlo.return %c : tensor<$E>\n  }) : (tensor<9x21x$E>, tensor<4x10x$E>, "
        "tensor<$E>) -> tensor<9x21x$E>\n"
        "  return %a : tensor<9x21x$E>\n}",
    };
    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
            try(programs[p], "", elements[e], 32, true);
}

/* Windows that lie side by side, overlap, leave gaps, reach into padding; along rows and channels. */
static void test_select_scatter(void)
{
    static const char *const elements[] = { "f32", "i8", "bf16", "f64" };
    static const struct {
        const char *in, *windows, *sizes, *strides, *padding;
    } cases[] = {
        { "2x8x6x40", "2x4x3x40", "1, 2, 2, 1", "1, 2, 2, 1", "[0, 0], [0, 0], [0, 0], [0, 0]" },
        { "2x9x7x19", "2x5x4x19", "1, 3, 3, 1", "1, 2, 2, 1", "[0, 0], [1, 1], [1, 1], [0, 0]" },
        { "2x9x7x19", "2x9x7x19", "1, 3, 3, 1", "1, 1, 1, 1", "[0, 0], [1, 1], [1, 1], [0, 0]" },
        { "2x3x8x44", "2x3x4x22", "1, 1, 2, 2", "1, 1, 2, 2", "[0, 0], [0, 0], [0, 0], [0, 0]" },
        { "2x3x9x71", "2x3x4x23", "1, 1, 2, 3", "1, 1, 2, 3", "[0, 0], [0, 0], [0, 0], [0, 0]" },
        { "2x3x9x71", "2x3x3x35", "1, 1, 2, 3", "1, 1, 3, 2", "[0, 0], [0, 0], [0, 0], [0, 1]" },
        { "1x9x11x33", "1x5x3x33", "1, 5, 7, 1", "1, 2, 3, 1", "[0, 0], [2, 2], [3, -1], [0, 0]" },
        { "1x8x8x17", "1x3x2x17", "1, 2, 2, 1", "1, 3, 4, 1", "[0, 0], [1, 1], [0, 0], [0, 0]" },
        { "5x33", "3x33", "3, 1", "2, 1", "[1, 1], [0, 0]" },
        { "5x33", "7x33", "2, 1", "2, 1", "[6, 4], [0, 0]" },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++) {
            Text text = { 0 };
            text_printf(
                &text,
                "(%%x: tensor<%sx$E>, %%s: tensor<%sx$E>, %%i: tensor<$E>) -> tensor<%sx$E> {\n"
                "  %%a = \"stablehlo.select_and_scatter\"(%%x, %%s, %%i) <{window_dimensions = "
                "array<i64: %s>, window_strides = array<i64: %s>, padding = dense<[%s]> : "
                "tensor<%dx2xi64>}> ({\n"
                "   ^bb0(%%v: tensor<$E>, %%w: tensor<$E>):\n    %%c = stablehlo.compare GE, %%v, "
                "%%w : (tensor<$E>, tensor<$E>) -> tensor<i1>\n"
                "    stablehlo.return %%c : tensor<i1>\n  }, {\n"
                "   ^bb0(%%v: tensor<$E>, %%w: tensor<$E>):\n    %%c = stablehlo.add %%v, %%w : "
                "tensor<$E>\n    stablehlo.return %%c : tensor<$E>\n  }) : (tensor<%sx$E>, "
                "tensor<%sx$E>, tensor<$E>) -> tensor<%sx$E>\n  return %%a : tensor<%sx$E>\n}",
                cases[c].in, cases[c].windows, cases[c].in, cases[c].sizes, cases[c].strides,
                cases[c].padding, strlen(cases[c].sizes) < 6 ? 2 : 4, cases[c].in, cases[c].windows,
                cases[c].in, cases[c].in);
            try(text_cstr(&text), "", elements[e], 0, true);
            text_free(&text);
        }
}

/* Running sums and the like, along each dimension, from both ends. */
static void test_scan(void)
{
    static const struct {
        const char *op, *element, *start;
    } ops[] = { { "add", "f32", "0.0" },
                { "multiply", "f64", "1.0" },
                { "maximum", "f32", "0xFF800000" },
                { "minimum", "i32", "2147483647" },
                { "add", "i32", "0" },
                { "add", "f32", "1.0" } };
    static const char *const windows[] = { "19, 1, 1", "1, 21, 1", "1, 1, 70" };
    static const char *const padding[][2] = {
        { "[18, 0], [0, 0], [0, 0]", "[0, 18], [0, 0], [0, 0]" },
        { "[0, 0], [20, 0], [0, 0]", "[0, 0], [0, 20], [0, 0]" },
        { "[0, 0], [0, 0], [69, 0]", "[0, 0], [0, 0], [0, 69]" }
    };
    for (size_t o = 0; o < sizeof ops / sizeof ops[0]; o++)
        for (int way = 0; way < 6; way++) {
            Text text = { 0 };
            text_printf(&text,
                        "(%%x: tensor<19x21x70x$E>) -> tensor<19x21x70x$E> {\n"
                        "  %%i = stablehlo.constant dense<%s> : tensor<$E>\n"
                        "  %%a = \"stablehlo.reduce_window\"(%%x, %%i) <{window_dimensions = "
                        "array<i64: %s>, "
                        "padding = dense<[%s]> : tensor<3x2xi64>}> ({\n"
                        "   ^bb0(%%v: tensor<$E>, %%w: tensor<$E>):\n"
                        "    %%s = stablehlo.%s %%v, %%w : tensor<$E>\n"
                        "    stablehlo.return %%s : tensor<$E>\n"
                        "  }) : (tensor<19x21x70x$E>, tensor<$E>) -> tensor<19x21x70x$E>\n"
                        "  %%b = stablehlo.negate %%a : tensor<19x21x70x$E>\n"
                        "  return %%b : tensor<19x21x70x$E>\n}",
                        ops[o].start, windows[way / 2], padding[way / 2][way % 2], ops[o].op);
            try(text_cstr(&text), "", ops[o].element, 64, true);
            text_free(&text);
        }
}

static void test_convolution(void)
{
    static const char *const elements[] = { "f32", "f64", "i32", "bf16", "complex<f32>" };
    static const char *const programs[] = {
        "(%x: tensor<2x9x8x5x$E>, %k: tensor<3x3x5x20x$E>) -> tensor<2x9x8x20x$E> {\n"
        "  %a = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, "
        "f], "
        "window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
        "feature_group_count = 1 : i64} : "
        "(tensor<2x9x8x5x$E>, tensor<3x3x5x20x$E>) -> tensor<2x9x8x20x$E>\n  return %a : "
        "tensor<2x9x8x20x$E>\n}",
        "(%x: tensor<2x6x9x19x$E>, %k: tensor<4x3x3x2x$E>) -> tensor<2x4x4x35x$E> {\n"
        "  %a = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, "
        "1], "
        "window = {stride = [2, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 2], rhs_dilate = [1, "
        "2], reverse = [true, false]} "
        "{batch_group_count = 1 : i64, feature_group_count = 2 : i64} : "
        "(tensor<2x6x9x19x$E>, tensor<4x3x3x2x$E>) -> tensor<2x4x4x35x$E>\n  return %a : "
        "tensor<2x4x4x35x$E>\n}",
        "(%x: tensor<4x9x5x$E>, %k: tensor<3x5x6x$E>) -> tensor<2x7x6x$E> {\n"
        "  %a = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
        "window = {stride = [1], pad = [[0, 0]]} {batch_group_count = 2 : i64, feature_group_count "
        "= 1 : i64} : "
        "(tensor<4x9x5x$E>, tensor<3x5x6x$E>) -> tensor<2x7x6x$E>\n  return %a : "
        "tensor<2x7x6x$E>\n}",
        /* so much to add up that the runtime's product does it */
        "(%x: tensor<2x10x12x18x$E>, %k: tensor<3x3x18x20x$E>) -> tensor<2x8x10x20x$E> {\n"
        "  %a = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, "
        "f], "
        "window = {} "
        "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
        ": (tensor<2x10x12x18x$E>, tensor<3x3x18x20x$E>) -> tensor<2x8x10x20x$E>\n"
        "  return %a : tensor<2x8x10x20x$E>\n}",
        "(%x: tensor<2x13x14x7x$E>, %k: tensor<20x3x3x7x$E>) -> tensor<2x5x10x20x$E> {\n"
        "  %a = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, "
        "f], "
        "window = {stride = [2, 1], rhs_dilate = [2, 2], reverse = [true, false]} "
        "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
        ": (tensor<2x13x14x7x$E>, tensor<20x3x3x7x$E>) -> tensor<2x5x10x20x$E>\n"
        "  return %a : tensor<2x5x10x20x$E>\n}",
        "(%x: tensor<2x8x12x36x$E>, %k: tensor<20x8x3x3x$E>) -> tensor<2x20x10x34x$E> {\n"
        "  %a = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, "
        "1], "
        "window = {} "
        "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
        ": (tensor<2x8x12x36x$E>, tensor<20x8x3x3x$E>) -> tensor<2x20x10x34x$E>\n"
        "  return %a : tensor<2x20x10x34x$E>\n}",
        "(%x: tensor<8x12x12x5x$E>, %k: tensor<8x10x10x17x$E>) -> tensor<3x3x5x17x$E> {\n"
        "  %a = stablehlo.convolution(%x, %k) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, "
        "f], "
        "window = {} "
        "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
        ": (tensor<8x12x12x5x$E>, tensor<8x10x10x17x$E>) -> tensor<3x3x5x17x$E>\n"
        "  return %a : tensor<3x3x5x17x$E>\n}",
    };
    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
            try(programs[p], "", elements[e], 64, true);
}

/* Rows of two to four, and of eight bytes: lanes run down the columns. */
static void test_short_rows(void)
{
    static const char *const elements[] = { "f32", "f64", "i8", "i32", "bf16", "complex<f32>" };
    for (int n = 2; n <= 8; n += n < 4 ? 1 : 4)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++) {
            Text text = { 0 };
            text_printf(&text,
                        "(%%x: tensor<2x150x%dx$E>, %%y: tensor<%dx2x150x$E>, %%v: tensor<150x$E>) "
                        "-> (tensor<2x150x%dx$E>, tensor<2x150x%dx$E>) {\n"
                        "  %%t = stablehlo.transpose %%y, dims = [1, 2, 0] "
                        ": (tensor<%dx2x150x$E>) -> tensor<2x150x%dx$E>\n"
                        "  %%b = stablehlo.broadcast_in_dim %%v, dims = [1] "
                        ": (tensor<150x$E>) -> tensor<2x150x%dx$E>\n"
                        "  %%f = stablehlo.slice %%x [0:2, 0:150, %d:%d] "
                        ": (tensor<2x150x%dx$E>) -> tensor<2x150x1x$E>\n"
                        "  %%g = stablehlo.slice %%t [0:2, 0:150, 0:%d] "
                        ": (tensor<2x150x%dx$E>) -> tensor<2x150x%dx$E>\n"
                        "  %%c = stablehlo.concatenate %%f, %%g, dim = 2 : (tensor<2x150x1x$E>, "
                        "tensor<2x150x%dx$E>) -> tensor<2x150x%dx$E>\n"
                        "  %%p = stablehlo.add %%x, %%t : tensor<2x150x%dx$E>\n"
                        "  %%q = stablehlo.add %%c, %%b : tensor<2x150x%dx$E>\n"
                        "  return %%p, %%q : tensor<2x150x%dx$E>, tensor<2x150x%dx$E>\n}",
                        n, n, n, n, n, n, n, n - 1, n, n, n - 1, n, n - 1, n - 1, n, n, n, n, n);
            try(text_cstr(&text), "", elements[e], 4, true);
            text_free(&text);
        }
}

/* Rows that are all treated alike, so that lanes run on from one to the next: of numbers of any size, with rows
 * that are spread as they are and computed first, and with numbers for each row beside them, which keep lanes apart. */
static void rows_alike(int n, const char *element)
{
    Text text = { 0 };
    text_printf(
        &text,
        "(%%x: tensor<77x%dx$E>, %%r: tensor<%dx$E>, %%s: tensor<1x%dx$E>, %%y: tensor<$E>) -> "
        "(tensor<77x%dx$E>, tensor<77x%dx$E>) {\n"
        "  %%a = stablehlo.broadcast_in_dim %%r, dims = [1] : (tensor<%dx$E>) -> tensor<77x%dx$E>\n"
        "  %%b = stablehlo.add %%x, %%a : tensor<77x%dx$E>\n"
        "  %%c = stablehlo.multiply %%s, %%s : tensor<1x%dx$E>\n"
        "  %%d = stablehlo.broadcast_in_dim %%c, dims = [0, 1] : (tensor<1x%dx$E>) -> "
        "tensor<77x%dx$E>\n"
        "  %%e = stablehlo.multiply %%b, %%d : tensor<77x%dx$E>\n"
        "  %%f = stablehlo.broadcast_in_dim %%y, dims = [] : (tensor<$E>) -> tensor<77x%dx$E>\n"
        "  %%g = stablehlo.add %%e, %%f : tensor<77x%dx$E>\n"
        "  return %%b, %%g : tensor<77x%dx$E>, tensor<77x%dx$E>\n}",
        n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
    try(text_cstr(&text), "", element, 4, true);
    text_free(&text);
}

static void test_rows_alike(void)
{
    static const char *const elements[] = { "f32", "f64", "bf16", "i8", "i32" };
    for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++) {
        for (int n = 2; n < 16; n++)
            rows_alike(n, elements[e]);
        /* turned on the way, by a transpose that is called a broadcast */
        try("(%x: tensor<60x60x$E>, %r: tensor<60x$E>) -> tensor<60x60x$E> {\n"
            "  %a = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<60x60x$E>) -> "
            "tensor<60x60x$E>\n"
            "  %b = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<60x$E>) -> "
            "tensor<60x60x$E>\n"
            "  %c = stablehlo.add %a, %b : tensor<60x60x$E>\n"
            "  return %c : tensor<60x60x$E>\n}",
            "", elements[e], 4, true);
        try("(%x: tensor<600x3x$E>, %r: tensor<3x$E>, %q: tensor<600x$E>) -> tensor<600x3x$E> {\n"
            "  %a = stablehlo.broadcast_in_dim %q, dims = [0] : (tensor<600x$E>) -> "
            "tensor<600x3x$E>\n"
            "  %b = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<3x$E>) -> "
            "tensor<600x3x$E>\n"
            "  %c = stablehlo.add %a, %b : tensor<600x3x$E>\n"
            "  %d = stablehlo.add %c, %x : tensor<600x3x$E>\n"
            "  return %d : tensor<600x3x$E>\n}",
            "", elements[e], 4, true);
    }
}

/* n arrays put side by side as columns; is_joined: and then the first of them once more. */
static void stacked(int n, bool is_joined, const char *element)
{
    Text text = { 0 };
    int all = n + is_joined;
    text_printf(&text, "(%%x: tensor<%dx2x75x$E>) -> tensor<2x75x%dx$E> {\n", n, all);
    for (int i = 0; i < n; i++)
        text_printf(
            &text,
            "  %%s%d = stablehlo.slice %%x [%d:%d, 0:2, 0:75] : (tensor<%dx2x75x$E>) "
            "-> tensor<1x2x75x$E>\n"
            "  %%r%d = stablehlo.reshape %%s%d : (tensor<1x2x75x$E>) -> tensor<2x75x1x$E>\n",
            i, i, i + 1, n, i, i);
    text_printf(&text, "  %%a = stablehlo.concatenate ");
    for (int i = 0; i < n; i++)
        text_printf(&text, "%s%%r%d", i ? ", " : "", i);
    text_printf(&text, ", dim = 2 : (");
    for (int i = 0; i < n; i++)
        text_printf(&text, "%stensor<2x75x1x$E>", i ? ", " : "");
    text_printf(&text, ") -> tensor<2x75x%dx$E>\n", n);
    if (is_joined)
        text_printf(&text,
                    "  %%b = stablehlo.concatenate %%a, %%r0, dim = 2 : "
                    "(tensor<2x75x%dx$E>, tensor<2x75x1x$E>) -> tensor<2x75x%dx$E>\n",
                    n, all);
    text_printf(&text, "  return %s : tensor<2x75x%dx$E>\n}", is_joined ? "%b" : "%a", all);
    try(text_cstr(&text), "", element, 0, true);
    text_free(&text);
}

/* Up to sixteen columns are interleaved in registers. */
static void test_stack(void)
{
    static const char *const elements[] = { "f32", "f64", "i8", "bf16", "complex<f32>" };
    static const int columns[] = { 5, 8, 16, 17 };
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        for (size_t e = 0; e < 2 * sizeof elements / sizeof elements[0]; e++)
            stacked(columns[c], e % 2, elements[e / 2]);
}

/* Operands read across, whole and in parts, forwards and backwards, beside others and alone. */
static void transposed_beside(int r, int c, const char *element)
{
    Text text = { 0 };
    text_printf(
        &text,
        "(%%x: tensor<%dx%dx$E>, %%y: tensor<%dx%dx$E>, %%b: tensor<%dx$E>) -> "
        "(tensor<%dx%dx$E>, tensor<%dx%dx$E>) {\n"
        "  %%s = stablehlo.slice %%y [1:%d, 2:%d] : (tensor<%dx%dx$E>) -> tensor<%dx%dx$E>\n"
        "  %%t = stablehlo.transpose %%s, dims = [1, 0] : (tensor<%dx%dx$E>) -> tensor<%dx%dx$E>\n"
        "  %%u = stablehlo.reverse %%t, dims = [0] : tensor<%dx%dx$E>\n"
        "  %%v = stablehlo.reverse %%t, dims = [1] : tensor<%dx%dx$E>\n"
        "  %%w = stablehlo.broadcast_in_dim %%b, dims = [0] : (tensor<%dx$E>) -> tensor<%dx%dx$E>\n"
        "  %%p = stablehlo.add %%x, %%u : tensor<%dx%dx$E>\n"
        "  %%q = stablehlo.add %%p, %%v : tensor<%dx%dx$E>\n"
        "  %%z = stablehlo.add %%q, %%w : tensor<%dx%dx$E>\n"
        "  return %%z, %%p : tensor<%dx%dx$E>, tensor<%dx%dx$E>\n}",
        r, c, c + 1, r + 2, r, r, c, r, c, c + 1, r + 2, c + 1, r + 2, c, r, c, r, r, c, r, c, r, c,
        r, r, c, r, c, r, c, r, c, r, c, r, c);
    try(text_cstr(&text), "", element, 4, true);
    text_free(&text);
}

static void test_tiles(void)
{
    static const char *const elements[] = {
        "f32", "f64", "i8", "bf16", "complex<f32>", "i1", "i4"
    };
    static const int extents[][2] = { { 16, 16 }, { 20, 40 }, { 37, 21 }, { 5, 64 }, { 9, 7 } };
    for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++) {
        for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++)
            transposed_beside(extents[i][0], extents[i][1], elements[e]);
        /* dimensions that are walked as one, before and behind the one that moves */
        try("(%x: tensor<2x5x7x18x$E>, %y: tensor<2x18x5x7x$E>) -> tensor<2x18x5x7x$E> {\n"
            "  %a = stablehlo.transpose %x, dims = [0, 3, 1, 2] : (tensor<2x5x7x18x$E>) -> "
            "tensor<2x18x5x7x$E>\n"
            "  %b = stablehlo.add %a, %y : tensor<2x18x5x7x$E>\n"
            "  return %b : tensor<2x18x5x7x$E>\n}",
            "", elements[e], 4, true);
    }
    for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e += 2)
        transposed_beside(301, 260, elements[e]);
}

/* Short rows that are moved whole: transposed, of a part of the operand, with either side turned round. */
static void pixels_turned(int r, int c, int n, const char *element)
{
    Text text = { 0 };
    text_printf(&text,
                "(%%x: tensor<2x%dx%dx%dx$E>) -> tensor<2x%dx%dx%dx$E> {\n"
                "  %%s = stablehlo.slice %%x [0:2, 1:%d, 2:%d, 0:%d] : (tensor<2x%dx%dx%dx$E>) -> "
                "tensor<2x%dx%dx%dx$E>\n"
                "  %%t = stablehlo.transpose %%s, dims = [0, 2, 1, 3] : (tensor<2x%dx%dx%dx$E>) -> "
                "tensor<2x%dx%dx%dx$E>\n"
                "  %%u = stablehlo.reverse %%t, dims = [%s] : tensor<2x%dx%dx%dx$E>\n"
                "  return %%u : tensor<2x%dx%dx%dx$E>\n}",
                r + 1, c + 2, n, c, r, n, r + 1, c + 2, n, r + 1, c + 2, n, r, c, n, r, c, n, c, r,
                n,
                r % 2   ? "1"
                : c % 2 ? "2"
                        : "1, 2",
                c, r, n, c, r, n);
    try(text_cstr(&text), "", element, 0, true);
    text_free(&text);
}

static void test_pixels(void)
{
    static const char *const elements[] = { "i8", "bf16", "f32", "i1", "f64", "complex<f32>" };
    static const int extents[][2] = { { 16, 16 }, { 37, 21 }, { 5, 64 }, { 20, 33 }, { 9, 7 } };
    for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
        for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++)
            for (int n = 2; n <= 4; n++)
                pixels_turned(extents[i][0], extents[i][1], n, elements[e]);
    pixels_turned(150, 203, 3, "i8");
    pixels_turned(150, 203, 3, "bf16");
}

/* Columns of an operand become planes of the results, and arrays of their own. */
static void test_planes(void)
{
    static const char *const elements[] = { "f32", "f64", "i8", "bf16", "complex<f32>", "i1" };
    for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
        for (int n = 2; n <= 4; n++) {
            Text text = { 0 };
            text_printf(&text,
                        "(%%x: tensor<2x5x17x%dx$E>, %%y: tensor<2x%dx5x17x$E>) -> "
                        "(tensor<2x%dx5x17x$E>, tensor<2x%dx5x17x$E>) {\n"
                        "  %%a = stablehlo.transpose %%x, dims = [0, 3, 1, 2] : "
                        "(tensor<2x5x17x%dx$E>) -> tensor<2x%dx5x17x$E>\n"
                        "  %%b = stablehlo.add %%a, %%y : tensor<2x%dx5x17x$E>\n"
                        "  return %%b, %%a : tensor<2x%dx5x17x$E>, tensor<2x%dx5x17x$E>\n}",
                        n, n, n, n, n, n, n, n, n);
            try(text_cstr(&text), "", elements[e], 0, true);
            text_free(&text);
        }
    for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
        try("(%x: tensor<70x3x$E>) -> (tensor<70x1x$E>, tensor<70x1x$E>, tensor<70x1x$E>) {\n"
            "  %a = stablehlo.slice %x [0:70, 0:1] : (tensor<70x3x$E>) -> tensor<70x1x$E>\n"
            "  %b = stablehlo.slice %x [0:70, 1:2] : (tensor<70x3x$E>) -> tensor<70x1x$E>\n"
            "  %c = stablehlo.slice %x [0:70, 2:3] : (tensor<70x3x$E>) -> tensor<70x1x$E>\n"
            "  return %a, %b, %c : tensor<70x1x$E>, tensor<70x1x$E>, tensor<70x1x$E>\n}",
            "", elements[e], 0, true);
}

/* By whole numbers, to the last bit; zeros keep their sign. */
static void test_division_by_constants(void)
{
    static const char *const by[] = { "3.0",       "-7.0", "10.0", "255.0", "1000.0",
                                      "1048575.0", "4.0",  "1.0",  "0.1",   "0.0" };
    static const char *const elements[] = { "f32", "f64", "bf16", "f16" };
    for (size_t i = 0; i < sizeof by / sizeof by[0]; i++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++) {
            Text text = { 0 };
            text_printf(&text,
                        "(%%x: tensor<4099x$E>) -> tensor<4099x$E> {\n"
                        "  %%c = stablehlo.constant dense<%s> : tensor<4099x$E>\n"
                        "  %%q = stablehlo.divide %%x, %%c : tensor<4099x$E>\n"
                        "  return %%q : tensor<4099x$E>\n}",
                        by[i]);
            try(text_cstr(&text), "", elements[e], 0, false);
            text_free(&text);
        }
}

/* A sum or an extreme alone, as a program without loops has it: where it is large enough, a call. */
static void test_plain_reduce(void)
{
    static const struct {
        const char *in, *dims, *out;
    } shapes[] = {
        { "300x", "0", "" },
        { "5x257x", "1", "5x" },
        { "3x2049x", "1", "3x" },
        { "100x100x", "0", "100x" },
        { "33x65x", "0", "65x" },
        { "2x40x260x", "1", "2x260x" },
        { "4x5x260x", "0, 2", "5x" },
        { "3x4x13x40x", "0, 2, 3", "4x" },
        { "70x600x", "0", "600x" },
        { "2x3x400x", "0, 1, 2", "" },
        { "3x2x4x70x", "0, 2", "2x70x" },
    };
    static const struct {
        const char *element, *least, *most;
    } types[] = {
        { "f32", "0xFF800000", "0x7F800000" },
        { "f64", "0xFFF0000000000000", "0x7FF0000000000000" },
        { "bf16", "0xFF80", "0x7F80" },
        { "f16", "0xFC00", "0x7C00" },
    };
    static const char *const ops[] = { "add", "maximum", "minimum" };
    hurries = true;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
            for (int o = 0; o < 3; o++) {
                Text text = { 0 };
                text_printf(&text,
                            "(%%x: tensor<%s$E>) -> tensor<%s$E> {\n"
                            "  %%i = stablehlo.constant dense<%s> : tensor<$E>\n"
                            "  %%r = stablehlo.reduce(%%x init: %%i) applies stablehlo.%s across "
                            "dimensions = [%s] : (tensor<%s$E>, tensor<$E>) -> tensor<%s$E>\n"
                            "  return %%r : tensor<%s$E>\n}",
                            shapes[s].in, shapes[s].out,
                            o == 0   ? "0.0"
                            : o == 1 ? types[t].least
                                     : types[t].most,
                            ops[o], shapes[s].dims, shapes[s].in, shapes[s].out, shapes[s].out);
                try(text_cstr(&text), "", types[t].element, o == 0, true);
                if (o > 0)
                    try(text_cstr(&text), "", types[t].element, 0, false);
                text_free(&text);
            }
    hurries = false;
}

/* A transpose alone, as a program without loops has it: where both sides of its matrices are long enough, a call.  Rows
 * and columns around what a square has, cut into bands, strips and slices; columns that begin as cache lines do. */
static void test_plain_transpose(void)
{
    static const struct {
        const char *in, *order, *out;
    } shapes[] = {
        { "64x64x", "1, 0", "64x64x" },
        { "17x16x", "1, 0", "16x17x" },
        { "129x65x", "1, 0", "65x129x" },
        { "1031x127x", "1, 0", "127x1031x" },
        { "80x4099x", "1, 0", "4099x80x" },
        { "4099x80x", "1, 0", "80x4099x" },
        { "3x100x33x", "0, 2, 1", "3x33x100x" },
        { "40x3x50x", "2, 1, 0", "50x3x40x" },
        { "2x40x1x3x19x", "4, 0, 2, 3, 1", "19x2x1x3x40x" },
        { "4x5x6x70x", "0, 3, 1, 2", "4x70x5x6x" },
        { "64x5x", "1, 0", "5x64x" },
        { "70x3x40x", "1, 0, 2", "3x70x40x" },
    };
    static const char *const elements[] = { "ui8",          "bf16",         "f32", "f64",
                                            "complex<f32>", "complex<f64>", "i1" };
    hurries = true;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++) {
            Text text = { 0 };
            text_printf(&text,
                        "(%%x: tensor<%s$E>) -> tensor<%s$E> {\n"
                        "  %%t = stablehlo.transpose %%x, dims = [%s] : (tensor<%s$E>) -> "
                        "tensor<%s$E>\n"
                        "  return %%t : tensor<%s$E>\n}",
                        shapes[s].in, shapes[s].out, shapes[s].order, shapes[s].in, shapes[s].out,
                        shapes[s].out);
            try(text_cstr(&text), "", elements[e], 0, false);
            text_free(&text);
        }
    hurries = false;
}

/* Integers by one that all share and each by its own, among them multiples of the divisor, 0, -1 and the ends of
 * their range. */
static void test_int_division(void)
{
    static const char *const elements[] = { INTS };
    static const char program[] =
        "(%x: tensor<499x$E>, %y: tensor<499x$E>, %d: tensor<$E>) -> (tensor<499x$E>, "
        "tensor<499x$E>, tensor<499x$E>, tensor<499x$E>, tensor<499x$E>, tensor<499x$E>, "
        "tensor<499x$E>) {\n"
        "  %s = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<$E>) -> tensor<499x$E>\n"
        "  %0 = stablehlo.divide %x, %y : tensor<499x$E>\n"
        "  %1 = stablehlo.remainder %x, %y : tensor<499x$E>\n"
        "  %2 = stablehlo.divide %x, %s : tensor<499x$E>\n"
        "  %3 = stablehlo.remainder %x, %s : tensor<499x$E>\n"
        "  %p = stablehlo.subtract %x, %3 : tensor<499x$E>\n"
        "  %4 = stablehlo.divide %p, %s : tensor<499x$E>\n"
        "  %5 = stablehlo.remainder %p, %s : tensor<499x$E>\n"
        "  %r = stablehlo.subtract %x, %1 : tensor<499x$E>\n"
        "  %6 = stablehlo.divide %r, %y : tensor<499x$E>\n"
        "  return %0, %1, %2, %3, %4, %5, %6 : tensor<499x$E>, tensor<499x$E>, tensor<499x$E>, "
        "tensor<499x$E>, tensor<499x$E>, tensor<499x$E>, tensor<499x$E>\n}";
    for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
        for (int again = 0; again < 8; again++)
            try(program, "", elements[e], 0, again == 0);
}

static void test_sort(void)
{
    static const char *const shapes[] = { "1x", "7x", "13x", "500x", "0x" };
    for (int s = 0; s < 5; s++)
        try("(%x: tensor<$S$E>) -> tensor<$S$E> {\n"
            "  %a = \"stablehlo.sort\"(%x) <{dimension = 0 : i64, is_stable = true}> ({\n"
            "   ^bb0(%v: tensor<$E>, %w: tensor<$E>):\n"
            "    %c = stablehlo.compare LT, %v, %w, TOTALORDER : (tensor<$E>, tensor<$E>) -> "
            "tensor<i1>\n"
            "    stablehlo.return %c : tensor<i1>\n  }) : (tensor<$S$E>) -> tensor<$S$E>\n"
            "  return %a : tensor<$S$E>\n}",
            shapes[s], "f32", 0, false);
    for (int d = 0; d < 3; d++) {
        Text text = { 0 };
        text_printf(
            &text,
            "(%%x: tensor<5x6x7x$E>, %%y: tensor<5x6x7xi32>) -> (tensor<5x6x7x$E>, "
            "tensor<5x6x7xi32>) {\n"
            "  %%a:2 = \"stablehlo.sort\"(%%x, %%y) <{dimension = %d : i64, is_stable = true}> ({\n"
            "   ^bb0(%%v: tensor<$E>, %%w: tensor<$E>, %%p: tensor<i32>, %%q: tensor<i32>):\n"
            "    %%c = stablehlo.compare GT, %%v, %%w : (tensor<$E>, tensor<$E>) -> tensor<i1>\n"
            "    stablehlo.return %%c : tensor<i1>\n  }) : (tensor<5x6x7x$E>, tensor<5x6x7xi32>) "
            "-> (tensor<5x6x7x$E>, tensor<5x6x7xi32>)\n"
            "  return %%a#0, %%a#1 : tensor<5x6x7x$E>, tensor<5x6x7xi32>\n}",
            d);
        try(text_cstr(&text), "", "i8", 0, true);
        try(text_cstr(&text), "", "bf16", 0, true);
        text_free(&text);
    }
}

/* A slice, a pad or a concatenate alone: with rows that are long enough, a call; with short ones, and with what a call does
 * not know (a fill of unlike bytes, gaps), compiled. */
static void test_copies(void)
{
    static const struct {
        const char *pattern;
        bool is_ready;
    } cases[] = {
        { "(%x: tensor<4x5x67x$E>) -> tensor<2x2x67x$E> {\n"
          "  %a = stablehlo.slice %x [1:4:2, 2:4, 0:67] : (tensor<4x5x67x$E>) -> "
          "tensor<2x2x67x$E>\n"
          "  return %a : tensor<2x2x67x$E>\n}",
          true },
        { "(%x: tensor<4x5x67x$E>) -> tensor<2x3x67x$E> {\n"
          "  %a = stablehlo.slice %x [2:4, 0:5:2, 0:67] : (tensor<4x5x67x$E>) -> "
          "tensor<2x3x67x$E>\n"
          "  return %a : tensor<2x3x67x$E>\n}",
          true },
        { "(%x: tensor<9x100x$E>) -> tensor<9x70x$E> {\n"
          "  %a = stablehlo.slice %x [0:9, 3:73] : (tensor<9x100x$E>) -> tensor<9x70x$E>\n"
          "  return %a : tensor<9x70x$E>\n}",
          true },
        { "(%x: tensor<9x100x$E>) -> tensor<9x33x$E> {\n"
          "  %a = stablehlo.slice %x [0:9, 1:99:3] : (tensor<9x100x$E>) -> tensor<9x33x$E>\n"
          "  return %a : tensor<9x33x$E>\n}",
          false },
        { "(%x: tensor<2x3x5x70x$E>) -> tensor<5x3x8x70x$E> {\n"
          "  %v = stablehlo.constant dense<0> : tensor<$E>\n"
          "  %a = stablehlo.pad %x, %v, low = [1, 0, 2, 0], high = [2, 0, 1, 0], interior = [0, 0, "
          "0, 0] : "
          "(tensor<2x3x5x70x$E>, tensor<$E>) -> tensor<5x3x8x70x$E>\n"
          "  return %a : tensor<5x3x8x70x$E>\n}",
          true },
        /* so large that f64 makes two slices, which meet within a line of rows */
        { "(%x: tensor<17x41x70x$E>) -> tensor<21x45x70x$E> {\n"
          "  %v = stablehlo.constant dense<0> : tensor<$E>\n"
          "  %a = stablehlo.pad %x, %v, low = [1, 2, 0], high = [3, 2, 0], interior = [0, 0, 0] : "
          "(tensor<17x41x70x$E>, tensor<$E>) -> tensor<21x45x70x$E>\n"
          "  return %a : tensor<21x45x70x$E>\n}",
          true },
        { "(%x: tensor<3x70x$E>) -> tensor<4x75x$E> {\n"
          "  %v = stablehlo.constant dense<0> : tensor<$E>\n"
          "  %a = stablehlo.pad %x, %v, low = [0, 5], high = [1, 0], interior = [0, 0] : "
          "(tensor<3x70x$E>, tensor<$E>) -> tensor<4x75x$E>\n"
          "  return %a : tensor<4x75x$E>\n}",
          true },
        { "(%x: tensor<3x70x$E>) -> tensor<3x140x$E> {\n"
          "  %v = stablehlo.constant dense<0> : tensor<$E>\n"
          "  %a = stablehlo.pad %x, %v, low = [0, 0], high = [0, 1], interior = [0, 1] : "
          "(tensor<3x70x$E>, tensor<$E>) -> tensor<3x140x$E>\n"
          "  return %a : tensor<3x140x$E>\n}",
          false },
        { "(%x: tensor<3x70x$E>) -> tensor<3x60x$E> {\n"
          "  %v = stablehlo.constant dense<0> : tensor<$E>\n"
          "  %a = stablehlo.pad %x, %v, low = [0, -11], high = [0, 1], interior = [0, 0] : "
          "(tensor<3x70x$E>, tensor<$E>) -> tensor<3x60x$E>\n"
          "  return %a : tensor<3x60x$E>\n}",
          false },
        { "(%x: tensor<3x70x$E>, %y: tensor<3x80x$E>) -> tensor<3x220x$E> {\n"
          "  %a = stablehlo.concatenate %x, %y, %x, dim = 1 : "
          "(tensor<3x70x$E>, tensor<3x80x$E>, tensor<3x70x$E>) -> tensor<3x220x$E>\n"
          "  return %a : tensor<3x220x$E>\n}",
          true },
        { "(%x: tensor<2x3x70x$E>, %y: tensor<2x1x70x$E>) -> tensor<2x4x70x$E> {\n"
          "  %a = stablehlo.concatenate %x, %y, dim = 1 : "
          "(tensor<2x3x70x$E>, tensor<2x1x70x$E>) -> tensor<2x4x70x$E>\n"
          "  return %a : tensor<2x4x70x$E>\n}",
          true },
        { "(%x: tensor<30x5x$E>, %y: tensor<30x6x$E>) -> tensor<30x11x$E> {\n"
          "  %a = stablehlo.concatenate %x, %y, dim = 1 : "
          "(tensor<30x5x$E>, tensor<30x6x$E>) -> tensor<30x11x$E>\n"
          "  return %a : tensor<30x11x$E>\n}",
          false },
    };
    static const char *const elements[] = { "i8", "bf16", "f32", "f64" };
    hurries = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int e = 0; e < 4; e++) {
            Text text = filled(cases[i].pattern, "", elements[e]);
            Case c = { 0 };
            if (case_read(&c, text_cstr(&text))) {
                CHECK(copy_is_plain(&(Emit){ .hurries = true }, c.m, c.body) == cases[i].is_ready);
                module_free(c.m);
                try_text(text_cstr(&text), 0, false);
            }
            text_free(&text);
        }
    hurries = false;
}

/* Arrays joined, rolled and padded, so large that the loop over them is cut where they meet. */
static void test_pieces(void)
{
    static const char *const elements[] = { "f32", "i8", "complex<f32>", "f64" };
    static const char *const programs[] = {
        /* a border that is zeros, and one that mirrors */
        "(%x: tensor<59x170x$E>, %v: tensor<$E>) -> tensor<64x175x$E> {\n"
        "  %a = stablehlo.pad %x, %v, low = [2, 5], high = [3, 0], interior = [0, 0] : "
        "(tensor<59x170x$E>, tensor<$E>) -> tensor<64x175x$E>\n"
        "  return %a : tensor<64x175x$E>\n}",
        "(%x: tensor<60x170x$E>) -> tensor<60x176x$E> {\n"
        "  %a = stablehlo.slice %x [0:60, 1:4] : (tensor<60x170x$E>) -> tensor<60x3x$E>\n"
        "  %b = stablehlo.reverse %a, dims = [1] : tensor<60x3x$E>\n"
        "  %c = stablehlo.concatenate %b, %x, dim = 1 : (tensor<60x3x$E>, tensor<60x170x$E>) -> "
        "tensor<60x173x$E>\n"
        "  %d = stablehlo.slice %c [0:60, 169:172] : (tensor<60x173x$E>) -> tensor<60x3x$E>\n"
        "  %e = stablehlo.reverse %d, dims = [1] : tensor<60x3x$E>\n"
        "  %f = stablehlo.concatenate %c, %e, dim = 1 : (tensor<60x173x$E>, tensor<60x3x$E>) -> "
        "tensor<60x176x$E>\n"
        "  return %f : tensor<60x176x$E>\n}",
        /* what is joined is then walked backwards and in steps */
        "(%x: tensor<50x90x$E>, %y: tensor<20x90x$E>) -> tensor<35x180x$E> {\n"
        "  %a = stablehlo.concatenate %x, %y, dim = 0 : (tensor<50x90x$E>, tensor<20x90x$E>) -> "
        "tensor<70x90x$E>\n"
        "  %b = stablehlo.reverse %a, dims = [0, 1] : tensor<70x90x$E>\n"
        "  %c = stablehlo.slice %b [1:70:2, 0:90] : (tensor<70x90x$E>) -> tensor<35x90x$E>\n"
        "  %d = stablehlo.slice %x [0:35, 0:90] : (tensor<50x90x$E>) -> tensor<35x90x$E>\n"
        "  %e = stablehlo.concatenate %d, %c, dim = 1 : (tensor<35x90x$E>, tensor<35x90x$E>) -> "
        "tensor<35x180x$E>\n"
        "  return %e : tensor<35x180x$E>\n}",
        /* rolled along both, and added to what is not */
        "(%x: tensor<64x80x$E>) -> tensor<64x80x$E> {\n"
        "  %a = stablehlo.slice %x [1:64, 0:80] : (tensor<64x80x$E>) -> tensor<63x80x$E>\n"
        "  %b = stablehlo.slice %x [0:1, 0:80] : (tensor<64x80x$E>) -> tensor<1x80x$E>\n"
        "  %c = stablehlo.concatenate %a, %b, dim = 0 : (tensor<63x80x$E>, tensor<1x80x$E>) -> "
        "tensor<64x80x$E>\n"
        "  %d = stablehlo.slice %c [0:64, 71:80] : (tensor<64x80x$E>) -> tensor<64x9x$E>\n"
        "  %e = stablehlo.slice %c [0:64, 0:71] : (tensor<64x80x$E>) -> tensor<64x71x$E>\n"
        "  %f = stablehlo.concatenate %d, %e, dim = 1 : (tensor<64x9x$E>, tensor<64x71x$E>) -> "
        "tensor<64x80x$E>\n"
        "  %g = stablehlo.add %f, %x : tensor<64x80x$E>\n"
        "  return %g : tensor<64x80x$E>\n}",
        /* paddings between elements, and ones that take away */
        "(%x: tensor<30x70x$E>, %v: tensor<$E>) -> tensor<60x210x$E> {\n"
        "  %a = stablehlo.pad %x, %v, low = [1, 3], high = [0, -1], interior = [1, 2] : "
        "(tensor<30x70x$E>, tensor<$E>) -> tensor<60x210x$E>\n"
        "  return %a : tensor<60x210x$E>\n}",
        /* a first column of one */
        "(%x: tensor<70x70x$E>) -> tensor<70x70x$E> {\n"
        "  %a = stablehlo.slice %x [0:70, 0:69] : (tensor<70x70x$E>) -> tensor<70x69x$E>\n"
        "  %b = stablehlo.slice %x [0:70, 69:70] : (tensor<70x70x$E>) -> tensor<70x1x$E>\n"
        "  %c = stablehlo.concatenate %b, %a, dim = 1 : (tensor<70x1x$E>, tensor<70x69x$E>) -> "
        "tensor<70x70x$E>\n"
        "  return %c : tensor<70x70x$E>\n}",
        /* a padding behind the last, in blocks that a vector has several of, or a part of one */
        "(%x: tensor<6461x$E>, %v: tensor<$E>, %y: tensor<8x808x$E>) -> tensor<8x808x$E> {\n"
        "  %a = stablehlo.pad %x, %v, low = [0], high = [3], interior = [0] : "
        "(tensor<6461x$E>, tensor<$E>) -> tensor<6464x$E>\n"
        "  %b = stablehlo.reshape %a : (tensor<6464x$E>) -> tensor<101x8x8x$E>\n"
        "  %c = stablehlo.transpose %b, dims = [1, 0, 2] : (tensor<101x8x8x$E>) -> "
        "tensor<8x101x8x$E>\n"
        "  %d = stablehlo.reshape %c : (tensor<8x101x8x$E>) -> tensor<8x808x$E>\n"
        "  %e = stablehlo.add %d, %y : tensor<8x808x$E>\n"
        "  return %e : tensor<8x808x$E>\n}",
    };
    for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
        for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
            try(programs[p], "", elements[e], 0, true);
}

/* The roots that are cut into slices when they are large, cut though they are small. */
static void test_cut(void)
{
    slice_worth_ns = 7;
    test_views();
    test_pieces();
    test_short_rows();
    test_stack();
    test_tiles();
    test_planes();
    test_division_by_constants();
    test_reduce();
    test_reduce_pairs();
    test_wild_reduce();
    test_argmax();
    test_arg();
    test_dot();
    test_windows();
    test_select_scatter();
    test_scan();
    test_convolution();
    slice_worth_ns = INT64_MAX / 8;
}

typedef struct Part {
    const char *name;
    void (*test)(void);
} Part;

/* clang-format off */
#define PART(name) { #name, test_##name }
static const Part parts[] = {
    PART(cost_of_the_largest), PART(floats), PART(ints), PART(complex), PART(conversions),
    PART(mixed), PART(views), PART(short_rows), PART(stack), PART(tiles), PART(pixels), PART(rows_alike), PART(sources),
    PART(gather), PART(small_tables), PART(reduce), PART(reduce_pairs), PART(wild_reduce), PART(argmax), PART(arg),
    PART(dot), PART(update), PART(scatter), PART(windows), PART(select_scatter), PART(scan),
    PART(convolution), PART(cut), PART(sort), PART(copies), PART(int_division),
    PART(plain_reduce), PART(pieces), PART(plain_transpose),
};
/* clang-format on */

/* kernel_test [PART ...]: those alone, with the numbers that they have in the whole. */
static bool is_wanted(const Part *part, int n, char **names)
{
    bool is_named = n == 0;
    for (int i = 0; i < n; i++)
        is_named = is_named || !strcmp(names[i], part->name);
    return is_named;
}

int main(int argc, char **argv)
{
    int ntried = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!is_wanted(&parts[i], argc - 1, argv + 1))
            continue;
        seed = i + 1;
        parts[i].test();
        ntried++;
    }
    CHECK(argc == 1 || ntried == argc - 1); /* every name is a part's */
    return check_done();
}
