/* gemm_reflect.h - what QR factors (blocked_qr.c) are made of: Householder's reflectors of a few columns.
 *
 * Included by gemm_body.h, for one element type and one instruction set.  A row of the columns is a vector; the
 * products of a column with all others, its own square among them, are summed while the reflection before it
 * goes down the rows, so that a column takes one walk. */

/* See gemm_body.h. */
/* clang-format off */
enum { NAME(AT_ONCE) = 4 };

/* Of rows `from` on: their elements in column k times the rows, added up. */
ATTR static NAME(Vec) NAME(column_products)(int64_t rows, const T *x, int64_t from, int k)
{
    enum { LANES = NAME(LANES) };
    NAME(Vec) sums[NAME(AT_ONCE)] = { { 0 } };
    int64_t i = from;
    for (; i + NAME(AT_ONCE) <= rows; i += NAME(AT_ONCE))
#pragma GCC unroll 4
        for (int u = 0; u < NAME(AT_ONCE); u++)
            sums[u] += *(const NAME(Vec) *)(x + (i + u) * LANES) * x[(i + u) * LANES + k];
    for (; i < rows; i++)
        sums[0] += *(const NAME(Vec) *)(x + i * LANES) * x[i * LANES + k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* One row: less its element in column k as often as `by` says; that element becomes the reflector's.  Its part
 * of the products of column `next`. */
ATTR static inline __attribute__((always_inline)) NAME(Vec)
NAME(reflect_row)(T *row, int k, int next, NAME(Vec) by, T by_next, T scale)
{
    T v = row[k], pivot = row[next] - v * by_next;
    NAME(Vec) left = *(NAME(Vec) *)row - by * v;
    *(NAME(Vec) *)row = left;
    row[k] = v * scale;
    return left * pivot;
}

/* All rows below k; the products of the next column, of the rows below k + 1. */
ATTR static NAME(Vec) NAME(reflect_rows)(int64_t rows, T *x, int k, NAME(Vec) by, T scale)
{
    enum { LANES = NAME(LANES) };
    NAME(Vec) sums[NAME(AT_ONCE)] = { { 0 } };
    int next = k + 1 < LANES ? k + 1 : k;
    T by_next = by[next];
    int64_t i = k + 1;
    if (i < rows)
        NAME(reflect_row)(x + i * LANES, k, next, by, by_next, scale);
    for (i++; i + NAME(AT_ONCE) <= rows; i += NAME(AT_ONCE))
#pragma GCC unroll 4
        for (int u = 0; u < NAME(AT_ONCE); u++)
            sums[u] += NAME(reflect_row)(x + (i + u) * LANES, k, next, by, by_next, scale);
    for (; i < rows; i++)
        sums[0] += NAME(reflect_row)(x + i * LANES, k, next, by, by_next, scale);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Column k from its diagonal on, times a power of two by which its largest element is about 1.  Returns that
 * power's exponent; 0: the elements are zeros, or not finite. */
ATTR static int NAME(scale_column)(int64_t rows, T *x, int k)
{
    enum { LANES = NAME(LANES) };
    T most = 0;
    int exponent = 0;
    for (int64_t i = k; i < rows; i++) {
        T size = NAME(size)(x[i * LANES + k]);
        most = size > most ? size : most;
    }
    if (most > 0 && most * 0 == 0)
        frexp((double)most, &exponent);
    for (int64_t i = k; i < rows && exponent; i++)
        x[i * LANES + k] = (T)ldexp((double)x[i * LANES + k], -exponent);
    return -exponent;
}

/* Squares outside of these may have lost what counts. */
#define LEAST_SQUARE (sizeof(T) == 4 ? (T)0x1p-80f : (T)0x1p-900)
#define MOST_SQUARE (sizeof(T) == 4 ? (T)0x1p100f : (T)0x1p900)

ATTR static void NAME(reflect)(int64_t rows, int columns, void *panel, void *factors)
{
    enum { LANES = NAME(LANES) };
    T *x = panel, *taus = factors;
    NAME(Vec) sums = NAME(column_products)(rows, x, 1, 0);
    for (int k = 0; k < columns && k < rows; k++) {
        T *at = x + k * LANES + k, alpha = *at, square = alpha * alpha + sums[k];
        int exponent = 0;
        if (!(square > LEAST_SQUARE && square < MOST_SQUARE)) {
            exponent = NAME(scale_column)(rows, x, k);
            sums = NAME(column_products)(rows, x, k + 1, k);
            alpha = *at;
            square = alpha * alpha + sums[k];
        }
        T tau = 0, beta = alpha;
        if (sums[k] != 0) {
            T norm = sizeof(T) == 4 ? (T)sqrtf((float)square) : (T)sqrt((double)square);
            beta = alpha < 0 ? norm : -norm;
            tau = (beta - alpha) / beta;
            T scale = 1 / (alpha - beta);
            NAME(Vec) top = *(NAME(Vec) *)(x + k * LANES), off = (top + sums * scale) * tau;
            for (int l = 0; l <= k; l++)
                off[l] = 0;
            *(NAME(Vec) *)(x + k * LANES) = top - off;
            sums = NAME(reflect_rows)(rows, x, k, off * scale, scale);
        } else if (k + 1 < columns) {
            sums = NAME(column_products)(rows, x, k + 2, k + 1);
        }
        *at = exponent ? (T)ldexp((double)beta, -exponent) : beta;
        taus[k] = tau;
    }
}

/* One row of q less the reflection by column k; its part of the products with the column before. */
ATTR static inline __attribute__((always_inline)) NAME(Vec)
NAME(spread_row)(T *q, const T *v, int k, int before, NAME(Vec) off)
{
    NAME(Vec) left = *(NAME(Vec) *)q - off * v[k];
    *(NAME(Vec) *)q = left;
    return left * v[before];
}

/* The last reflector first: q less v tau (v^T q), where v^T q was summed on the way of the one before. */
ATTR static void NAME(spread)(int64_t rows, int columns, const void *reflectors, int64_t v_row,
                              const void *factors, void *product)
{
    enum { LANES = NAME(LANES) };
    const T *v = reflectors, *taus = factors;
    T *q = product;
    NAME(Vec) known = { 0 };
    for (int64_t i = columns; i < rows; i++)
        known += *(const NAME(Vec) *)(q + i * LANES) * v[i * v_row + columns - 1];
    for (int k = columns - 1; k >= 0; k--) {
        int before = k ? k - 1 : 0;
        NAME(Vec) sums[NAME(AT_ONCE)] = { { 0 } };
        NAME(Vec) *top = (NAME(Vec) *)(q + k * LANES), off = (*top + known) * taus[k];
        *top -= off;
        sums[0] = *top * v[k * v_row + before];
        int64_t i = k + 1;
        for (; i + NAME(AT_ONCE) <= rows; i += NAME(AT_ONCE))
#pragma GCC unroll 4
            for (int u = 0; u < NAME(AT_ONCE); u++)
                sums[u] += NAME(spread_row)(q + (i + u) * LANES, v + (i + u) * v_row, k, before, off);
        for (; i < rows; i++)
            sums[0] += NAME(spread_row)(q + i * LANES, v + i * v_row, k, before, off);
        known = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}
#undef LEAST_SQUARE
#undef MOST_SQUARE
