/* grow_ops.h - random operations of one device: elementwise, moving, combining. */
#ifndef TUTTI_TEST_GROW_OPS_H
#define TUTTI_TEST_GROW_OPS_H
#include "tests/random/grow.h"

static bool grow_unary(Grower *g)
{
    static const char *const floats[] = { "negate", "abs", "floor", "ceil", "sign" };
    static const char *const ints[] = { "negate", "not", "popcnt", "count_leading_zeros" };
    Grown x;
    if (!pick(g, any_type, &x))
        return false;
    const char *op = x.type.element == I1    ? "not"
                     : is_float_type(x.type) ? floats[random_below(5)]
                                             : ints[random_below(4)];
    keep(g, one_operand(g, op, x, x.type));
    return true;
}

static bool grow_binary(Grower *g)
{
    static const char *const bools[] = { "and", "or", "xor" };
    static const char *const floats[] = { "add", "subtract", "multiply", "maximum", "minimum",
                                          "add", "subtract", "multiply" };
    static const char *const ints[] = { "add", "subtract", "multiply", "maximum", "minimum", "and",
                                        "or", "xor", "divide", "remainder", "shift_left",
                                        "shift_right_logical", "shift_right_arithmetic" };
    Grown x;
    if (!pick(g, any_type, &x))
        return false;
    Grown y = pick_like_but(g, x.type, x.id);
    const char *op = x.type.element == I1    ? bools[random_below(3)]
                     : is_float_type(x.type) ? floats[random_below(8)]
                                             : ints[random_below(13)];
    if (strcmp(op, "multiply") == 0) {
        x = tame(g, x);
        y = tame(g, y);
    }
    keep(g, chance(50) ? two_operands(g, op, x, y, x.type) : two_operands(g, op, y, x, x.type));
    return true;
}

static bool grow_compare(Grower *g)
{
    static const char *const directions[] = { "EQ", "NE", "LT", "LE", "GT", "GE" };
    Grown x;
    if (!pick(g, is_number, &x))
        return false;
    Grown y = pick_like_but(g, x.type, x.id);
    Grown v = new_value(g, type_new(g->arena, I1, x.type.rank, x.type.dims));
    line(g, "%%v%d = stablehlo.compare %s, %%v%d, %%v%d : (%s, %s) -> %s", v.id,
         directions[random_below(6)], x.id, y.id, named(x.type), named(y.type), named(v.type));
    keep(g, v);
    return true;
}

static bool grow_select(Grower *g)
{
    Grown x;
    if (!pick(g, any_type, &x))
        return false;
    Type mask = chance(80) ? type_new(g->arena, I1, x.type.rank, x.type.dims) : type_scalar(I1);
    Grown p = pick_like(g, mask), y = pick_like_but(g, x.type, x.id), v = new_value(g, x.type);
    line(g, "%%v%d = stablehlo.select %%v%d, %%v%d, %%v%d : %s, %s", v.id, p.id, x.id, y.id,
         named(mask), named(x.type));
    keep(g, v);
    return true;
}

static bool grow_convert(Grower *g)
{
    Grown x;
    if (!pick(g, any_type, &x))
        return false;
    Type to = type_new(g->arena, grow_element(g), x.type.rank, x.type.dims);
    keep(g, one_operand(g, "convert", x, to));
    return true;
}

static bool grow_broadcast(Grower *g)
{
    Grown x;
    if (!pick(g, any_type, &x) || x.type.rank > 2)
        return false;
    int64_t dims[4];
    int rank = x.type.rank + 1, at = (int)between(0, x.type.rank);
    Text list = { 0 };
    for (int i = 0, k = 0; i < rank; i++) {
        dims[i] = i == at ? between(1, 5) : x.type.dims[k];
        if (i != at)
            text_printf(&list, "%s%d", k++ ? ", " : "", i);
    }
    Grown v = new_value(g, type_new(g->arena, x.type.element, rank, dims));
    bool fits = type_count(v.type) <= MOST_COUNT;
    if (fits) {
        line(g, "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [%s] : (%s) -> %s", v.id, x.id,
             text_cstr(&list), named(x.type), named(v.type));
        keep(g, v);
    }
    text_free(&list);
    return fits;
}

