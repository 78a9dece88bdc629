/* small_matrices_body.h - small matrices of one element type, LANES of them at a time.
 *
 * Included by small_matrices.c with T, I (an integer as wide), LANES, ATTR and NAME(x) set.  A matrix of
 * vectors holds the same element of each lane's matrix side by side; with one lane it is the matrix
 * itself. */

#if LANES > 1
typedef T NAME(Vector) __attribute__((vector_size(LANES * sizeof(T))));
typedef I NAME(Mask) __attribute__((vector_size(LANES * sizeof(T))));
/* Lane by lane: x where m is all ones, else y. */
#define CHOOSE_INT(m, x, y) (((m) & (x)) | (~(m) & (y)))
#define CHOOSE(m, x, y) ((V)CHOOSE_INT(m, (M)(x), (M)(y)))
#define NOT(m) (~(m))
#define LANE(x, lane) ((x)[lane])
#else
typedef T NAME(Vector);
typedef I NAME(Mask);
#define CHOOSE_INT(m, x, y) ((m) ? (x) : (y))
#define CHOOSE(m, x, y) ((m) ? (x) : (y))
#define NOT(m) (!(m))
#define LANE(x, lane) (x)
#endif
#define V NAME(Vector)
#define M NAME(Mask)

/* The vector at an index of an array of elements: vectors may lie anywhere. */
ATTR static inline V NAME(load)(const T *at, int64_t i)
{
    V x;
    memcpy(&x, at + i * LANES, sizeof x);
    return x;
}

ATTR static inline void NAME(store)(T *at, int64_t i, V x)
{
    memcpy(at + i * LANES, &x, sizeof x);
}

/* a[to] -= factor * a[from], `n` elements of two rows. */
ATTR static inline void NAME(take_off)(T *a, int64_t to, int64_t to_step, int64_t from,
                                       int64_t from_step, V factor, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        NAME(store)(a, to + j * to_step,
                    NAME(load)(a, to + j * to_step) - factor * NAME(load)(a, from + j * from_step));
}

/* Rows k and at[lane] of each lane's matrix change places. */
ATTR static inline void NAME(swap)(T *a, int64_t side, int64_t k, M at)
{
    for (int lane = 0; lane < LANES; lane++) {
        T *row = a + k * side * LANES + lane, *other = a + LANE(at, lane) * side * LANES + lane;
        for (int64_t j = 0; j < side && row != other; j++) {
            T x = row[j * LANES];
            row[j * LANES] = other[j * LANES];
            other[j * LANES] = x;
        }
    }
}

/* The row of the largest entry of column k from its diagonal down, and how large that is. */
ATTR static inline M NAME(find_pivot)(int64_t side, int64_t k, const T *a, V *largest)
{
    V first = NAME(load)(a, k * side + k), most = CHOOSE(first < 0, -first, first);
    M at = (M){ 0 } + (I)k;
    for (int64_t i = k + 1; i < side; i++) {
        V x = NAME(load)(a, i * side + k);
        x = CHOOSE(x < 0, -x, x);
        M is_more = x > most, row = (M){ 0 } + (I)i;
        most = CHOOSE(is_more, x, most);
        at = CHOOSE_INT(is_more, row, at);
    }
    *largest = most;
    return at;
}

/* In place; pivots[side][LANES] count from 1, info[LANES]. */
ATTR static void NAME(lu)(int64_t side, void *matrix, int32_t *pivots, int32_t *info)
{
    T *a = matrix;
    for (int lane = 0; lane < LANES; lane++)
        info[lane] = 0;
    for (int64_t k = 0; k < side; k++) {
        V most;
        M at = NAME(find_pivot)(side, k, a, &most);
        for (int lane = 0; lane < LANES; lane++) {
            pivots[k * LANES + lane] = (int32_t)LANE(at, lane) + 1;
            if (LANE(most, lane) == 0 && !info[lane])
                info[lane] = (int32_t)k + 1;
        }
        NAME(swap)(a, side, k, at);
        V one = (V){ 0 } + 1, pivot = NAME(load)(a, k * side + k);
        pivot = CHOOSE(pivot == 0, one, pivot);
        for (int64_t i = k + 1; i < side; i++) {
            V factor = NAME(load)(a, i * side + k) / pivot;
            NAME(store)(a, i * side + k, factor);
            NAME(take_off)(a, i * side + k + 1, 1, k * side + k + 1, 1, factor, side - k - 1);
        }
    }
}

ATTR static inline V NAME(root)(V x)
{
#if LANES > 1
    T lanes[LANES];
    memcpy(lanes, &x, sizeof x);
    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = ROOT(lanes[lane]);
    return NAME(load)(lanes, 0);
#else
    return ROOT(x);
#endif
}

/* The lower factor in place, row by row; an upper one is the lower one of the transpose, whose
 * elements lie by other steps. */
ATTR static void NAME(cholesky)(int64_t side, bool is_lower, void *matrix)
{
    T *a = matrix;
    int64_t down = is_lower ? side : 1, across = is_lower ? 1 : side;
    M is_bad = (M){ 0 };
    for (int64_t i = 0; i < side; i++)
        for (int64_t j = 0; j <= i; j++) {
            V sum = NAME(load)(a, i * down + j * across);
            for (int64_t k = 0; k < j; k++)
                sum -= NAME(load)(a, i * down + k * across) * NAME(load)(a, j * down + k * across);
            if (j < i) {
                NAME(store)(a, i * down + j * across, sum / NAME(load)(a, j * down + j * across));
                continue;
            }
            is_bad |= NOT(sum > 0);
            NAME(store)(a, i * down + i * across, NAME(root)(sum));
        }
    V nothing = (V){ 0 }, nan = nothing + (T)NAN;
    for (int64_t i = 0; i < side; i++)
        for (int64_t j = 0; j < side; j++) {
            V x = NAME(load)(a, i * down + j * across);
            NAME(store)(a, i * down + j * across, j > i ? nothing : CHOOSE(is_bad, nan, x));
        }
}

/* x becomes the solution.  x(i, c) lies at i * down + c * across; t(i, j), op(a) or for the right
 * side its transpose, likewise. */
ATTR static void NAME(solve)(const SmallSolve *s, const void *matrix, void *unknowns)
{
    const T *a = matrix;
    T *x = unknowns;
    bool is_transposed = s->is_transposed != !s->is_left, is_lower = s->is_lower != is_transposed;
    int64_t n = s->side, t_down = is_transposed ? 1 : n, t_across = is_transposed ? n : 1;
    int64_t down = s->is_left ? s->other : 1, across = s->is_left ? 1 : n;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = is_lower ? k : n - 1 - k;
        for (int64_t j = is_lower ? 0 : i + 1; j < (is_lower ? i : n); j++)
            NAME(take_off)(x, i * down, across, j * down, across,
                           NAME(load)(a, i * t_down + j * t_across), s->other);
        V by = NAME(load)(a, i * t_down + i * t_across);
        for (int64_t c = 0; c < s->other && !s->is_unit; c++)
            NAME(store)(x, i * down + c * across, NAME(load)(x, i * down + c * across) / by);
    }
}
#if LANES > 1
#include "engine/numerics/small_orthogonal_body.h"
#endif
#undef V
#undef M
#undef CHOOSE
#undef CHOOSE_INT
#undef LANE
#undef NOT
#undef T
#undef I
#undef LANES
#undef ATTR
#undef ROOT
#undef NAME
