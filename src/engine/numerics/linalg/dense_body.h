/* dense_body.h - matrices of one element type.
 *
 * Included by dense.c with SCALAR, REAL (the type of its parts), CONJ(x), PART(x) (its real
 * part), IMAGINARY(x) and NAME(x) set.  Matrices are row-major; inner loops run along rows, so that they are
 * vectors. */

/* to[j] -= factor * from[j] */
static void NAME(subtract)(SCALAR *restrict to, const SCALAR *restrict from, SCALAR factor,
                           int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        to[j] -= factor * from[j];
}

/* ---- triangular systems ---- */

/* t = op(a), n by n. */
static void NAME(operate)(const SCALAR *a, SCALAR *t, int64_t n, int op)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            t[i * n + j] = op == NO_TRANSPOSE ? a[i * n + j]
                           : op == TRANSPOSE  ? a[j * n + i]
                                              : CONJ(a[j * n + i]);
}

/* t x = b, row by row; x holds b first. */
static void NAME(solve_left)(const Triangle *s, const SCALAR *t, SCALAR *x)
{
    int64_t n = s->n, m = s->other;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = s->is_lower ? k : n - 1 - k;
        int64_t from = s->is_lower ? 0 : i + 1, to = s->is_lower ? i : n;
        for (int64_t j = from; j < to; j++)
            NAME(subtract)(x + i * m, x + j * m, t[i * n + j], m);
        for (int64_t c = 0; c < m && !s->is_unit; c++)
            x[i * m + c] /= t[i * n + i];
    }
}

/* x t = b: every row of x on its own. */
static void NAME(solve_right)(const Triangle *s, const SCALAR *t, SCALAR *x)
{
    int64_t n = s->n;
    for (int64_t row = 0; row < s->other; row++) {
        SCALAR *r = x + row * n;
        for (int64_t k = 0; k < n; k++) {
            int64_t j = s->is_lower ? n - 1 - k : k;
            if (!s->is_unit)
                r[j] /= t[j * n + j];
            if (s->is_lower)
                NAME(subtract)(r, t + j * n, r[j], j);
            else
                NAME(subtract)(r + j + 1, t + j * n + j + 1, r[j], n - j - 1);
        }
    }
}

static void NAME(solve)(const Triangle *s, const void *a, void *x, void *room)
{
    NAME(operate)(a, room, s->n, s->op);
    if (s->is_left)
        NAME(solve_left)(s, room, x);
    else
        NAME(solve_right)(s, room, x);
}

/* ---- Cholesky ---- */

/* The lower factor of l, in place: a column, then what is left of the rows below.  Not 0: l is not
 * positive definite, as the column of that number shows. */
static int64_t NAME(factor)(SCALAR *l, SCALAR *column, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        if (!(PART(l[j * n + j]) > 0))
            return j + 1;
        REAL root = SQRT(PART(l[j * n + j]));
        l[j * n + j] = root;
        for (int64_t i = j + 1; i < n; i++) {
            l[i * n + j] /= root;
            column[i] = CONJ(l[i * n + j]);
        }
        for (int64_t i = j + 1; i < n; i++)
            NAME(subtract)(l + i * n + j + 1, column + j + 1, l[i * n + j], i - j);
    }
    return 0;
}

static int64_t NAME(cholesky)(int64_t n, bool is_lower, const void *in, void *out, void *room)
{
    const SCALAR *a = in;
    SCALAR *l = room, *to = out;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            l[i * n + j] = j > i ? 0 : is_lower ? a[i * n + j] : CONJ(a[j * n + i]);
    int64_t broken = NAME(factor)(l, l + n * n, n);
    for (int64_t i = 0; i < n && broken; i++)
        for (int64_t j = 0; j <= i; j++)
            l[i * n + j] = (REAL)NAN;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            to[i * n + j] = is_lower ? l[i * n + j] : CONJ(l[j * n + i]);
    return broken;
}

/* ---- reflections: I - tau v v*, v[0] = 1 ---- */

/* a -= factor * v (v* a), for columns from `first` on; v stands in column `at` of vs. */
static void NAME(reflect)(SCALAR *a, int64_t rows, int64_t columns, int64_t first, const SCALAR *vs,
                          int64_t width, int64_t at, SCALAR factor, SCALAR *room)
{
    int64_t n = columns - first;
    for (int64_t j = 0; j < n; j++)
        room[j] = a[at * columns + first + j];
    for (int64_t i = at + 1; i < rows; i++)
        NAME(subtract)(room, a + i * columns + first, -CONJ(vs[i * width + at]), n);
    NAME(subtract)(a + at * columns + first, room, factor, n);
    for (int64_t i = at + 1; i < rows; i++)
        NAME(subtract)(a + i * columns + first, room, factor * vs[i * width + at], n);
}

static double NAME(largest)(SCALAR x)
{
    return fmax(fabs((double)PART(x)), fabs((double)IMAGINARY(x)));
}

/* Makes n numbers, `step` apart, zero but for the first, and leaves the reflector's vector in their
 * place. */
static SCALAR NAME(reflector)(int64_t n, SCALAR *x, int64_t step)
{
    SCALAR alpha = x[0];
    double below = 0, most = NAME(largest)(alpha);
    bool is_done = IMAGINARY(alpha) == 0;
    for (int64_t i = 1; i < n; i++) {
        most = fmax(most, NAME(largest)(x[i * step]));
        is_done = is_done && x[i * step] == 0;
    }
    if (is_done)
        return 0;
    double unit = unit_of(most);
    for (int64_t i = 1; i < n; i++)
        below += SQUARE(x[i * step] * (REAL)unit);
    double size = sqrt(below + SQUARE(alpha * (REAL)unit)) / unit;
    REAL beta = (REAL)(PART(alpha) < 0 ? size : -size);
    for (int64_t i = 1; i < n; i++)
        x[i * step] /= alpha - beta;
    x[0] = beta;
    return (beta - alpha) / beta;
}

static void NAME(qr)(int64_t rows, int64_t columns, void *matrix, void *factors, void *room)
{
    SCALAR *a = matrix, *tau = factors;
    int64_t n = rows < columns ? rows : columns;
    for (int64_t k = 0; k < n; k++) {
        tau[k] = NAME(reflector)(rows - k, a + k * columns + k, columns);
        if (k + 1 < columns)
            NAME(reflect)(a, rows, columns, k + 1, a, columns, k, CONJ(tau[k]), room);
    }
}

static void NAME(householder)(int64_t rows, int64_t columns, int64_t n, const void *vectors,
                              const void *factors, void *out, void *room)
{
    SCALAR *q = out;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            q[i * columns + j] = i == j;
    for (int64_t k = n - 1; k >= 0; k--)
        NAME(reflect)(q, rows, columns, 0, vectors, columns, k, ((const SCALAR *)factors)[k], room);
}
#undef SCALAR
#undef REAL
#undef CONJ
#undef PART
#undef SQRT
#undef SQUARE
#undef IMAGINARY
#undef NAME
