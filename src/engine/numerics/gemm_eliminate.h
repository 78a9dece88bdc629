/* gemm_eliminate.h - what elimination (blocked_lu.c, blocked_cholesky.c) is made of.
 *
 * Included by gemm_body.h, for one element type and one instruction set. */

/* See gemm_body.h. */
/* clang-format off */

/* c less a b, where elements of a row lie side by side in a and c. */
ATTR static void NAME(subtract)(const Frame *frame, int64_t m, int64_t n, int64_t k, const void *a,
                                int64_t a_row, const void *b, int64_t b_row, int64_t b_col, void *c,
                                int64_t c_row)
{
    NAME(Job) g = { .frame = frame, .m = m, .n = n, .terms = k, .a = a, .a_row = a_row, .a_col = 1,
                    .b = b, .b_row = b_row, .b_col = b_col, .c = c, .c_row = c_row,
                    .subtracts = true, .is_slice = true };
    NAME(blocks)(&g);
}

static T NAME(size)(T x)
{
    return x < 0 ? -x : x;
}

/* The first row from `from` on whose element in column k is the largest. */
ATTR static int64_t NAME(find_pivot)(int64_t rows, const T *x, int64_t from, int k)
{
    int64_t at = from;
    T most = NAME(size)(x[from * NAME(LANES) + k]);
    for (int64_t i = from + 1; i < rows; i++) {
        T size = NAME(size)(x[i * NAME(LANES) + k]);
        if (size > most) {
            most = size;
            at = i;
        }
    }
    return at;
}

/* Rows from k + 1 on less row k as often as makes their column k zero; there that number is kept.  Where
 * the next pivot is: its column is looked through on the way. */
ATTR static int64_t NAME(take_row)(int64_t rows, T *x, int k)
{
    enum { LANES = NAME(LANES) };
    NAME(Vec) top = *(NAME(Vec) *)(x + k * LANES);
    T pivot = top[k], most = 0;
    for (int l = 0; l <= k; l++)
        top[l] = 0;
    int64_t at = k + 1;
    int next = k + 1 < LANES ? k + 1 : k;
    for (int64_t i = k + 1; i < rows; i++) {
        T *row = x + i * LANES;
        T factor = row[k] / pivot;
        *(NAME(Vec) *)row -= factor * top;
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
    enum { LANES = NAME(LANES) };
    T *x = panel;
    int zero = 0;
    int64_t at = NAME(find_pivot)(rows, x, 0, 0);
    for (int k = 0; k < columns; k++) {
        NAME(Vec) *to = (NAME(Vec) *)(x + k * LANES), *from = (NAME(Vec) *)(x + at * LANES), kept = *to;
        *to = *from;
        *from = kept;
        pivots[k] = (int32_t)at;
        if (x[k * LANES + k] != 0)
            at = NAME(take_row)(rows, x, k);
        else if (!zero)
            zero = k + 1;
        if (x[k * LANES + k] == 0 && k + 1 < columns)
            at = NAME(find_pivot)(rows, x, k + 1, k + 1);
    }
    return zero;
}

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
