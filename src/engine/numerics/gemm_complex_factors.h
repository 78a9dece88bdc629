/* gemm_complex_factors.h - what complex elimination (blocked_lu.c) and complex triangular systems are made of.
 *
 * Included by gemm_body.h, for one complex type and one instruction set.  Numbers lie in memory as they are, their
 * parts in turn; the product of a number and a vector of them is its real part times that, and its imaginary
 * part times the same vector turned by a right angle.  Large systems are halved, so that most of the work is
 * products. */

/* See gemm_body.h. */
/* clang-format off */
/* c less a b, where elements of a row lie side by side in a and c; steps are in complex numbers. */
ATTR static void NAME(subtract)(const Frame *frame, int64_t m, int64_t n, int64_t k, const void *a,
                                int64_t a_row, const void *b, int64_t b_row, int64_t b_col, void *c,
                                int64_t c_row)
{
    NAME(Job) g = { .frame = frame, .m = m, .n = n * SPLIT, .terms = k * SPLIT, .a = a,
                    .a_row = a_row * SPLIT, .a_col = 1, .b = b, .b_row = b_row, .b_col = b_col, .c = c,
                    .c_row = c_row * SPLIT, .subtracts = true, .is_slice = true };
    NAME(blocks)(&g);
}

typedef struct NAME(Number) {
    T re, im;
} NAME(Number);

static NAME(Number) NAME(times)(NAME(Number) x, NAME(Number) y)
{
    return (NAME(Number)){ x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re };
}

/* 1 / x; the larger part is divided by, so that no square leaves the range of numbers. */
static NAME(Number) NAME(inverse)(NAME(Number) x)
{
    T re = x.re < 0 ? -x.re : x.re, im = x.im < 0 ? -x.im : x.im;
    if (re >= im) {
        T part = x.im / x.re, by = 1 / (x.re + x.im * part);
        return (NAME(Number)){ by, -part * by };
    }
    T part = x.re / x.im, by = 1 / (x.im + x.re * part);
    return (NAME(Number)){ part * by, -by };
}

/* Each number times i. */
ATTR static inline NAME(Vec) NAME(right_angle)(NAME(Vec) v)
{
    NAME(Mask) swap;
    NAME(Vec) sign = { 0 };
    for (int l = 0; l < NAME(LANES); l++) {
        swap[l] = l ^ 1;
        sign[l] = l & 1 ? 1 : -1;
    }
    return __builtin_shuffle(v, swap) * sign;
}

/* ---- triangular systems of a row-major triangle, in place, b_col 1 ---- */

enum { NAME(LEAF) = 8 };

/* n numbers less those at `from` times x. */
ATTR static void NAME(take_multiple)(NAME(Number) *to, const NAME(Number) *from, NAME(Number) x, int64_t n)
{
    enum { NUMBERS = NAME(LANES) / 2 };
    int64_t i = 0;
    for (; i + NUMBERS <= n; i += NUMBERS) {
        NAME(Vec) v = *(const NAME(Vec) *)(from + i), *at = (NAME(Vec) *)(to + i);
        *at -= v * x.re + NAME(right_angle)(v) * x.im;
    }
    for (; i < n; i++) {
        NAME(Number) off = NAME(times)(from[i], x);
        to[i] = (NAME(Number)){ to[i].re - off.re, to[i].im - off.im };
    }
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

/* One matrix, by the calling thread. */
static void NAME(solve)(const TriangularSystem *s, __attribute__((unused)) int64_t matrices)
{
    NAME(solve_rows)(s, 0, s->n);
}

/* ---- elimination ---- */

static T NAME(size)(NAME(Number) x)
{
    return (x.re < 0 ? -x.re : x.re) + (x.im < 0 ? -x.im : x.im);
}

/* The first row from `from` on whose element in column k is the largest. */
static int64_t NAME(find_pivot)(int64_t rows, const NAME(Number) *x, int64_t from, int k)
{
    enum { NUMBERS = NAME(LANES) / 2 };
    int64_t at = from;
    T most = NAME(size)(x[from * NUMBERS + k]);
    for (int64_t i = from + 1; i < rows; i++) {
        T size = NAME(size)(x[i * NUMBERS + k]);
        if (size > most) {
            most = size;
            at = i;
        }
    }
    return at;
}

ATTR static int NAME(eliminate)(int64_t rows, int columns, void *panel, int32_t *pivots)
{
    enum { NUMBERS = NAME(LANES) / 2 };
    NAME(Number) *x = panel;
    int zero = 0;
    for (int k = 0; k < columns; k++) {
        int64_t at = NAME(find_pivot)(rows, x, k, k);
        NAME(Vec) *to = (NAME(Vec) *)(x + k * NUMBERS), *from = (NAME(Vec) *)(x + at * NUMBERS), kept = *to;
        *to = *from;
        *from = kept;
        pivots[k] = (int32_t)at;
        NAME(Number) pivot = x[k * NUMBERS + k];
        if (pivot.re == 0 && pivot.im == 0) {
            zero = zero ? zero : k + 1;
            continue;
        }
        NAME(Number) by = NAME(inverse)(pivot);
        NAME(Vec) top = *to;
        for (int l = 0; l < 2 * k + 2; l++)
            top[l] = 0;
        NAME(Vec) turned = NAME(right_angle)(top);
        for (int64_t i = k + 1; i < rows; i++) {
            NAME(Number) *row = x + i * NUMBERS, factor = NAME(times)(row[k], by);
            *(NAME(Vec) *)row -= top * factor.re + turned * factor.im;
            row[k] = factor;
        }
    }
    return zero;
}