static bool grow_reshape(Grower *g)
{
    Grown x;
    if (!pick(g, any_type, &x))
        return false;
    int64_t dims[3], left = type_count(x.type);
    int rank = left == 1 ? (int)between(0, 2) : (int)between(1, 3);
    for (int i = 0; i < rank; i++) {
        int64_t d = left;
        for (int tries = 0; i + 1 < rank && tries < 4; tries++) {
            int64_t by = between(1, 12);
            if (left % by == 0)
                d = by;
        }
        dims[i] = d;
        left = d ? left / d : 1;
    }
    Type to = type_new(g->arena, x.type.element, rank, dims);
    if (type_count(to) != type_count(x.type))
        return false;
    keep(g, one_operand(g, "reshape", x, to));
    return true;
}

static bool grow_transpose(Grower *g)
{
    Grown x;
    if (!pick(g, has_rank, &x))
        return false;
    int order[4];
    int64_t dims[4];
    Text list = { 0 };
    shuffled(x.type.rank, order);
    for (int i = 0; i < x.type.rank; i++) {
        dims[i] = x.type.dims[order[i]];
        text_printf(&list, "%s%d", i ? ", " : "", order[i]);
    }
    Grown v = new_value(g, type_new(g->arena, x.type.element, x.type.rank, dims));
    line(g, "%%v%d = stablehlo.transpose %%v%d, dims = [%s] : (%s) -> %s", v.id, x.id,
         text_cstr(&list), named(x.type), named(v.type));
    text_free(&list);
    keep(g, v);
    return true;
}

static bool grow_slice(Grower *g)
{
    Grown x;
    if (!pick(g, has_rank, &x))
        return false;
    int64_t dims[4];
    Text list = { 0 };
    for (int i = 0; i < x.type.rank; i++) {
        int64_t start = between(0, x.type.dims[i] / 2), limit = between(start, x.type.dims[i]);
        int64_t stride = chance(30) ? between(1, 3) : 1;
        dims[i] = (limit - start + stride - 1) / stride;
        text_printf(&list, "%s%d:%d:%d", i ? ", " : "", (int)start, (int)limit, (int)stride);
    }
    Grown v = new_value(g, type_new(g->arena, x.type.element, x.type.rank, dims));
    line(g, "%%v%d = stablehlo.slice %%v%d [%s] : (%s) -> %s", v.id, x.id, text_cstr(&list),
         named(x.type), named(v.type));
    text_free(&list);
    keep(g, v);
    return true;
}

static bool grow_reverse(Grower *g)
{
    Grown x;
    if (!pick(g, has_rank, &x))
        return false;
    Grown v = new_value(g, x.type);
    line(g, "%%v%d = stablehlo.reverse %%v%d, dims = [%d] : %s", v.id, x.id,
         (int)between(0, x.type.rank - 1), named(x.type));
    keep(g, v);
    return true;
}

static bool grow_pad(Grower *g)
{
    Grown x;
    if (!pick(g, has_rank, &x))
        return false;
    Grown p = pick_like(g, type_scalar(x.type.element));
    int64_t dims[4];
    Text low = { 0 }, high = { 0 }, inner = { 0 };
    for (int i = 0; i < x.type.rank; i++) {
        int64_t n = x.type.dims[i], a = between(-1, 2), b = between(-1, 2), c = chance(20) ? 1 : 0;
        dims[i] = n + a + b + (n > 1 ? (n - 1) * c : 0);
        if (dims[i] < 0)
            a = b = 0, dims[i] = n + (n > 1 ? (n - 1) * c : 0);
        text_printf(&low, "%s%d", i ? ", " : "", (int)a);
        text_printf(&high, "%s%d", i ? ", " : "", (int)b);
        text_printf(&inner, "%s%d", i ? ", " : "", (int)c);
    }
    Grown v = new_value(g, type_new(g->arena, x.type.element, x.type.rank, dims));
    bool fits = type_count(v.type) <= MOST_COUNT;
    if (fits) {
        line(g, "%%v%d = stablehlo.pad %%v%d, %%v%d, low = [%s], high = [%s], interior = [%s] : "
             "(%s, %s) -> %s", v.id, x.id, p.id, text_cstr(&low), text_cstr(&high),
             text_cstr(&inner), named(x.type), named(p.type), named(v.type));
        keep(g, v);
    }
    text_free(&low);
    text_free(&high);
    text_free(&inner);
    return fits;
}

