/* attrs_test.c - attributes from dictionaries to structs and back to text; numbers of every
 * element type.  The float patterns are those of the formats' definitions. */
#include "base/arena.h"
#include "ops/attrs.h"
#include "ops/number.h"

#include "../check.h"

#include <math.h>

static Arena *arena;

static const char *printed(AttrsKind kind, const void *attrs)
{
    static Text text;
    text_free(&text);
    attrs_print(&text, kind, attrs);
    return text_cstr(&text);
}

static const char *message(AttrsKind kind, const char *op, const AttrDict *dict)
{
    static char buffer[256];
    const void *attrs;
    Error *error = attrs_from_dict(arena, kind, op, attr_dict(arena, dict), &attrs, NULL);
    snprintf(buffer, sizeof buffer, "%s", error ? error_text(error) : "no error");
    error_free(error);
    return buffer;
}

static void structs(void)
{
    AttrDict dict = { 0 };
    attr_set(arena, &dict, STR("dimension"), attr_int(arena, 1));
    attr_set(arena, &dict, STR("mhlo.sharding"), attr_string(arena, STR("{replicated}")));
    const void *attrs;
    const Attr *extra;
    CHECK(!attrs_from_dict(arena, ATTRS_SORT, "sort", attr_dict(arena, &dict), &attrs, &extra));
    const SortAttrs *sort = attrs;
    CHECK(sort->dimension == 1 && !sort->is_stable);
    CHECK(extra && extra->n == 1 && attr_get(extra, "mhlo.sharding"));
    CHECK_STR(printed(ATTRS_SORT, sort), "dimension = 1 : i64, is_stable = false");
    SortAttrs other = *sort;
    CHECK(attrs_equal(ATTRS_SORT, sort, &other));
    CHECK(attrs_hash(ATTRS_SORT, sort, 7) == attrs_hash(ATTRS_SORT, &other, 7));
    other.is_stable = true;
    CHECK(!attrs_equal(ATTRS_SORT, sort, &other));
    CHECK(attrs_hash(ATTRS_SORT, sort, 7) != attrs_hash(ATTRS_SORT, &other, 7));
}

static void lists(void)
{
    AttrDict dict = { 0 };
    int64_t groups[] = { 0, 1, 2, 3, -1, -1 };
    attr_set(arena, &dict, STR("replica_groups"), attr_matrix(arena, 2, 3, groups));
    attr_set(arena, &dict, STR("channel_type"), attr_int(arena, 1));
    const void *attrs;
    CHECK(!attrs_from_dict(arena, ATTRS_ALL_REDUCE, "all_reduce", attr_dict(arena, &dict), &attrs,
                           NULL));
    const AllReduceAttrs *a = attrs;
    CHECK(a->replica_groups.rows == 2 && a->replica_groups.cols == 3);
    CHECK(a->replica_groups.at[5] == -1 && a->channel_id == 0);
    CHECK_STR(printed(ATTRS_ALL_REDUCE, a),
              "replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>, "
              "channel_id = 0 : i64, use_global_device_ids = false");

    /* A splat of booleans, as MLIR writes window_reversal, is a list like another. */
    Type three = type_new(arena, I1, 1, (int64_t[]){ 3 });
    Dense splat = { .type = three, .is_splat = true, .data = "\1" };
    Attr reversal = { .kind = ATTR_DENSE, .dense = splat };
    AttrDict window = { 0 };
    attr_set(arena, &window, STR("dimensions"), &reversal);
    CHECK(!attrs_from_dict(arena, ATTRS_DIMENSIONS, "reverse", attr_dict(arena, &window), &attrs,
                           NULL));
    CHECK_STR(printed(ATTRS_DIMENSIONS, attrs), "dimensions = array<i64: 1, 1, 1>");
}

static void complaints(void)
{
    AttrDict dict = { 0 };
    CHECK_STR(message(ATTRS_IOTA, "iota", &dict), "iota: attribute 'iota_dimension' is missing");
    attr_set(arena, &dict, STR("iota_dimension"), attr_string(arena, STR("x")));
    CHECK_STR(message(ATTRS_IOTA, "iota", &dict),
              "iota: attribute 'iota_dimension' must be an integer, not \"x\"");
    attr_set(arena, &dict, STR("iota_dimension"), attr_int(arena, 0));
    attr_set(arena, &dict, STR("colour"), attr_int(arena, 0));
    CHECK_STR(message(ATTRS_IOTA, "iota", &dict), "iota: unknown attribute 'colour'");

    AttrDict compare = { 0 };
    attr_set(arena, &compare, STR("comparison_direction"), attr_word(arena, STR("LT")));
    CHECK_STR(message(ATTRS_COMPARE, "compare", &compare), "no error");
    attr_set(arena, &compare, STR("comparison_direction"), attr_word(arena, STR("L")));
    CHECK_STR(message(ATTRS_COMPARE, "compare", &compare),
              "compare: attribute 'comparison_direction' must be EQ,NE,GE,GT,LE,LT, not L");
}

