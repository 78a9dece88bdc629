/* eval_test.c - the evaluator against values worked out by hand.  Links engine objects: the
 * evaluator and its rules. */
#include "engine/eval/eval.h"
#include "engine/tensor.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static Module *m;

#define DIMS(...) ((const int64_t[]){ __VA_ARGS__ })
#define LIST(...)                                                                                  \
    ((Ints){ (int)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),                    \
             (const int64_t[]){ __VA_ARGS__ } })
#define ARRAY(element, data, ...)                                                                  \
    ((Tensor){ { element, LIST(__VA_ARGS__).n, DIMS(__VA_ARGS__) }, (data) })
#define SCALAR(element, data) ((Tensor){ { element, 0, NULL }, (data) })

/* Evaluates one node on the given operands, with the given regions; the error, or NULL. */
static Error *evaluate(OpId op, const void *attrs, int nin, const Tensor *in, int nout, Tensor *out,
                       int nregions, const RegionId *regions)
{
    Type types[8] = { 0 };
    ValueId values[8];
    for (int i = 0; i < nin; i++)
        types[i] = in[i].type;
    RegionId r = region_new(m, 0, nin, types);
    for (int i = 0; i < nin; i++)
        values[i] = region_at(m, r)->args + (ValueId)i;
    for (int i = 0; i < nout; i++)
        types[i] = out[i].type;
    NodeId n = node_new(m, op, nin, values, nout, types, nregions, regions, attrs, NULL);
    region_append(m, r, n);
    return eval_node(m, n, in, out);
}

static void must(Error *error)
{
    if (error)
        printf("%s\n", error_text(error));
    CHECK(!error);
    error_free(error);
}

static int64_t ints2(OpId op, Element e, int64_t x, int64_t y)
{
    uint64_t a, b, c;
    Tensor in[] = { SCALAR(e, &a), SCALAR(e, &b) }, out = SCALAR(e, &c);
    int_set(in[0], 0, x);
    int_set(in[1], 0, y);
    must(evaluate(op, NULL, 2, in, 1, &out, 0, NULL));
    return int_at(out, 0);
}

static double floats2(OpId op, Element e, double x, double y)
{
    uint64_t a, b, c;
    Tensor in[] = { SCALAR(e, &a), SCALAR(e, &b) }, out = SCALAR(e, &c);
    float_set(in[0], 0, x);
    float_set(in[1], 0, y);
    must(evaluate(op, NULL, 2, in, 1, &out, 0, NULL));
    return float_at(out, 0);
}

static int64_t ints1(OpId op, Element e, int64_t x)
{
    uint64_t a, c;
    Tensor in = SCALAR(e, &a), out = SCALAR(e, &c);
    int_set(in, 0, x);
    must(evaluate(op, NULL, 1, &in, 1, &out, 0, NULL));
    return int_at(out, 0);
}

static void integers(void)
{
    CHECK(ints2(OP_ADD, I8, 127, 1) == -128);
    CHECK(ints2(OP_ADD, I1, 1, 1) == 1); /* or */
    CHECK(ints2(OP_MUL, I1, 1, 0) == 0);
    CHECK(ints2(OP_ADD, U4, 15, 2) == 1);
    CHECK(ints2(OP_MUL, I4, 5, 3) == -1);
    CHECK(ints2(OP_SUB, U64, 0, 1) == -1); /* all ones */
    CHECK(ints2(OP_DIV, I32, 7, 0) == -1);
    CHECK(ints2(OP_DIV, U8, 7, 0) == 255);
    CHECK(ints2(OP_DIV, I32, INT32_MIN, -1) == INT32_MIN);
    CHECK(ints2(OP_DIV, I64, INT64_MIN, -1) == INT64_MIN);
    CHECK(ints2(OP_DIV, I32, -7, 2) == -3);
    CHECK(ints2(OP_REM, I32, -7, 2) == -1);
    CHECK(ints2(OP_REM, I32, 7, 0) == 7);
    CHECK(ints2(OP_REM, I64, INT64_MIN, -1) == 0);
    CHECK(ints2(OP_DIV, U64, -1, 2) == INT64_MAX);
    CHECK(ints2(OP_MAX, U64, -1, 2) == -1);
    CHECK(ints2(OP_MAX, I64, -1, 2) == 2);
    CHECK(ints2(OP_POW, I32, 3, 4) == 81);
    CHECK(ints2(OP_POW, I32, 2, -1) == 0);
    CHECK(ints2(OP_POW, I32, -1, -3) == -1);
    CHECK(ints2(OP_POW, I32, 0, 0) == 1);
    CHECK(ints2(OP_SHL, I32, 1, 32) == 0);
    CHECK(ints2(OP_SHL, I8, 1, 7) == -128);
    CHECK(ints2(OP_SHR_LOGICAL, I8, -1, 1) == 127);
    CHECK(ints2(OP_SHR_LOGICAL, I32, -1, -1) == 0);
    CHECK(ints2(OP_SHR_ARITHMETIC, I8, -128, 100) == -1);
    CHECK(ints2(OP_SHR_ARITHMETIC, U8, 128, 1) == 192);
    CHECK(ints1(OP_NOT, I1, 1) == 0);
    CHECK(ints1(OP_POPCNT, I16, -1) == 16);
    CHECK(ints1(OP_CLZ, I8, 1) == 7);
    CHECK(ints1(OP_CLZ, U32, 0) == 32);
    CHECK(ints1(OP_NEG, I32, INT32_MIN) == INT32_MIN);
    CHECK(ints1(OP_ABS, I8, -128) == -128);
    CHECK(ints1(OP_SIGN, I8, -5) == -1);
}