static bool grow_concatenate(Grower *g)
{
    Grown x;
    if (!pick(g, has_rank, &x) || type_count(x.type) > MOST_COUNT / 2)
        return false;
    Grown y = pick_like(g, x.type);
    int64_t dims[4];
    int at = (int)between(0, x.type.rank - 1);
    memcpy(dims, x.type.dims, sizeof *dims * (size_t)x.type.rank);
    dims[at] *= 2;
    Grown v = new_value(g, type_new(g->arena, x.type.element, x.type.rank, dims));
    line(g, "%%v%d = stablehlo.concatenate %%v%d, %%v%d, dim = %d : (%s, %s) -> %s", v.id, x.id,
         y.id, at, named(x.type), named(y.type), named(v.type));
    keep(g, v);
    return true;
}

static bool grow_iota(Grower *g)
{
    Grown v = new_value(g, grow_type(g, grow_element(g), 1));
    line(g, "%%v%d = stablehlo.iota dim = %d : %s", v.id, (int)between(0, v.type.rank - 1),
         named(v.type));
    keep(g, v);
    return true;
}

static bool grow_reduce(Grower *g)
{
    static const char *const ops[] = { "add", "maximum", "minimum" };
    Grown x;
    if (!pick(g, is_ranked_number, &x))
        return false;
    int op = (int)random_below(3), rank = 0, n = 0;
    if (op == 0)
        x = summable(g, x);
    Grown init = op == 0 ? constant(g, type_scalar(x.type.element), is_float_type(x.type) ? "0.0" : "0")
                         : pick_like(g, type_scalar(x.type.element));
    int64_t dims[4];
    Text list = { 0 };
    for (int i = 0; i < x.type.rank; i++)
        if (chance(60))
            text_printf(&list, "%s%d", n++ ? ", " : "", i);
        else
            dims[rank++] = x.type.dims[i];
    Grown v = new_value(g, type_new(g->arena, x.type.element, rank, dims));
    line(g, "%%v%d = stablehlo.reduce(%%v%d init: %%v%d) applies stablehlo.%s across dimensions = "
         "[%s] : (%s, %s) -> %s", v.id, x.id, init.id, ops[op], text_cstr(&list), named(x.type),
         named(init.type), named(v.type));
    text_free(&list);
    keep(g, v);
    return true;
}

static bool grow_dot(Grower *g)
{
    Grown x, y;
    if (!pick(g, is_matrix, &x) || !pick(g, is_matrix, &y) || x.type.element != y.type.element)
        y = x;
    if (!is_matrix(x.type))
        return false;
    int a = (int)between(0, 1), b = (int)between(0, 1);
    if (x.type.dims[a] != y.type.dims[b])
        y = x, b = a;
    int64_t dims[2] = { x.type.dims[1 - a], y.type.dims[1 - b] };
    x = tame(g, x);
    y = tame(g, y);
    Grown v = new_value(g, type_new(g->arena, x.type.element, 2, dims));
    if (type_count(v.type) > MOST_COUNT)
        return false;
    line(g, "%%v%d = stablehlo.dot_general %%v%d, %%v%d, contracting_dims = [%d] x [%d] : (%s, %s) "
         "-> %s", v.id, x.id, y.id, a, b, named(x.type), named(y.type), named(v.type));
    keep(g, v);
    return true;
}

static bool grow_dynamic_slice(Grower *g)
{
    Grown x;
    if (!pick(g, has_rank, &x))
        return false;
    int64_t dims[4];
    Grown starts[4];
    Text sizes = { 0 }, names = { 0 }, types = { 0 };
    for (int i = 0; i < x.type.rank; i++) {
        starts[i] = small_index(g);
        dims[i] = between(0, x.type.dims[i]);
        text_printf(&sizes, "%s%d", i ? ", " : "", (int)dims[i]);
        text_printf(&names, ", %%v%d", starts[i].id);
        text_printf(&types, ", tensor<i32>");
    }
    bool is_update = chance(50);
    Type part = type_new(g->arena, x.type.element, x.type.rank, dims);
    Grown u = is_update ? pick_like(g, part) : x, v = new_value(g, is_update ? x.type : part);
    if (is_update)
        line(g, "%%v%d = stablehlo.dynamic_update_slice %%v%d, %%v%d%s : (%s, %s%s) -> %s", v.id,
             x.id, u.id, text_cstr(&names), named(x.type), named(part), text_cstr(&types),
             named(x.type));
    else
        line(g, "%%v%d = stablehlo.dynamic_slice %%v%d%s, sizes = [%s] : (%s%s) -> %s", v.id, x.id,
             text_cstr(&names), text_cstr(&sizes), named(x.type), text_cstr(&types), named(part));
    text_free(&sizes);
    text_free(&names);
    text_free(&types);
    keep(g, v);
    return true;
}

