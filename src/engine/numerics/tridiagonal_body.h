/* tridiagonal_body.h - tridiagonal systems of one type, REAL, whose functions are NAME(function).
 *
 * Each row waits for the row before: what it waits for is kept in variables, for memory would take as long again
 * as a quotient. */

/* below[k] stands below the diagonal in row k + 1, above[k] beside it in row k; b is row-major.  In place of them
 * come what stands second and first right of the diagonal of U, in place of b what belongs to it.  The row, from 1
 * on, whose pivot is 0, or 0. */
static int NAME(eliminate)(int64_t n, int64_t columns, REAL *below, REAL *d, REAL *above, REAL *b)
{
    REAL pivot = d[0], beside = n > 1 ? above[0] : 0;
    for (int64_t k = 0; k < n - 1; k++) {
        REAL *row = b + k * columns, *next = row + columns;
        REAL low = below[k], diagonal = d[k + 1], third = k < n - 2 ? above[k + 1] : 0;
        if (low == 0 && pivot == 0)
            return (int)k + 1;
        if (NAME(size)(pivot) >= NAME(size)(low)) {
            REAL times = low / pivot;
            d[k] = pivot;
            above[k] = beside;
            below[k] = 0;
            pivot = diagonal - times * beside;
            beside = third;
            for (int64_t j = 0; j < columns; j++)
                next[j] -= times * row[j];
            continue;
        }
        REAL times = pivot / low;
        d[k] = low;
        above[k] = diagonal;
        below[k] = third;
        pivot = beside - times * diagonal;
        beside = -times * third;
        for (int64_t j = 0; j < columns; j++) {
            REAL was = row[j];
            row[j] = next[j];
            next[j] = was - times * next[j];
        }
    }
    d[n - 1] = pivot;
    return pivot == 0 ? (int)n : 0;
}

/* U x = b, one column. */
static void NAME(solve_column)(int64_t n, int64_t columns, const REAL *second, const REAL *d,
                               const REAL *first, REAL *b)
{
    REAL x1 = 0, x2 = 0;
    for (int64_t k = n - 1; k >= 0; k--) {
        REAL x = b[k * columns];
        x -= k < n - 2 ? second[k] * x2 : 0;
        x -= k < n - 1 ? first[k] * x1 : 0;
        x2 = x1;
        b[k * columns] = x1 = x / d[k];
    }
}

/* The same of many columns: those of a row do not wait for one another. */
static void NAME(solve_rows)(int64_t n, int64_t columns, const REAL *second, const REAL *d,
                             const REAL *first, REAL *b)
{
    for (int64_t k = n - 1; k >= 0; k--) {
        REAL *row = b + k * columns;
        for (int64_t j = 0; j < columns; j++) {
            REAL x = row[j];
            x -= k < n - 2 ? second[k] * row[2 * columns + j] : 0;
            x -= k < n - 1 ? first[k] * row[columns + j] : 0;
            row[j] = x / d[k];
        }
    }
}

static int NAME(solve)(int64_t n, int64_t columns, REAL *below, REAL *d, REAL *above, REAL *b)
{
    enum { MANY = 8 };
    int info = NAME(eliminate)(n, columns, below, d, above, b);
    if (info)
        return info;
    if (columns >= MANY)
        NAME(solve_rows)(n, columns, below, d, above, b);
    for (int64_t j = 0; j < columns && columns < MANY; j++)
        NAME(solve_column)(n, columns, below, d, above, b + j);
    return 0;
}
