/* gemm_complex_triangle.h - triangular systems of complex numbers, in place, b_col 1: of a row-major triangle, or, of
 * one right-hand side, of a column-major one.
 *
 * Included by gemm_body.h, for one complex type and one instruction set; in the words of gemm_numbers.h.  Large
 * systems are halved, so that most of the work is products. */

/* See gemm_body.h. */
/* clang-format off */
enum { NAME(LEAF) = 8 };

/* n numbers less those at `from` times x. */
ATTR static void NAME(take_multiple)(NAME(Number) *to, const NAME(Number) *from, NAME(Number) x, int64_t n)
{
    enum { NUMBERS = NAME(NUMBERS) };
    int64_t i = 0;
    for (; i + NUMBERS <= n; i += NUMBERS) {
        NAME(Vec) *at = (NAME(Vec) *)(to + i);
        *at -= NAME(scaled)(*(const NAME(Vec) *)(from + i), x);
    }
    for (; i < n; i++)
        to[i] = NAME(less)(to[i], NAME(times)(from[i], x));
}

static void NAME(solve_few_rows)(const TriangularSystem *s, int64_t from, int64_t n)
{
    const NAME(Number) *a = s->a;
    NAME(Number) *x = s->x;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = s->is_lower ? from + k : from + n - 1 - k;
        for (int64_t p = 0; p < k; p++) {
            int64_t known = s->is_lower ? from + p : from + n - 1 - p;
            NAME(take_multiple)(x + i * s->b_row, x + known * s->b_row, a[i * s->a_row + known], s->other);
        }
        NAME(Number) by = s->is_unit ? (NAME(Number)){ 1, 0 } : NAME(inverse)(a[i * (s->a_row + 1)]);
        for (int64_t j = 0; j < s->other && !s->is_unit; j++)
            x[i * s->b_row + j] = NAME(times)(x[i * s->b_row + j], by);
    }
}

/* Rows from .. from + n of x, from which all that are known have been taken. */
static void NAME(solve_rows)(const TriangularSystem *s, int64_t from, int64_t n)
{
    const NAME(Number) *a = s->a;
    NAME(Number) *x = s->x;
    if (n <= NAME(LEAF)) {
        NAME(solve_few_rows)(s, from, n);
        return;
    }
    int64_t half = (n / 2 + NAME(LEAF) - 1) / NAME(LEAF) * NAME(LEAF), middle = from + half;
    int64_t first = s->is_lower ? from : middle, second = s->is_lower ? middle : from;
    int64_t nfirst = s->is_lower ? half : n - half, nsecond = n - nfirst;
    NAME(solve_rows)(s, first, nfirst);
    NAME(subtract)(s->frame, nsecond, s->other, nfirst, a + second * s->a_row + first, s->a_row,
                   x + first * s->b_row, s->b_row, 1, x + second * s->b_row, s->b_row);
    NAME(solve_rows)(s, second, nsecond);
}

/* One right-hand side: of each element that is known, its column is taken off all that are not. */
ATTR static void NAME(solve_by_columns)(const TriangularSystem *s)
{
    const NAME(Number) *a = s->a;
    NAME(Number) *x = s->x;
    for (int64_t k = 0; k < s->n; k++) {
        int64_t i = s->is_lower ? k : s->n - 1 - k;
        const NAME(Number) *column = a + i * s->a_col;
        if (!s->is_unit)
            x[i] = NAME(times)(x[i], NAME(inverse)(column[i]));
        if (s->is_lower)
            NAME(take_multiple)(x + i + 1, column + i + 1, x[i], s->n - i - 1);
        else
            NAME(take_multiple)(x, column, x[i], i);
    }
}

/* One matrix, by the calling thread. */
static void NAME(solve)(const TriangularSystem *s, __attribute__((unused)) int64_t matrices)
{
    if (s->a_col == 1)
        NAME(solve_rows)(s, 0, s->n);
    else
        NAME(solve_by_columns)(s);
}
