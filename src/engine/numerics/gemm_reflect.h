/* gemm_reflect.h - what QR factors (blocked_qr.c) are made of: Householder's reflectors of a few columns.
 *
 * Included by gemm_body.h, for one element type and one instruction set.  A row of the columns is a vector; the
 * products of a column's conjugate with all columns, its own square among them, are summed while the reflection
 * before it goes down the rows, so that a column takes one walk. */

/* See gemm_body.h. */
/* clang-format off */
enum { NAME(AT_ONCE) = 4 };

/* Of rows `from` on: the conjugates of their elements in column k times the rows, added up. */
ATTR static NAME(Vec) NAME(column_products)(int64_t rows, const NAME(Number) *x, int64_t from, int k)
{
    enum { NUMBERS = NAME(NUMBERS) };
    NAME(Sums) sums[NAME(AT_ONCE)] = { 0 };
    int64_t i = from;
    for (; i + NAME(AT_ONCE) <= rows; i += NAME(AT_ONCE))
#pragma GCC unroll 4
        for (int u = 0; u < NAME(AT_ONCE); u++)
            NAME(add_product)(&sums[u], *(const NAME(Vec) *)(x + (i + u) * NUMBERS), x[(i + u) * NUMBERS + k]);
    for (; i < rows; i++)
        NAME(add_product)(&sums[0], *(const NAME(Vec) *)(x + i * NUMBERS), x[i * NUMBERS + k]);
    return NAME(sum_of_four)(sums);
}

/* By what rows are reflected: less `by` as often as their element in column k says, which becomes the reflector's
 * by `scale`. */
typedef struct NAME(Reflection) {
    int k, next; /* the columns of this reflector, of the next */
    NAME(Multiplied) by;
    NAME(Number) by_next, scale;
} NAME(Reflection);

/* One row; its part of the products of column `next` is added. */
ATTR static inline __attribute__((always_inline)) void
NAME(reflect_row)(NAME(Number) *row, const NAME(Reflection) *r, NAME(Sums) *sums)
{
    NAME(Number) v = row[r->k], pivot = NAME(less)(row[r->next], NAME(times)(v, r->by_next));
    NAME(Vec) left = *(NAME(Vec) *)row - NAME(by_number)(&r->by, v);
    *(NAME(Vec) *)row = left;
    row[r->k] = NAME(times)(v, r->scale);
    NAME(add_product)(sums, left, pivot);
}

/* All rows below k; the products of the next column, of the rows below k + 1. */
ATTR static NAME(Vec) NAME(reflect_rows)(int64_t rows, NAME(Number) *x, int k, NAME(Vec) by, NAME(Number) scale)
{
    enum { NUMBERS = NAME(NUMBERS) };
    NAME(Sums) sums[NAME(AT_ONCE)] = { 0 }, unused;
    NAME(Reflection) r = { .k = k, .next = k + 1 < NUMBERS ? k + 1 : k, .by = NAME(multiplied)(by), .scale = scale };
    r.by_next = ((const NAME(Number) *)&by)[r.next];
    int64_t i = k + 1;
    if (i < rows)
        NAME(reflect_row)(x + i * NUMBERS, &r, &unused);
    for (i++; i + NAME(AT_ONCE) <= rows; i += NAME(AT_ONCE))
#pragma GCC unroll 4
        for (int u = 0; u < NAME(AT_ONCE); u++)
            NAME(reflect_row)(x + (i + u) * NUMBERS, &r, &sums[u]);
    for (; i < rows; i++)
        NAME(reflect_row)(x + i * NUMBERS, &r, &sums[0]);
    return NAME(sum_of_four)(sums);
}

/* Column k from its diagonal on, times a power of two by which its largest element is about 1.  Returns that
 * power's exponent; 0: the elements are zeros, or not finite. */
ATTR static int NAME(scale_column)(int64_t rows, NAME(Number) *x, int k)
{
    enum { NUMBERS = NAME(NUMBERS) };
    T most = 0;
    int exponent = 0;
    for (int64_t i = k; i < rows; i++) {
        T size = NAME(size)(x[i * NUMBERS + k]);
        most = size > most ? size : most;
    }
    if (most > 0 && most * 0 == 0)
        frexp((double)most, &exponent);
    for (int64_t i = k; i < rows && exponent; i++)
        x[i * NUMBERS + k] = NAME(shifted)(x[i * NUMBERS + k], -exponent);
    return -exponent;
}

/* Squares outside of these may have lost what counts. */
#define LEAST_SQUARE (sizeof(T) == 4 ? (T)0x1p-80f : (T)0x1p-900)
#define MOST_SQUARE (sizeof(T) == 4 ? (T)0x1p100f : (T)0x1p900)