/* They say how bytes would be handed to foreign code; arrays are what they are. */
static void layouts(void)
{
    int64_t columns[] = { 0, 1 };
    const Attr *column = attr_ints(arena, 2, columns);
    Attr list = { .kind = ATTR_ARRAY, .n = 1, .items = &column };
    AttrDict dict = { 0 };
    attr_set(arena, &dict, STR("call_target_name"), attr_string(arena, STR("f")));
    attr_set(arena, &dict, STR("operand_layouts"), &list);
    attr_set(arena, &dict, STR("result_layouts"), &list);
    CHECK_STR(message(ATTRS_CUSTOM_CALL, "custom_call", &dict), "no error");
}

static const char *dense_text(Element e, int64_t n, bool is_splat, const void *data)
{
    static Text text;
    text_free(&text);
    dense_print(&text, (Dense){ .type = { e, 1, &n }, .is_splat = is_splat, .data = data });
    return text_cstr(&text);
}

static void constants(void)
{
    float singles[] = { 1, -0.1f, INFINITY, 3.4028235e38f };
    CHECK_STR(dense_text(F32, 4, false, singles),
              "dense<[1.000000e+00, -1.000000e-01, 0x7F800000, 3.4028235e+38]>");
    CHECK_STR(dense_text(F32, 4, true, singles), "dense<1.000000e+00>");
    CHECK_STR(dense_text(I1, 2, false, "\0\1"), "dense<[false, true]>");
    CHECK_STR(dense_text(U8, 2, false, "\377\1"), "dense<[255, 1]>");
    CHECK_STR(dense_text(I8, 2, false, "\377\1"), "dense<[-1, 1]>");
    CHECK_STR(dense_text(C64, 1, false, singles), "dense<[(1.000000e+00,-1.000000e-01)]>");
    CHECK_STR(dense_text(I32, 0, false, NULL), "dense<>");

    int64_t two = 2;
    Dense splat = { .type = { I8, 1, &two }, .is_splat = true, .data = "\5" };
    Dense all = { .type = { I8, 1, &two }, .data = "\5\5" };
    Dense mixed = { .type = { I8, 1, &two }, .data = "\5\6" };
    CHECK(dense_equal(splat, all) && dense_equal(all, splat) && !dense_equal(splat, mixed));
    ConstantAttrs a = { .value = splat }, b = { .value = all };
    CHECK(attrs_hash(ATTRS_CONSTANT, &a, 1) == attrs_hash(ATTRS_CONSTANT, &b, 1));
}

static unsigned bits_of(Element e, double x)
{
    unsigned bits = 0;
    number_set_float(e, x, &bits);
    return bits;
}

static void numbers(void)
{
    CHECK(bits_of(F16, 1) == 0x3C00 && bits_of(F16, 65504) == 0x7BFF);
    CHECK(bits_of(F16, 65520) == 0x7C00 && bits_of(F16, -INFINITY) == 0xFC00);
    CHECK(bits_of(F16, 5.9604644775390625e-8) == 1); /* the smallest subnormal */
    CHECK(bits_of(F16, 2.98e-8) == 0);               /* just below half of it */
    CHECK(bits_of(BF16, 1) == 0x3F80 && bits_of(BF16, 1.00390625) == 0x3F80); /* tie to even */
    CHECK(bits_of(F8E4M3FN, 448) == 0x7E && bits_of(F8E4M3FN, 480) == 0x7F);
    CHECK(bits_of(F8E5M2, 57344) == 0x7B && bits_of(F8E5M2, 65536) == 0x7C);
    CHECK(bits_of(F8E4M3FNUZ, 240) == 0x7F && bits_of(F8E4M3FNUZ, -0.0) == 0);
    CHECK(bits_of(F8E4M3FNUZ, NAN) == 0x80 && bits_of(F8E8M0FNU, 1) == 127);
    for (int e = 0; e < ELEMENT_COUNT; e++) /* every pattern that is a number comes back */
        for (unsigned bits = 0; element_info[e].kind == FLOAT && element_info[e].bits <= 16 &&
                                bits < 1u << element_info[e].bits;
             bits++) {
            double x = number_float((Element)e, &bits);
            if (!isnan(x) && bits_of((Element)e, x) != bits)
                CHECK(!"a float did not come back");
        }
    int64_t x = -3;
    unsigned char four = 0;
    number_set_int(I4, x, &four);
    CHECK(number_int(I4, &four) == -3);
    number_set_int(U4, x, &four);
    CHECK(four == 13 && number_int(U4, &four) == 13);
}

int main(void)
{
    arena = arena_new();
    structs();
    lists();
    complaints();
    layouts();
    constants();
    numbers();
    arena_free(arena);
    return check_done();
}
