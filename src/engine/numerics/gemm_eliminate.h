/* gemm_eliminate.h - what elimination (blocked_lu.c, blocked_cholesky.c) is made of.
 *
 * Included by gemm_body.h, for one element type and one instruction set; in the words of gemm_numbers.h. */

/* See gemm_body.h. */
/* clang-format off */

/* c less a b, where elements of a row lie side by side in a and c; steps are in numbers. */
ATTR static void NAME(subtract)(const Frame *frame, int64_t m, int64_t n, int64_t k, const void *a,
                                int64_t a_row, const void *b, int64_t b_row, int64_t b_col, void *c,
                                int64_t c_row)
{
    NAME(Job) g = { .frame = frame, .m = m, .n = n * SPLIT, .terms = k * SPLIT, .a = a,
                    .a_row = a_row * SPLIT, .a_col = 1, .b = b, .b_row = b_row, .b_col = b_col, .c = c,
                    .c_row = c_row * SPLIT, .subtracts = true, .is_slice = true };
    NAME(blocks)(&g);
}

/* The first row from `from` on whose element in column k is the largest. */
ATTR static int64_t NAME(find_pivot)(int64_t rows, const NAME(Number) *x, int64_t from, int k)
{
    int64_t at = from;
    T most = NAME(size)(x[from * NAME(NUMBERS) + k]);
    for (int64_t i = from + 1; i < rows; i++) {
        T size = NAME(size)(x[i * NAME(NUMBERS) + k]);
        if (size > most) {
            most = size;
            at = i;
        }
    }
    return at;
}

/* Rows from k + 1 on less row k as often as makes their column k zero; there that number is kept.  Where
 * the next pivot is: its column is looked through on the way. */
ATTR static int64_t NAME(take_row)(int64_t rows, NAME(Number) *x, int k)
{
    enum { NUMBERS = NAME(NUMBERS) };
    NAME(Vec) top = *(NAME(Vec) *)(x + k * NUMBERS);
    NAME(Divisor) pivot = NAME(divisor)(x[k * NUMBERS + k]);
    T most = 0;
    for (int l = 0; l < SPLIT * (k + 1); l++)
        top[l] = 0;
    NAME(Multiplied) taken = NAME(multiplied)(top);
    int64_t at = k + 1;
    int next = k + 1 < NUMBERS ? k + 1 : k;
    for (int64_t i = k + 1; i < rows; i++) {
        NAME(Number) *row = x + i * NUMBERS, factor = NAME(divided)(row[k], pivot);
        *(NAME(Vec) *)row -= NAME(by_number)(&taken, factor);
        row[k] = factor;
        T size = NAME(size)(row[next]);
        if (size > most) {
            most = size;
            at = i;
        }
    }
    return at;
}

ATTR static int NAME(eliminate)(int64_t rows, int columns, void *panel, int32_t *pivots)
{
    enum { NUMBERS = NAME(NUMBERS) };
    NAME(Number) *x = panel;
    int zero = 0;
    int64_t at = NAME(find_pivot)(rows, x, 0, 0);
    for (int k = 0; k < columns; k++) {
        NAME(Vec) *to = (NAME(Vec) *)(x + k * NUMBERS), *from = (NAME(Vec) *)(x + at * NUMBERS), kept = *to;
        *to = *from;
        *from = kept;
        pivots[k] = (int32_t)at;
        bool is_zero = NAME(is_zero)(x[k * NUMBERS + k]);
        if (!is_zero)
            at = NAME(take_row)(rows, x, k);
        else if (!zero)
            zero = k + 1;
        if (is_zero && k + 1 < columns)
            at = NAME(find_pivot)(rows, x, k + 1, k + 1);
    }
    return zero;
}

#if SPLIT == 1
/* Columns of the factor, a vector each: of a column that is known, products are taken off all that come. */
ATTR static bool NAME(root)(int n, void *matrix, int64_t row)
{
    enum { LANES = NAME(LANES) };
    NAME(Vec) columns[LANES] = { { 0 } };
    T *a = matrix;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            ((T *)&columns[j])[i] = a[i * row + j];
    for (int k = 0; k < n; k++) {
        T square = columns[k][k];
        if (!(square > 0))
            return false;
        T side = sizeof(T) == 4 ? (T)sqrtf((float)square) : (T)sqrt((double)square);
        columns[k] /= side;
        ((T *)&columns[k])[k] = side;
        NAME(Vec) column = columns[k];
        for (int j = k + 1; j < n; j++)
            columns[j] -= column * ((const T *)&columns[k])[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            a[i * row + j] = ((const T *)&columns[j])[i];
    return true;
}
#endif