ATTR static void NAME(reflect)(int64_t rows, int columns, void *panel, void *factors)
{
    enum { NUMBERS = NAME(NUMBERS) };
    NAME(Number) *x = panel, *taus = factors;
    NAME(Vec) sums = NAME(column_products)(rows, x, 1, 0);
    for (int k = 0; k < columns && k < rows; k++) {
        NAME(Number) *at = x + k * NUMBERS + k, alpha = *at;
        T below = NAME(real)(((const NAME(Number) *)&sums)[k]), square = NAME(square)(alpha) + below;
        int exponent = 0;
        if (!(square > LEAST_SQUARE && square < MOST_SQUARE)) {
            exponent = NAME(scale_column)(rows, x, k);
            sums = NAME(column_products)(rows, x, k + 1, k);
            alpha = *at;
            below = NAME(real)(((const NAME(Number) *)&sums)[k]);
            square = NAME(square)(alpha) + below;
        }
        NAME(Number) tau = NAME(real_number)(0), beta = alpha;
        if (below != 0 || !NAME(is_real)(alpha)) {
            T norm = sizeof(T) == 4 ? (T)sqrtf((float)square) : (T)sqrt((double)square);
            T length = NAME(real)(alpha) < 0 ? norm : -norm;
            beta = NAME(real_number)(length);
            tau = NAME(over_real)(NAME(less)(beta, alpha), length);
            NAME(Number) scale = NAME(inverse)(NAME(less)(alpha, beta));
            NAME(Vec) top = *(NAME(Vec) *)(x + k * NUMBERS);
            NAME(Vec) off = NAME(scaled)(top + NAME(scaled)(sums, NAME(conjugate)(scale)), NAME(conjugate)(tau));
            for (int l = 0; l < SPLIT * (k + 1); l++)
                off[l] = 0;
            *(NAME(Vec) *)(x + k * NUMBERS) = top - off;
            sums = NAME(reflect_rows)(rows, x, k, NAME(scaled)(off, scale), scale);
        } else if (k + 1 < columns) {
            sums = NAME(column_products)(rows, x, k + 2, k + 1);
        }
        *at = exponent ? NAME(shifted)(beta, -exponent) : beta;
        taus[k] = tau;
    }
}

/* One row of q less the reflection by column k; its part of the products with the column before is added. */
ATTR static inline __attribute__((always_inline)) void
NAME(spread_row)(NAME(Number) *q, const NAME(Number) *v, int k, int before, const NAME(Multiplied) *off,
                 NAME(Sums) *sums)
{
    NAME(Vec) left = *(NAME(Vec) *)q - NAME(by_number)(off, v[k]);
    *(NAME(Vec) *)q = left;
    NAME(add_product)(sums, left, v[before]);
}

/* The last reflector first: q less v tau (v^H q), where v^H q was summed on the way of the one before. */
ATTR static void NAME(spread)(int64_t rows, int columns, const void *reflectors, int64_t v_row,
                              const void *factors, void *product)
{
    enum { NUMBERS = NAME(NUMBERS) };
    const NAME(Number) *v = reflectors, *taus = factors;
    NAME(Number) *q = product;
    NAME(Sums) first[NAME(AT_ONCE)] = { 0 };
    for (int64_t i = columns; i < rows; i++)
        NAME(add_product)(&first[0], *(const NAME(Vec) *)(q + i * NUMBERS), v[i * v_row + columns - 1]);
    NAME(Vec) known = NAME(sum_of_four)(first);
    for (int k = columns - 1; k >= 0; k--) {
        int before = k ? k - 1 : 0;
        NAME(Sums) sums[NAME(AT_ONCE)] = { 0 };
        NAME(Vec) *top = (NAME(Vec) *)(q + k * NUMBERS), by = NAME(scaled)(*top + known, taus[k]);
        NAME(Multiplied) off = NAME(multiplied)(by);
        *top -= by;
        NAME(add_product)(&sums[0], *top, v[k * v_row + before]);
        int64_t i = k + 1;
        for (; i + NAME(AT_ONCE) <= rows; i += NAME(AT_ONCE))
#pragma GCC unroll 4
            for (int u = 0; u < NAME(AT_ONCE); u++)
                NAME(spread_row)(q + (i + u) * NUMBERS, v + (i + u) * v_row, k, before, &off, &sums[u]);
        for (; i < rows; i++)
            NAME(spread_row)(q + i * NUMBERS, v + i * v_row, k, before, &off, &sums[0]);
        known = NAME(sum_of_four)(sums);
    }
}
#undef LEAST_SQUARE
#undef MOST_SQUARE
