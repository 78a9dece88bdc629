/* grow_move.h - random operations that move elements: every bit must arrive. */
#ifndef TUTTI_TESTS_RANDOM_GROW_MOVE_H
#define TUTTI_TESTS_RANDOM_GROW_MOVE_H
#include "tests/random/grow_tame.h"

/* Another type of as many bits, or of more or fewer with a dimension behind. */
static bool grow_bitcast(Grower *g)
{
    static const Element all[] = { I2,  U2,       I4,     U4,     F4E2M1FN,  I8,
                                   U8,  F8E4M3FN, F8E5M2, F8E3M4, F8E8M0FNU, F8E4M3FNUZ,
                                   I16, U16,      F16,    BF16,   I32,       U32,
                                   F32, I64,      U64,    F64 };
    Grown x;
    Element e = ONE_OF(all);
    int to = element_info[e].bits, from;
    if (!pick(g, any_type, &x) || x.type.element == I1 || kind_of(x.type) == COMPLEX)
        return false;
    from = bits_of(x.type);
    if (from == 6 || (!x.is_wild && is_float_type(x.type) && from < 16 && !x.is_tame))
        return false;
    int64_t dims[MOST_DIMS];
    int rank = x.type.rank;
    copy_dims(x.type, dims);
    if (from > to && rank < 5)
        dims[rank++] = from / to;
    else if (from < to && (!rank || dims[--rank] != to / from))
        return false;
    else if (from > to)
        return false;
    Type type = type_new(g->arena, e, rank, dims);
    if (type_count(type) > g->most_count)
        return false;
    if (!x.is_wild)
        x = tame(g, x); /* which NaN is computed is not promised */
    Grown v = one_operand(g, "bitcast_convert", x, type);
    v.is_wild = is_float_type(type);
    keep(g, v);
    return true;
}

/* New dimensions, extents of 1 stretched, in any order. */
static bool grow_broadcast(Grower *g)
{
    Grown x;
    if (!pick(g, any_type, &x) || x.type.rank > 3)
        return false;
    int rank = x.type.rank + (int)between(0, 2);
    int64_t dims[MOST_DIMS], at[MOST_DIMS];
    some_of(rank, x.type.rank, chance(70), at);
    for (int i = 0; i < rank; i++)
        dims[i] = chance(5) ? 0 : between(1, 5);
    for (int i = 0; i < x.type.rank; i++)
        if (x.type.dims[i] != 1 || chance(40))
            dims[at[i]] = x.type.dims[i];
    Grown v = new_value(g, type_new(g->arena, x.type.element, rank, dims));
    if (type_count(v.type) > g->most_count)
        return false;
    line(g, "%s = stablehlo.broadcast_in_dim %s, dims = [%s] : (%s) -> %s", ref(g, v), ref(g, x),
         ints(g, x.type.rank, at), named(g, x.type), named(g, v.type));
    keep(g, moved(v, 1, &x));
    return true;
}

static bool grow_reshape(Grower *g)
{
    Grown x;
    if (!pick(g, any_type, &x))
        return false;
    int64_t dims[MOST_DIMS], left = type_count(x.type);
    int rank = left == 1 ? (int)between(0, 2) : (int)between(1, 4);
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
    keep(g, moved(one_operand(g, "reshape", x, to), 1, &x));
    return true;
}

static bool grow_transpose(Grower *g)
{
    Grown x;
    if (!pick(g, has_rank, &x))
        return false;
    int order[MOST_DIMS];
    int64_t dims[MOST_DIMS], from[MOST_DIMS];
    shuffled(x.type.rank, order);
    for (int i = 0; i < x.type.rank; i++) {
        from[i] = order[i];
        dims[i] = x.type.dims[order[i]];
    }
    Grown v = new_value(g, type_new(g->arena, x.type.element, x.type.rank, dims));
    line(g, "%s = stablehlo.transpose %s, dims = [%s] : (%s) -> %s", ref(g, v), ref(g, x),
         ints(g, x.type.rank, from), named(g, x.type), named(g, v.type));
    keep(g, moved(v, 1, &x));
    return true;
}

static bool grow_slice(Grower *g)
{
    Grown x;
    if (!pick(g, has_rank, &x))
        return false;
    int64_t dims[MOST_DIMS];
    const char *list = "";
    for (int i = 0; i < x.type.rank; i++) {
        int64_t n = x.type.dims[i], start = chance(30) ? 0 : between(0, n / 2);
        int64_t limit = chance(30) ? n : between(start, n), stride = chance(30) ? between(1, 5) : 1;
        dims[i] = (limit - start + stride - 1) / stride;
        list = words(g, "%s%s%d:%d:%d", list, i ? ", " : "", (int)start, (int)limit, (int)stride);
    }
    Grown v = new_value(g, type_new(g->arena, x.type.element, x.type.rank, dims));
    line(g, "%s = stablehlo.slice %s [%s] : (%s) -> %s", ref(g, v), ref(g, x), list,
         named(g, x.type), named(g, v.type));
    keep(g, moved(v, 1, &x));
    return true;
}

