/* grow_order.h - random sorts and selections of the largest. */
#ifndef TUTTI_TESTS_RANDOM_GROW_ORDER_H
#define TUTTI_TESTS_RANDOM_GROW_ORDER_H
#include "tests/random/grow_tame.h"

/* a before b, by one key: either way, or by what it is taken for. */
static Grown before(Grower *g, Grown a, Grown b)
{
    if (is_int_type(a.type) && chance(20)) {
        Grown flip = number(g, a.type, (double)between(0, 3));
        a = two_operands(g, "xor", a, flip, a.type);
        b = two_operands(g, "xor", b, flip, b.type);
    }
    if (is_float_type(a.type) && chance(20)) {
        a = one_operand(g, "abs", a, a.type);
        b = one_operand(g, "abs", b, b.type);
    }
    return compared(g, chance(60) ? "LT" : "GT", a, b);
}

/* One to three arrays, by the first, or by the first and then the second. */
static bool grow_sort(Grower *g)
{
    Grown in[3], out[3], args[6];
    Type made[3] = { 0 };
    int n = chance(60) ? 1 : (int)between(2, 3);
    if (!pick(g, has_rank, &in[0]) || kind_of(in[0].type) == COMPLEX)
        return false;
    bool is_second = n > 1 && chance(40);
    for (int i = 0; i < n; i++) {
        if (i)
            in[i] = pick_like(g, with_element(in[0].type, grow_element(g)));
        if (i == 1)
            is_second &= kind_of(in[1].type) != COMPLEX;
        if (i == 0 || (i == 1 && is_second))
            in[i] = tame(g, in[i]);
        made[i] = in[i].type;
    }
    new_values(g, n, made, out);
    open_op(
        g, "sort", n, in,
        words(g, "dimension = %d : i64, is_stable = true", (int)between(0, in[0].type.rank - 1)), n,
        out);
    for (int i = 0; i < 2 * n; i++)
        args[i] = new_value(g, type_scalar(made[i / 2].element));
    block_head(g, 2 * n, args);
    Grown p = before(g, args[0], args[1]);
    if (is_second) {
        Grown same = compared(g, "EQ", args[0], args[1]), then = before(g, args[2], args[3]);
        p = two_operands(g, "or", compared(g, "LT", args[0], args[1]),
                         two_operands(g, "and", same, then, p.type), p.type);
    }
    return_line(g, "stablehlo.return", 1, &p);
    close_op(g, n, in, n, out);
    for (int i = 0; i < n; i++)
        keep(g, moved(out[i], 1, &in[i]));
    return true;
}

static bool grow_top_k(Grower *g)
{
    Grown x, out[2];
    if (!pick(g, has_rank, &x) || !is_real(x.type))
        return false;
    x = tame(g, x);
    int64_t dims[MOST_DIMS];
    int last = x.type.rank - 1;
    copy_dims(x.type, dims);
    dims[last] = between(0, dims[last]);
    Type of[2] = { type_new(g->arena, x.type.element, x.type.rank, dims),
                   type_new(g->arena, I32, x.type.rank, dims) };
    new_values(g, 2, of, out);
    write_op(g, "chlo.top_k", 1, &x, words(g, "k = %d : i64", (int)dims[last]), 2, out);
    keep(g, out[0]);
    keep(g, out[1]);
    return true;
}
#endif