/* n row numbers, i32, some of them outside. */
static Grown row_numbers(Grower *g, int64_t n)
{
    Type type = type_new(g->arena, I32, 2, (int64_t[]){ n, 1 });
    Grown v = new_value(g, type), by = constant(g, type, "5"), less = constant(g, type, "3");
    line(g, "%%v%d = stablehlo.iota dim = 0 : %s", v.id, named(type));
    v = two_operands(g, "multiply", v, by, type);
    v = two_operands(g, "remainder", v, constant(g, type, "17"), type);
    return two_operands(g, "subtract", v, less, type);
}

static bool grow_gather(Grower *g)
{
    Grown x;
    if (!pick(g, is_matrix, &x) || x.type.dims[0] < 1)
        return false;
    int64_t n = between(1, 9);
    Grown rows = row_numbers(g, n);
    Grown v = new_value(g, type_new(g->arena, x.type.element, 2, (int64_t[]){ n, x.type.dims[1] }));
    line(g, "%%v%d = \"stablehlo.gather\"(%%v%d, %%v%d) <{dimension_numbers = #stablehlo.gather<"
         "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = "
         "1>, slice_sizes = array<i64: 1, %d>}> : (%s, %s) -> %s", v.id, x.id, rows.id,
         (int)x.type.dims[1], named(x.type), named(rows.type), named(v.type));
    keep(g, v);
    return true;
}

static bool grow_scatter(Grower *g)
{
    Grown x;
    if (!pick(g, is_matrix, &x))
        return false;
    int64_t n = between(1, 9);
    Grown rows = row_numbers(g, n);
    Type part = type_new(g->arena, x.type.element, 2, (int64_t[]){ n, x.type.dims[1] });
    x = tame(g, x);
    Grown u = tame(g, pick_like(g, part)), v = new_value(g, x.type);
    const char *e = element_info[x.type.element].name;
    line(g, "%%v%d = \"stablehlo.scatter\"(%%v%d, %%v%d, %%v%d) <{scatter_dimension_numbers = "
         "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
         "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({", v.id, x.id, rows.id, u.id);
    line(g, "^bb0(%%a%d: tensor<%s>, %%b%d: tensor<%s>):", v.id, e, v.id, e);
    line(g, "  %%s%d = stablehlo.add %%a%d, %%b%d : tensor<%s>", v.id, v.id, v.id, e);
    line(g, "  stablehlo.return %%s%d : tensor<%s>", v.id, e);
    line(g, "}) : (%s, %s, %s) -> %s", named(x.type), named(rows.type), named(part), named(x.type));
    keep(g, v);
    return true;
}

static bool grow_sort(Grower *g)
{
    Grown x;
    if (!pick(g, is_ranked_number, &x))
        return false;
    Grown v = new_value(g, x.type);
    const char *e = element_info[x.type.element].name;
    line(g, "%%v%d = \"stablehlo.sort\"(%%v%d) <{dimension = %d : i64, is_stable = true}> ({", v.id,
         x.id, (int)between(0, x.type.rank - 1));
    line(g, "^bb0(%%a%d: tensor<%s>, %%b%d: tensor<%s>):", v.id, e, v.id, e);
    line(g, "  %%s%d = stablehlo.compare LT, %%a%d, %%b%d, %s : (tensor<%s>, tensor<%s>) -> "
         "tensor<i1>", v.id, v.id, v.id,
         is_float_type(x.type) ? "TOTALORDER"
         : element_info[x.type.element].kind == SIGNED ? "SIGNED" : "UNSIGNED", e, e);
    line(g, "  stablehlo.return %%s%d : tensor<i1>", v.id);
    line(g, "}) : (%s) -> %s", named(x.type), named(x.type));
    keep(g, v);
    return true;
}

/* A function that is approximated: only a result from here on. */
static bool grow_approximation(Grower *g)
{
    static const char *const ops[] = { "exponential", "tanh", "sine", "cosine", "logistic", "log_plus_one",
                                       "sqrt", "rsqrt" };
    Grown x;
    if (g->depth || g->nresults == MOST_RESULTS || !pick(g, is_float_type, &x))
        return false;
    g->results[g->nresults++] = one_operand(g, ops[random_below(8)], tame(g, x), x.type);
    return true;
}
#endif