static void floats(void)
{
    CHECK(floats2(OP_ADD, F32, 1, ldexp(1, -24)) == 1); /* tie to even */
    CHECK(floats2(OP_ADD, F32, 1, 3 * ldexp(1, -24)) == 1 + ldexp(1, -22));
    CHECK(floats2(OP_ADD, BF16, 256, 1) == 256);
    CHECK(floats2(OP_ADD, BF16, 258, 1) == 260);
    CHECK(floats2(OP_MUL, F16, 300, 300) == INFINITY);
    CHECK(floats2(OP_MUL, F8E4M3FN, 20, 20) == 384); /* 400 is midway of 384 and 416 */
    CHECK(isnan(floats2(OP_MUL, F8E4M3FN, 32, 32)));
    CHECK(floats2(OP_MUL, F8E5M2, 256, 256) == INFINITY);
    CHECK(isnan(floats2(OP_MAX, F32, NAN, 1)));
    CHECK(isnan(floats2(OP_MIN, F32, 1, NAN)));
    CHECK(!signbit(floats2(OP_MAX, F32, -0.0, 0.0)));
    CHECK(signbit(floats2(OP_MIN, F32, 0.0, -0.0)));
    CHECK(floats2(OP_REM, F32, -7, 3) == -1);
    CHECK(floats2(OP_POW, F64, 2, 0.5) == sqrt(2));
}

static double through(Element e, double x)
{
    return float_decode(e, float_encode(e, x));
}

/* Limits of the formats as their names and papers give them. */
static void formats(void)
{
    CHECK(through(F8E4M3FN, 448) == 448 && isnan(through(F8E4M3FN, 480)));
    CHECK(through(F8E4M3FN, 464) == 448 && isnan(through(F8E4M3FN, INFINITY)));
    CHECK(through(F8E5M2, 57344) == 57344 && through(F8E5M2, 61440) == INFINITY);
    CHECK(through(F8E4M3FNUZ, 240) == 240 && isnan(through(F8E4M3FNUZ, 256)));
    CHECK(through(F8E4M3B11FNUZ, 30) == 30 && isnan(through(F8E4M3B11FNUZ, 32)));
    CHECK(through(F8E5M2FNUZ, 57344) == 57344 && !signbit(through(F8E5M2FNUZ, -0.0)));
    CHECK(through(F8E3M4, 15.5) == 15.5 && through(F8E3M4, 16) == INFINITY);
    CHECK(through(F8E4M3, 240) == 240 && through(F8E4M3, 256) == INFINITY);
    CHECK(through(F8E8M0FNU, 2) == 2 && through(F8E8M0FNU, 3) == 4 &&
          isnan(through(F8E8M0FNU, -1)));
    CHECK(through(F6E2M3FN, 7.5) == 7.5 && through(F6E2M3FN, INFINITY) == 7.5);
    CHECK(through(F6E3M2FN, 28) == 28 && through(F6E3M2FN, -100) == -28);
    CHECK(through(F4E2M1FN, 6) == 6 && through(F4E2M1FN, 100) == 6);
    CHECK(through(F4E2M1FN, 0.25) == 0 && through(F4E2M1FN, 0.75) == 1 &&
          through(F4E2M1FN, 2.5) == 2 && through(F4E2M1FN, -5) == -4);
    CHECK(float_encode(F4E2M1FN, NAN) == 8 && float_encode(F6E3M2FN, NAN) == 32);
    CHECK(through(F16, 65504) == 65504 && through(F16, 65520) == INFINITY);
    CHECK(through(F16, ldexp(1, -24)) == ldexp(1, -24) && through(F16, ldexp(1, -25)) == 0);
    CHECK(through(BF16, 3.14159) == 3.140625);
    CHECK(float_encode(F16, 1) == 0x3c00 && float_encode(BF16, -2) == 0xc000);
    for (uint64_t bits = 0; bits < 65536; bits++) {
        double x = float_decode(F16, bits);
        if (!isnan(x))
            CHECK(float_encode(F16, x) == bits);
        x = float_decode(BF16, bits);
        if (!isnan(x))
            CHECK(float_encode(BF16, x) == bits);
    }
}