static bool grow_reverse(Grower *g)
{
    Grown x;
    if (!pick(g, has_rank, &x))
        return false;
    int64_t dims[MOST_DIMS];
    int n = 0;
    for (int i = 0; i < x.type.rank; i++)
        if (chance(60))
            dims[n++] = i;
    Grown v = new_value(g, x.type);
    line(g, "%s = stablehlo.reverse %s, dims = [%s] : %s", ref(g, v), ref(g, x), ints(g, n, dims),
         named(g, x.type));
    keep(g, moved(v, 1, &x));
    return true;
}

static bool grow_pad(Grower *g)
{
    Grown x;
    if (!pick(g, has_rank, &x))
        return false;
    Grown p = pick_like(g, type_scalar(x.type.element));
    int64_t dims[MOST_DIMS], low[MOST_DIMS], high[MOST_DIMS], inner[MOST_DIMS];
    for (int i = 0; i < x.type.rank; i++) {
        int64_t n = x.type.dims[i];
        low[i] = between(-3, 3);
        high[i] = between(-3, 3);
        inner[i] = chance(30) ? between(1, 3) : 0;
        int64_t stretched = n > 1 ? n + (n - 1) * inner[i] : n;
        if (stretched + low[i] < 0 || stretched + high[i] < 0 || stretched + low[i] + high[i] < 0)
            low[i] = high[i] = 1;
        dims[i] = stretched + low[i] + high[i];
    }
    Grown v = new_value(g, type_new(g->arena, x.type.element, x.type.rank, dims));
    if (type_count(v.type) > g->most_count)
        return false;
    line(g, "%s = stablehlo.pad %s, %s, low = [%s], high = [%s], interior = [%s] : (%s, %s) -> %s",
         ref(g, v), ref(g, x), ref(g, p), ints(g, x.type.rank, low), ints(g, x.type.rank, high),
         ints(g, x.type.rank, inner), named(g, x.type), named(g, p.type), named(g, v.type));
    keep(g, moved(v, 2, (Grown[]){ x, p }));
    return true;
}

/* Two to four arrays of any extents along one dimension, 0 too. */
static bool grow_concatenate(Grower *g)
{
    Grown parts[4];
    int n = (int)between(1, 4);
    if (!pick(g, has_rank, &parts[0]) || type_count(parts[0].type) > g->most_count / 4)
        return false;
    Type t = parts[0].type;
    int64_t dims[MOST_DIMS], sum = 0;
    int at = (int)between(0, t.rank - 1);
    copy_dims(t, dims);
    for (int i = 0; i < n; i++) {
        dims[at] = i == 0 || chance(50) ? t.dims[at] : between(0, t.dims[at]);
        if (i)
            parts[i] = pick_like(g, type_new(g->arena, t.element, t.rank, dims));
        sum += dims[at];
    }
    dims[at] = sum;
    Grown v = new_value(g, type_new(g->arena, t.element, t.rank, dims));
    write_op(g, "concatenate", n, parts, words(g, "dimension = %d : i64", at), 1, &v);
    keep(g, moved(v, n, parts));
    return true;
}

static bool grow_iota(Grower *g)
{
    Grown v = new_value(g, grow_type(g, grow_element(g), 1));
    if (v.type.element == I1)
        return false;
    line(g, "%s = stablehlo.iota dim = %d : %s", ref(g, v), (int)between(0, v.type.rank - 1),
         named(g, v.type));
    keep(g, v);
    return true;
}

/* Parts at places that are values, often beyond the end. */
static bool grow_dynamic_slice(Grower *g)
{
    Grown in[2 + MOST_DIMS];
    if (!pick(g, has_rank, &in[0]))
        return false;
    Type t = in[0].type;
    int64_t dims[MOST_DIMS];
    bool is_update = chance(50);
    Element e = index_element();
    for (int i = 0; i < t.rank; i++)
        dims[i] = chance(20) ? t.dims[i] : between(0, t.dims[i]);
    Type part = type_new(g->arena, t.element, t.rank, dims);
    if (is_update)
        in[1] = pick_like(g, part);
    for (int i = 0; i < t.rank; i++)
        in[1 + is_update + i] = small_index(g, e);
    Grown v = new_value(g, is_update ? t : part);
    write_op(g, is_update ? "dynamic_update_slice" : "dynamic_slice", 1 + is_update + t.rank, in,
             is_update ? "" : words(g, "slice_sizes = %s", array(g, t.rank, dims)), 1, &v);
    keep(g, moved(v, 1 + is_update, in));
    return true;
}
#endif
