/* bidiagonal_body.h - matrices of one element type made bidiagonal.
 *
 * Included by blocked_bidiagonal.c with T and NAME(x) set. */

typedef struct NAME(Reduced) {
    Bidiagonal b;
    T *a;
    T *w, *z;         /* transposed: [TERMS][m], [TERMS][n] */
    T *turned;        /* W as it is, [m][TERMS] */
    T *line, *few;    /* room: what is reflected; a number for each term */
    T *product, *sum; /* room: its product with the rest; a sum of terms */
} NAME(Reduced);

/* A column or a row, which becomes a reflector, and what its product with the rest of the matrix becomes. */
typedef struct NAME(Line) {
    T *at; /* its first element; the others are `step` apart */
    int64_t count, step;
    T *own; /* what of W or Z belongs to its elements; own_step from term to term */
    const T *
        others; /* what of the other one its changes are multiplied by; given_step from term to term */
    int64_t own_step, given_step;
    int64_t term;  /* that the reflector and the product become; those before it are known */
    const T *rest; /* the matrix that the reflector is multiplied by, of `results` rows */
    int64_t results, rest_row, rest_col;
    T *given; /* what of the other one belongs to the results */
    T *diagonal, *tau;
} NAME(Line);

static void NAME(by_vector)(const NAME(Reduced) * g, int64_t m, int64_t k, const T *a,
                            int64_t a_row, int64_t a_col, const T *x, T *y)
{
    if (m)
        g->b.level->gemm[g->b.kind](g->b.frame, m, 1, k, a, a_row, a_col, x, 1, 1, y, 1);
}

static double NAME(sum_of_squares)(int64_t n, const T *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

/* n numbers become a reflector, the first of which is 1.  Returns tau. */
static T NAME(reflector)(int64_t n, T *x, T *diagonal)
{
    double square = NAME(sum_of_squares)(n - 1, x + 1), alpha = (double)x[0], down = 1;
    if (alpha * alpha + square < LEAST_SQUARE) {
        down = LIFT;
        alpha *= LIFT;
        for (int64_t i = 1; i < n; i++)
            x[i] = (T)((double)x[i] * LIFT);
        square = NAME(sum_of_squares)(n - 1, x + 1);
    }
    x[0] = 1;
    *diagonal = (T)(alpha / down);
    if (square == 0)
        return 0;
    double norm = sqrt(alpha * alpha + square), beta = alpha < 0 ? norm : -norm;
    T scale = (T)(1 / (alpha - beta));
    for (int64_t i = 1; i < n; i++)
        x[i] *= scale;
    *diagonal = (T)(beta / down);
    return (T)((beta - alpha) / beta);
}

static void NAME(reduce_line)(const NAME(Reduced) * g, const NAME(Line) * l)
{
    T *x = g->line;
    for (int64_t t = 0; t < l->term; t++)
        g->few[t] = l->others[t * l->given_step];
    NAME(by_vector)(g, l->count, l->term, l->own, 1, l->own_step, g->few, g->sum);
    for (int64_t i = 0; i < l->count; i++)
        x[i] = l->at[i * l->step] - g->sum[i];
    *l->tau = NAME(reflector)(l->count, x, l->diagonal);
    NAME(by_vector)(g, l->term, l->count, l->own, l->own_step, 1, x, g->few);
    for (int64_t i = 0; i < l->count; i++) {
        l->at[i * l->step] = i ? x[i] : *l->diagonal;
        l->own[l->term * l->own_step + i] = x[i];
    }
    NAME(by_vector)(g, l->results, l->count, l->rest, l->rest_row, l->rest_col, x, g->product);
    NAME(by_vector)(g, l->results, l->term, l->given, 1, l->given_step, g->few, g->sum);
    for (int64_t i = 0; i < l->results; i++)
        l->given[l->term * l->given_step + i] = *l->tau * (g->product[i] - g->sum[i]);
}

/* Columns from .. from + width, and as many rows. */
static void NAME(reduce_panel)(const NAME(Reduced) * g, int64_t from, int64_t width, T *diagonal,
                               T *beside, T *left_taus, T *right_taus)
{
    int64_t m = g->b.m, n = g->b.n;
    for (int64_t k = from; k < from + width; k++) {
        T *corner = g->a + k * n + k;
        NAME(Line)
        column = { .at = corner,
                   .count = m - k,
                   .step = n,
                   .own = g->w + k,
                   .others = g->z + k,
                   .own_step = m,
                   .given_step = n,
                   .term = 2 * (k - from),
                   .rest = corner + 1,
                   .results = n - k - 1,
                   .rest_row = 1,
                   .rest_col = n,
                   .given = g->z + k + 1,
                   .diagonal = &diagonal[k],
                   .tau = &left_taus[k] };
        NAME(reduce_line)(g, &column);
        NAME(Line)
        row = { .at = corner + 1,
                .count = n - k - 1,
                .step = 1,
                .own = g->z + k + 1,
                .others = g->w + k,
                .own_step = n,
                .given_step = m,
                .term = 2 * (k - from) + 1,
                .rest = corner + n + 1,
                .results = m - k - 1,
                .rest_row = n,
                .rest_col = 1,
                .given = g->w + k + 1,
                .diagonal = &beside[k],
                .tau = &right_taus[k] };
        if (row.count)
            NAME(reduce_line)(g, &row);
    }
}

static void NAME(bring_up)(void *user, int64_t slice)
{
    const NAME(Reduced) *g = user;
    const Bidiagonal *b = &g->b;
    int64_t first = b->next + slice * TILE, rows = least(TILE, b->m - first),
            columns = b->n - b->next;
    b->level->subtract[b->kind](b->told, rows, columns, 2 * b->panel, g->turned + first * TERMS,
                                TERMS, g->z + b->next, b->n, 1, g->a + first * b->n + b->next,
                                b->n);
}

static void NAME(reduce)(Bidiagonal b, char *room, T *a, T *diagonal, T *beside, T *left_taus,
                         T *right_taus)
{
    T *at = (T *)room;
    NAME(Reduced) g = { .b = b, .a = a, .w = at, .z = at + b.m * TERMS };
    g.turned = g.z + b.n * TERMS;
    g.line = g.turned + b.m * TERMS;
    g.product = g.line + b.m;
    g.sum = g.product + b.m;
    g.few = g.sum + b.m;
    for (int64_t from = 0; from < b.n; from += b.panel) {
        int64_t width = least(b.panel, b.n - from);
        NAME(reduce_panel)(&g, from, width, diagonal, beside, left_taus, right_taus);
        g.b.next = from + width;
        if (g.b.next >= b.n)
            break;
        matrix_transpose(2 * b.panel, b.m, sizeof(T), g.w, b.m, g.turned, TERMS);
        slices(b.helped, (b.m - g.b.next + TILE - 1) / TILE, NAME(bring_up), &g);
    }
    right_taus[b.n - 1] = 0;
}
