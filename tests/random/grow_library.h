/* grow_library.h - random calls of ready-made loops: Fourier transforms, factors, random bits.
 *
 * Factors and solutions are exact: matrices are made of triangles whose entries are -1, 0 and 1 and
 * whose diagonals are 1 and 2. */
#ifndef TUTTI_TESTS_RANDOM_GROW_LIBRARY_H
#define TUTTI_TESTS_RANDOM_GROW_LIBRARY_H
#include "tests/random/grow_tame.h"

static bool grow_fft(Grower *g)
{
    static const char *const names[] = { "FFT", "IFFT", "RFFT", "IRFFT" };
    Grown x;
    if (g->depth || g->is_apart || !pick(g, has_rank, &x) || type_count(x.type) > 1000)
        return false;
    bool is_double = x.type.element == F64 || x.type.element == C128,
         is_complex = kind_of(x.type) == COMPLEX;
    if (!is_complex && !is_float_type(x.type))
        return false;
    int which = is_complex ? (chance(30) ? 3 : (int)random_below(2)) : 2;
    int n = (int)between(1, x.type.rank < 3 ? x.type.rank : 3);
    int64_t dims[MOST_DIMS], lengths[3];
    copy_dims(x.type, dims);
    for (int i = 0; i < n; i++)
        lengths[i] = dims[x.type.rank - n + i];
    int64_t *last = &dims[x.type.rank - 1];
    if (which == 3)
        *last = lengths[n - 1] = *last == 0 ? 0 : 2 * (*last - 1) + (*last == 1 || chance(50));
    if (which == 2)
        *last = *last ? *last / 2 + 1 : 0;
    x = is_complex ? tame(g, x) : tame(g, convert_to(g, calm(g, x), is_double ? F64 : F32));
    Element e = which == 3 ? (is_double ? F64 : F32) : is_double ? C128 : C64;
    Grown v = new_value(g, type_new(g->arena, e, x.type.rank, dims));
    line(g, "%s = stablehlo.fft %s, type = %s, length = [%s] : (%s) -> %s", ref(g, v), ref(g, x),
         names[which], ints(g, n, lengths), named(g, x.type), named(g, v.type));
    keep_result(g, v, 64);
    return true;
}

static Grown iota_along(Grower *g, Type type, int dim)
{
    Grown v = new_value(g, type);
    line(g, "%s = stablehlo.iota dim = %d : %s", ref(g, v), dim, named(g, type));
    return v;
}

/* x below (or above) the diagonal as signs, 2 or 1 on it, 0 elsewhere. */
static Grown triangle(Grower *g, Grown x, bool is_lower, double diagonal)
{
    Type t = x.type, index = with_element(t, I32);
    Grown i = iota_along(g, index, t.rank - 2), j = iota_along(g, index, t.rank - 1);
    Grown zero = number(g, t, 0), signs = one_operand(g, "sign", tame(g, x), t);
    Grown v = selected(g, compared(g, is_lower ? "GT" : "LT", i, j), signs, zero);
    return selected(g, compared(g, "EQ", i, j), number(g, t, diagonal), v);
}

/* Square matrices, maybe several. */
static Type squares(Grower *g)
{
    int64_t n = chance(80) ? between(1, 8) : between(9, 20), dims[3] = { between(1, 3), n, n };
    Element e = chance(60) ? F32 : F64;
    return chance(50) ? type_new(g->arena, e, 2, dims + 1) : type_new(g->arena, e, 3, dims);
}

static bool grow_cholesky(Grower *g)
{
    Type t = squares(g), index = with_element(t, I32);
    Grown l = triangle(g, pick_like(g, t), true, chance(50) ? 2 : 1), a = new_value(g, t),
          v = new_value(g, t);
    bool is_lower = chance(50);
    line(g,
         t.rank == 3
             ? "%s = stablehlo.dot_general %s, %s, batching_dims = [0] x [0], contracting_dims = "
               "[2] x [2] : "
               "(%s, %s) -> %s"
             : "%s = stablehlo.dot_general %s, %s, contracting_dims = [1] x [1] : (%s, %s) -> %s",
         ref(g, a), ref(g, l), ref(g, l), named(g, t), named(g, t), named(g, t));
    line(g, "%s = stablehlo.cholesky %s, lower = %s : %s", ref(g, v), ref(g, a),
         is_lower ? "true" : "false", named(g, t));
    Grown i = iota_along(g, index, t.rank - 2), j = iota_along(g, index, t.rank - 1);
    keep(g, selected(g, compared(g, is_lower ? "GE" : "LE", i, j), v, number(g, t, 0)));
    return true;
}

static bool grow_triangular_solve(Grower *g)
{
    static const char *const turns[] = { "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT" };
    Type t = squares(g);
    int64_t dims[3], n = t.dims[t.rank - 1], columns = chance(5) ? 0 : between(1, 6);
    bool is_lower = chance(50), is_left = chance(50), has_unit = chance(30);
    if (n > 8) /* solutions double from row to row */
        return false;
    copy_dims(t, dims);
    dims[t.rank - (is_left ? 1 : 2)] = columns;
    Grown in[2] = { triangle(g, pick_like(g, t), is_lower, has_unit || chance(50) ? 1 : 2),
                    tame(g, pick_like(g, type_new(g->arena, t.element, t.rank, dims))) };
    if (chance(50)) /* the other triangle is not looked at */
        in[0] = two_operands(g, "add", in[0], triangle(g, pick_like(g, t), !is_lower, 0), t);
    Grown v = new_value(g, in[1].type);
    write_op(g, "triangular_solve", 2, in,
             words(g,
                   "left_side = %s, lower = %s, unit_diagonal = %s, transpose_a = "
                   "#stablehlo<transpose %s>",
                   is_left ? "true" : "false", is_lower ? "true" : "false",
                   has_unit ? "true" : "false", ONE_OF(turns)),
             1, &v);
    keep(g, v);
    return true;
}

static bool grow_random_bits(Grower *g)
{
    static const struct {
        const char *name;
        int state;
    } algorithms[] = { { "THREE_FRY", 2 }, { "PHILOX", 2 }, { "PHILOX", 3 } };
    static const Element made[] = { U8, U16, U32, U64, I8, I32, I64, U32 };
    int k = (int)random_below(3);
    Grown state = pick_like(g, type_new(g->arena, U64, 1, (int64_t[]){ algorithms[k].state })),
          out[2];
    new_values(g, 2, (Type[]){ state.type, grow_type(g, ONE_OF(made), 0) }, out);
    write_op(g, "rng_bit_generator", 1, &state,
             words(g, "rng_algorithm = #stablehlo<rng_algorithm %s>", algorithms[k].name), 2, out);
    keep(g, out[0]);
    keep(g, out[1]);
    return true;
}
#endif