static void conversions(void)
{
    float x[] = { 3.9f, -3.9f, 1e20f, -1e20f, NAN, 0.25f };
    int8_t small[6];
    uint8_t bytes[6], bools[6];
    int64_t wide[6];
    Tensor in = ARRAY(F32, x, 6), out = ARRAY(I8, small, 6);
    must(evaluate(OP_CONVERT, NULL, 1, &in, 1, &out, 0, NULL));
    CHECK(small[0] == 3 && small[1] == -3 && small[2] == 127 && small[3] == -128 && small[4] == 0);
    out = ARRAY(U8, bytes, 6);
    must(evaluate(OP_CONVERT, NULL, 1, &in, 1, &out, 0, NULL));
    CHECK(bytes[0] == 3 && bytes[1] == 0 && bytes[2] == 255 && bytes[3] == 0 && bytes[4] == 0);
    out = ARRAY(I1, bools, 6);
    must(evaluate(OP_CONVERT, NULL, 1, &in, 1, &out, 0, NULL));
    CHECK(bools[0] == 1 && bools[4] == 1 && bools[5] == 1);
    out = ARRAY(I64, wide, 6);
    must(evaluate(OP_CONVERT, NULL, 1, &in, 1, &out, 0, NULL));
    CHECK(wide[2] == INT64_MAX && wide[3] == INT64_MIN);

    /* 2^60 + 2^36 + 1 is above the tie between two floats; by way of double it would be on it. */
    int64_t big = (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1;
    float single;
    in = SCALAR(I64, &big);
    out = SCALAR(F32, &single);
    must(evaluate(OP_CONVERT, NULL, 1, &in, 1, &out, 0, NULL));
    CHECK(single == (float)((INT64_C(1) << 60) + (INT64_C(1) << 37)));
}

static bool compares(int direction, int kind, float x, float y)
{
    CompareAttrs a = { .comparison_direction = direction, .compare_type = kind };
    unsigned char holds = 2;
    Tensor in[] = { SCALAR(F32, &x), SCALAR(F32, &y) }, out = SCALAR(I1, &holds);
    must(evaluate(OP_COMPARE, &a, 2, in, 1, &out, 0, NULL));
    return holds;
}

static void comparisons(void)
{
    CHECK(compares(LT, COMPARE_FLOAT, 1, 2) && !compares(LT, COMPARE_FLOAT, 2, 2));
    CHECK(compares(NE, COMPARE_FLOAT, NAN, NAN) && !compares(GE, COMPARE_FLOAT, NAN, 0));
    CHECK(compares(EQ, COMPARE_NOTYPE, -0.0f, 0.0f) && !compares(LT, COMPARE_NOTYPE, -0.0f, 0.0f));
    CHECK(compares(LT, COMPARE_TOTALORDER, -0.0f, 0.0f));
    CHECK(compares(LT, COMPARE_TOTALORDER, INFINITY, NAN));
    CHECK(compares(LT, COMPARE_TOTALORDER, -NAN, -INFINITY));
}

static void moving(void)
{
    int32_t x[] = { 1, 2, 3, 4, 5, 6 }, zero = 0, y[32];
    Tensor in[] = { ARRAY(I32, x, 2, 3), SCALAR(I32, &zero) }, out = ARRAY(I32, y, 3, 2);
    must(evaluate(OP_TRANSPOSE, &(TransposeAttrs){ LIST(1, 0), 0 }, 1, in, 1, &out, 0, NULL));
    CHECK(!memcmp(y, (int32_t[]){ 1, 4, 2, 5, 3, 6 }, 24));
    out = ARRAY(I32, y, 2, 3);
    must(evaluate(OP_REVERSE, &(DimensionsAttrs){ LIST(1), 0 }, 1, in, 1, &out, 0, NULL));
    CHECK(!memcmp(y, (int32_t[]){ 3, 2, 1, 6, 5, 4 }, 24));
    out = ARRAY(I32, y, 2, 2);
    must(evaluate(OP_SLICE, &(SliceAttrs){ LIST(0, 0), LIST(2, 3), LIST(1, 2), 0 }, 1, in, 1, &out,
                  0, NULL));
    CHECK(!memcmp(y, (int32_t[]){ 1, 3, 4, 6 }, 16));
    out = ARRAY(I32, y, 3, 4); /* low -1 cuts the first column; interior 1 spreads */
    must(evaluate(OP_PAD, &(PadAttrs){ LIST(0, -1), LIST(0, 0), LIST(1, 1), 0 }, 2, in, 1, &out, 0,
                  NULL));
    CHECK(!memcmp(y, (int32_t[]){ 0, 2, 0, 3, 0, 0, 0, 0, 0, 5, 0, 6 }, 48));
    out = ARRAY(I32, y, 2, 2, 3);
    must(evaluate(OP_BROADCAST, &(BroadcastAttrs){ LIST(1, 2), 0 }, 1, in, 1, &out, 0, NULL));
    CHECK(!memcmp(y, x, 24) && !memcmp(y + 6, x, 24));
    Tensor two[] = { in[0], in[0] };
    out = ARRAY(I32, y, 2, 6);
    must(evaluate(OP_CONCATENATE, &(DimensionAttrs){ 1, 0 }, 2, two, 1, &out, 0, NULL));
    CHECK(!memcmp(y, (int32_t[]){ 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6 }, 48));
}

static void indexing(void)
{
    int32_t x[] = { 10, 11, 12, 13, 14 }, at = 4, y[8];
    int32_t picks[] = { 3, -7, 99 };
    Tensor slice[] = { ARRAY(I32, x, 5), SCALAR(I32, &at) }, out = ARRAY(I32, y, 3);
    must(
        evaluate(OP_DYNAMIC_SLICE, &(DynamicSliceAttrs){ LIST(3), 0 }, 2, slice, 1, &out, 0, NULL));
    CHECK(!memcmp(y, (int32_t[]){ 12, 13, 14 }, 12)); /* moved to fit */
    GatherAttrs g = { .collapsed_slice_dims = LIST(0),
                      .start_index_map = LIST(0),
                      .index_vector_dim = 1,
                      .slice_sizes = LIST(1) };
    Tensor gather[] = { ARRAY(I32, x, 5), ARRAY(I32, picks, 3) };
    must(evaluate(OP_GATHER, &g, 2, gather, 1, &out, 0, NULL));
    CHECK(!memcmp(y, (int32_t[]){ 13, 10, 14 }, 12)); /* clamped */
    int32_t news[] = { 7, 8 };
    Tensor update[] = { ARRAY(I32, x, 5), ARRAY(I32, news, 2), SCALAR(I32, &at) };
    out = ARRAY(I32, y, 5);
    must(evaluate(OP_DYNAMIC_UPDATE, NULL, 3, update, 1, &out, 0, NULL));
    CHECK(!memcmp(y, (int32_t[]){ 10, 11, 12, 7, 8 }, 20));
}

/* A region of two scalars and one operation. */
static RegionId region2(OpId op, Element e, Element result, const void *attrs)
{
    Type two[] = { type_scalar(e), type_scalar(e) }, one = type_scalar(result);
    RegionId r = region_new(m, 0, 2, two);
    ValueId args[] = { region_at(m, r)->args, region_at(m, r)->args + 1 };
    NodeId n = node_new(m, op, 2, args, 1, &one, 0, NULL, attrs, NULL);
    region_append(m, r, n);
    ValueId out = node_at(m, n)->out;
    region_append(m, r, node_new(m, OP_RETURN, 1, &out, 0, NULL, 0, NULL, NULL, NULL));
    return r;
}

static void regions(void)
{
    int32_t x[] = { 1, 2, 3, 4, 5, 6 }, hundred = 100, y[8];
    RegionId add = region2(OP_ADD, I32, I32, NULL), max = region2(OP_MAX, I32, I32, NULL);
    Tensor in[] = { ARRAY(I32, x, 2, 3), SCALAR(I32, &hundred) }, out = ARRAY(I32, y, 3);
    must(evaluate(OP_REDUCE, &(DimensionsAttrs){ LIST(0), 0 }, 2, in, 1, &out, 1, &add));
    CHECK(!memcmp(y, (int32_t[]){ 105, 107, 109 }, 12));

    Tensor line[] = { ARRAY(I32, x, 6), SCALAR(I32, &hundred) };
    int32_t zero = 0;
    line[1].data = &zero;
    WindowAttrs w = { .window_dimensions = LIST(2),
                      .window_strides = LIST(2),
                      .window_dilations = LIST(2),
                      .padding = { 1, 2, DIMS(1, 0) } };
    out = ARRAY(I32, y, 3); /* windows (pad, 2), (2, 4), (4, 6) */
    must(evaluate(OP_REDUCE_WINDOW, &w, 2, line, 1, &out, 1, &max));
    CHECK(!memcmp(y, (int32_t[]){ 2, 4, 6 }, 12));

    int32_t picks[] = { 1, 9, 1 }, more[] = { 50, 60, 70 };
    ScatterAttrs s = { .inserted_window_dims = LIST(0),
                       .scatter_dims_to_operand_dims = LIST(0),
                       .index_vector_dim = 1 };
    Tensor scatter[] = { ARRAY(I32, x, 6), ARRAY(I32, picks, 3), ARRAY(I32, more, 3) };
    out = ARRAY(I32, y, 6);
    must(evaluate(OP_SCATTER, &s, 3, scatter, 1, &out, 1, &add));
    CHECK(!memcmp(y, (int32_t[]){ 1, 122, 3, 4, 5, 6 }, 24)); /* 9 is outside: left out */
}

/* Sums of ten thousand bf16 ones: one by one they would stop at 256. */
static void long_sums(void)
{
    static uint16_t x[10000];
    uint16_t zero = 0, y;
    for (int i = 0; i < 10000; i++)
        x[i] = 0x3f80;
    RegionId add = region2(OP_ADD, BF16, BF16, NULL);
    Tensor in[] = { ARRAY(BF16, x, 10000), SCALAR(BF16, &zero) }, out = SCALAR(BF16, &y);
    must(evaluate(OP_REDUCE, &(DimensionsAttrs){ LIST(0), 0 }, 2, in, 1, &out, 1, &add));
    CHECK(fabs(float_at(out, 0) - 10000) < 200);
}

static void sorting(void)
{
    float x[] = { 3, NAN, -1, 3, -0.0f, 0.0f }, y[6];
    int32_t tags[6];
    static const CompareAttrs less = { .comparison_direction = LT,
                                       .compare_type = COMPARE_TOTALORDER };
    Tensor in = ARRAY(F32, x, 6), out = ARRAY(F32, y, 6);
    RegionId before = region2(OP_COMPARE, F32, I1, &less);
    must(evaluate(OP_SORT, &(SortAttrs){ .dimension = -1 }, 1, &in, 1, &out, 1, &before));
    CHECK(y[0] == -1 && signbit(y[1]) && !signbit(y[2]) && y[3] == 3 && y[4] == 3 && isnan(y[5]));
    Tensor top[] = { ARRAY(F32, y, 3), ARRAY(I32, tags, 3) };
    must(evaluate(OP_TOP_K, &(TopKAttrs){ .k = 3 }, 1, &in, 2, top, 0, NULL));
    CHECK(isnan(y[0]) && y[1] == 3 && y[2] == 3);
    CHECK(tags[0] == 1 && tags[1] == 0 && tags[2] == 3);
}

static void products(void)
{
    float a[] = { 1, 2, 3, 4 }, b[] = { 5, 6, 7, 8 }, c[4];
    Tensor in[] = { ARRAY(F32, a, 2, 2), ARRAY(F32, b, 2, 2) }, out = ARRAY(F32, c, 2, 2);
    DotAttrs d = { .lhs_contracting_dimensions = LIST(1), .rhs_contracting_dimensions = LIST(0) };
    must(evaluate(OP_DOT, &d, 2, in, 1, &out, 0, NULL));
    CHECK(!memcmp(c, (float[]){ 19, 22, 43, 50 }, 16));
    DotAttrs batched = { .lhs_batching_dimensions = LIST(0),
                         .rhs_batching_dimensions = LIST(0),
                         .lhs_contracting_dimensions = LIST(1),
                         .rhs_contracting_dimensions = LIST(1) };
    out = ARRAY(F32, c, 2);
    must(evaluate(OP_DOT, &batched, 2, in, 1, &out, 0, NULL));
    CHECK(c[0] == 17 && c[1] == 53);

    float image[] = { 1, 2, 3, 4 }, kernel[] = { 1, 10 }, result[5];
    ConvolutionAttrs v = { .window_strides = LIST(1),
                           .padding = { 1, 2, DIMS(1, 1) },
                           .input_batch_dimension = 0,
                           .input_feature_dimension = 1,
                           .input_spatial_dimensions = LIST(2),
                           .kernel_input_feature_dimension = 1,
                           .kernel_output_feature_dimension = 0,
                           .kernel_spatial_dimensions = LIST(2),
                           .output_batch_dimension = 0,
                           .output_feature_dimension = 1,
                           .output_spatial_dimensions = LIST(2),
                           .feature_group_count = 1,
                           .batch_group_count = 1 };
    Tensor conv[] = { ARRAY(F32, image, 1, 1, 4), ARRAY(F32, kernel, 1, 1, 2) };
    out = ARRAY(F32, result, 1, 1, 5);
    must(evaluate(OP_CONVOLUTION, &v, 2, conv, 1, &out, 0, NULL));
    CHECK(!memcmp(result, (float[]){ 10, 21, 32, 43, 4 }, 20));
}

/* while (i < 5) { i = i + 1; a, b = b, a + b }: the constants stand outside the regions. */
static void loops(void)
{
    static const CompareAttrs less = { .comparison_direction = LT };
    static int64_t one = 1, five = 5;
    static ConstantAttrs one_attr, five_attr;
    Type t = type_scalar(I64), i1 = type_scalar(I1), three[] = { t, t, t };
    one_attr.value = (Dense){ t, false, &one };
    five_attr.value = (Dense){ t, false, &five };
    RegionId outer = region_new(m, 0, 0, NULL);
    NodeId c1 = node_new(m, OP_CONSTANT, 0, NULL, 1, &t, 0, NULL, &one_attr, NULL);
    NodeId c5 = node_new(m, OP_CONSTANT, 0, NULL, 1, &t, 0, NULL, &five_attr, NULL);
    region_append(m, outer, c1);
    region_append(m, outer, c5);
    RegionId test = region_new(m, 0, 3, three), body = region_new(m, 0, 3, three);
    NodeId n =
        node_new(m, OP_COMPARE, 2, (ValueId[]){ region_at(m, test)->args, node_at(m, c5)->out }, 1,
                 &i1, 0, NULL, &less, NULL);
    region_append(m, test, n);
    region_append(
        m, test,
        node_new(m, OP_RETURN, 1, &(ValueId){ node_at(m, n)->out }, 0, NULL, 0, NULL, NULL, NULL));
    ValueId arg = region_at(m, body)->args;
    NodeId count =
        node_new(m, OP_ADD, 2, (ValueId[]){ arg, node_at(m, c1)->out }, 1, &t, 0, NULL, NULL, NULL);
    NodeId sum =
        node_new(m, OP_ADD, 2, (ValueId[]){ arg + 1, arg + 2 }, 1, &t, 0, NULL, NULL, NULL);
    region_append(m, body, count);
    region_append(m, body, sum);
    ValueId results[] = { node_at(m, count)->out, arg + 2, node_at(m, sum)->out };
    region_append(m, body, node_new(m, OP_RETURN, 3, results, 0, NULL, 0, NULL, NULL, NULL));
    int64_t x[] = { 0, 0, 1 }, y[3];
    Tensor in[] = { SCALAR(I64, &x[0]), SCALAR(I64, &x[1]), SCALAR(I64, &x[2]) };
    Tensor out[] = { SCALAR(I64, &y[0]), SCALAR(I64, &y[1]), SCALAR(I64, &y[2]) };
    must(evaluate(OP_WHILE, NULL, 3, in, 3, out, 2, (RegionId[]){ test, body }));
    CHECK(y[0] == 5 && y[1] == 5 && y[2] == 8);
}

static void linear(void)
{
    float a[] = { 4, 2, 2, 5 }, l[] = { 2, 99, 1, 4 }, b[] = { 2, 9 }, y[4];
    Tensor in[] = { ARRAY(F32, a, 2, 2), ARRAY(F32, b, 2, 1) }, out = ARRAY(F32, y, 2, 2);
    must(evaluate(OP_CHOLESKY, &(CholeskyAttrs){ .lower = true }, 1, in, 1, &out, 0, NULL));
    CHECK(!memcmp(y, (float[]){ 2, 0, 1, 2 }, 16));
    must(evaluate(OP_CHOLESKY, &(CholeskyAttrs){ .lower = false }, 1, in, 1, &out, 0, NULL));
    CHECK(!memcmp(y, (float[]){ 2, 1, 0, 2 }, 16));
    TriangularSolveAttrs t = { .left_side = true, .lower = true, .transpose_a = 1 };
    in[0].data = l;
    out = ARRAY(F32, y, 2, 1);
    must(evaluate(OP_TRIANGULAR_SOLVE, &t, 2, in, 1, &out, 0, NULL));
    CHECK(y[0] == 1 && y[1] == 2);
    t.transpose_a = 2; /* (2 1; 0 4) x = (2, 9) */
    must(evaluate(OP_TRIANGULAR_SOLVE, &t, 2, in, 1, &out, 0, NULL));
    CHECK(y[0] == -0.125f && y[1] == 2.25f);
    t.unit_diagonal = true; /* (1 1; 0 1) x = (2, 9) */
    must(evaluate(OP_TRIANGULAR_SOLVE, &t, 2, in, 1, &out, 0, NULL));
    CHECK(y[0] == -7 && y[1] == 9);

    /* x a^H = b with a = (1+i 0; 2 3i), x = (1, i), b = (1-i, 5). */
    double c[] = { 1, 1, 0, 0, 2, 0, 0, 3 }, d[] = { 1, -1, 5, 0 }, x[4];
    TriangularSolveAttrs right = { .left_side = false, .lower = true, .transpose_a = 3 };
    Tensor wide[] = { ARRAY(C128, c, 2, 2), ARRAY(C128, d, 1, 2) };
    out = ARRAY(C128, x, 1, 2);
    must(evaluate(OP_TRIANGULAR_SOLVE, &right, 2, wide, 1, &out, 0, NULL));
    CHECK(fabs(x[0] - 1) + fabs(x[1]) + fabs(x[2]) + fabs(x[3] - 1) < 1e-14);
}

static void transforms(void)
{
    float x[] = { 1, 2, 3, 4 }, y[8], back[4];
    float expected[] = { 10, 0, -2, 2, -2, 0 };
    Tensor in = ARRAY(F32, x, 4), out = ARRAY(C64, y, 3);
    must(evaluate(OP_FFT, &(FftAttrs){ .fft_type = 2, .fft_length = LIST(4) }, 1, &in, 1, &out, 0,
                  NULL));
    for (int i = 0; i < 6; i++)
        CHECK(fabsf(y[i] - expected[i]) < 1e-6f);
    in = ARRAY(C64, y, 3);
    out = ARRAY(F32, back, 4);
    must(evaluate(OP_FFT, &(FftAttrs){ .fft_type = 3, .fft_length = LIST(4) }, 1, &in, 1, &out, 0,
                  NULL));
    for (int i = 0; i < 4; i++)
        CHECK(fabsf(back[i] - x[i]) < 1e-6f);

    /* Random123's known answers for Threefry-2x32 with 20 rounds. */
    uint64_t state[] = { 0, 0 }, after[2], bits[1];
    Tensor from = ARRAY(U64, state, 2), made[] = { ARRAY(U64, after, 2), ARRAY(U64, bits, 1) };
    RngBitsAttrs threefry = { .rng_algorithm = 1 };
    must(evaluate(OP_RNG_BITS, &threefry, 1, &from, 2, made, 0, NULL));
    CHECK(bits[0] == 0x99ba4efe6b200159 && after[0] == 0 && after[1] == 1);
    state[0] = state[1] = ~UINT64_C(0);
    must(evaluate(OP_RNG_BITS, &threefry, 1, &from, 2, made, 0, NULL));
    CHECK(bits[0] == 0xbb002be71cb996fc && after[1] == 0);
}

/* What XLA makes of the key 7 and the counter 9. */
static void random_bits(void)
{
    uint64_t state[] = { 7, 9 }, after[2];
    uint32_t bits[15];
    static const uint32_t rows[] = { 0x8015f2d2, 0x0110b8ec, 0x843c52a3,
                                     0x489d1b34, 0x34b33d2d, 0x2d2c6d4e };
    static const uint32_t odd[] = { 0x8015f2d2, 0x489d1b34, 0x0110b8ec, 0x34b33d2d, 0x843c52a3,
                                    0x5713dc7b, 0x70fa81ca, 0x88b5a788, 0xe966c720, 0x0e4779a9,
                                    0x39a765f8, 0xbfaac661, 0x7bf56914, 0x37222518, 0x0accb585 };
    static const uint32_t philox[] = { 0x9c6e911a, 0xe66bd3a4, 0x8d35dc7b, 0xdfeaf70e, 0x68083535 };
    Tensor from = ARRAY(U64, state, 2), made[] = { ARRAY(U64, after, 2), ARRAY(U32, bits, 2, 3) };
    must(evaluate(OP_RNG_BITS, &(RngBitsAttrs){ .rng_algorithm = 1 }, 1, &from, 2, made, 0, NULL));
    CHECK(!memcmp(bits, rows, sizeof rows) && after[0] == 7 && after[1] == 12);
    made[1] = ARRAY(U32, bits, 3, 5);
    must(evaluate(OP_RNG_BITS, &(RngBitsAttrs){ .rng_algorithm = 1 }, 1, &from, 2, made, 0, NULL));
    CHECK(!memcmp(bits, odd, sizeof odd) && after[1] == 18);
    made[1] = ARRAY(U32, bits, 5);
    for (int algorithm = 0; algorithm < 3; algorithm += 2) {
        must(evaluate(OP_RNG_BITS, &(RngBitsAttrs){ .rng_algorithm = algorithm }, 1, &from, 2, made,
                      0, NULL));
        CHECK(!memcmp(bits, philox, sizeof philox) && after[0] == 7 && after[1] == 11);
    }
    uint64_t wide[3];
    made[1] = ARRAY(U64, wide, 3);
    must(evaluate(OP_RNG_BITS, &(RngBitsAttrs){ .rng_algorithm = 2 }, 1, &from, 2, made, 0, NULL));
    CHECK(wide[1] == 0xdfeaf70e8d35dc7b && wide[2] == 0xffa897ae68083535 && after[1] == 11);
}

/* A function that calls itself is an error, not a deep stack. */
static void recursion(void)
{
    static const CallAttrs self = { .callee = STR("f") };
    Type t = type_scalar(I32);
    int32_t x = 1, y;
    Func *f = func_add(m, STR("f"));
    f->results = &t;
    f->nresults = 1;
    f->body = region_new(m, 0, 1, &t);
    RegionId body = f->body;
    ValueId arg = region_at(m, body)->args;
    NodeId n = node_new(m, OP_CALL, 1, &arg, 1, &t, 0, NULL, &self, NULL);
    region_append(m, body, n);
    ValueId result = node_at(m, n)->out;
    region_append(m, body, node_new(m, OP_RETURN, 1, &result, 0, NULL, 0, NULL, NULL, NULL));
    Tensor in = SCALAR(I32, &x), out = SCALAR(I32, &y);
    Error *error = eval_region(m, body, &in, &out);
    CHECK_STR(error ? error_text(error) : "",
              "func.call @f, at unknown place: the function calls itself");
    error_free(error);
}

static void expectations(void)
{
    float x[] = { 1, 2, nextafterf(3, 4), NAN }, y[] = { 1, 2, 3, NAN };
    Tensor in[] = { ARRAY(F32, x, 2, 2), ARRAY(F32, y, 2, 2) };
    CustomCallAttrs equal = { .call_target_name = STR("check.expect_eq") };
    CustomCallAttrs close = { .call_target_name = STR("check.expect_close") };
    CustomCallAttrs foreign = { .call_target_name = STR("my_kernel") };
    must(evaluate(OP_CUSTOM_CALL, &close, 2, in, 0, NULL, 0, NULL));
    Error *error = evaluate(OP_CUSTOM_CALL, &equal, 2, in, 0, NULL, 0, NULL);
    CHECK_STR(error ? error_text(error) : "",
              "check.expect_eq of f32[2,2], at unknown place: 1 of 4 elements differ, the first at "
              "[1, 0]: 3.00000024 where 3 is expected");
    error_free(error);
    error = evaluate(OP_CUSTOM_CALL, &foreign, 2, in, 0, NULL, 0, NULL);
    CHECK_STR(error ? error_text(error) : "",
              "not supported: custom_call @my_kernel, at unknown place: nobody has defined it; a C "
              "program does with tt_define_call");
    error_free(error);
    int32_t i = 1, j;
    Tensor integer = SCALAR(I32, &i), out = SCALAR(I32, &j);
    error = evaluate(OP_EXP, NULL, 1, &integer, 1, &out, 0, NULL);
    CHECK_STR(error ? error_text(error) : "",
              "not supported: exponential of i32[], at unknown place");
    error_free(error);
}

int main(void)
{
    m = module_new();
    integers();
    floats();
    formats();
    conversions();
    comparisons();
    moving();
    indexing();
    regions();
    long_sums();
    sorting();
    products();
    loops();
    linear();
    transforms();
    random_bits();
    recursion();
    expectations();
    module_free(m);
    return check_done();
}
