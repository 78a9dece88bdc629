/* fft_plan.h - what the transforms of lines of one length share, for one element type.
 *
 * Included by fft_levels.h with REAL (float or double) and PLAN(x) set.  A line of n = p1 p2 ... numbers
 * goes through one pass per factor; a pass has its small transform's roots of unity, and those by
 * which results are multiplied by twiddle factors.  A length with a large prime in it goes by Bluestein's way: as a
 * convolution, which is done by transforms of a length without. */

typedef struct PLAN(Cx) {
    REAL r, i;
} PLAN(Cx);
#define CX PLAN(Cx)

typedef struct PLAN(Pass) {
    int64_t p, l1, ido;
    CX *twiddles; /* [p - 1][ido - 1], or [p - 1][(ido - 1) / 2] for reals */
    CX *roots;    /* [p]: of the small transform */
} PLAN(Pass);

typedef struct PLAN(Plan) {
    int64_t n;
    bool is_real;
    int npasses;
    PLAN(Pass) passes[64];
    /* Bluestein: not NULL, and the line is a convolution of `wide->n` numbers. */
    struct PLAN(Plan) * wide;
    CX *chirp, *filter; /* [n]; [wide->n], already transformed */
} PLAN(Plan);

static CX PLAN(root)(const Roots *roots, int64_t k)
{
    double re, im;
    roots_get(roots, k, &re, &im);
    return (CX){ (REAL)re, (REAL)im };
}

static void PLAN(pass_new)(Arena *arena, const Roots *roots, bool is_real, PLAN(Pass) * pass)
{
    int64_t p = pass->p, n = pass->l1 * p * pass->ido;
    int64_t each = is_real ? (pass->ido - 1) / 2 : pass->ido - 1;
    pass->twiddles = ARENA_ARRAY(arena, CX, (p - 1) * each + 1);
    for (int64_t j = 1; j < p; j++)
        for (int64_t i = 1; i <= each; i++)
            pass->twiddles[(j - 1) * each + i - 1] = PLAN(root)(roots, j * pass->l1 * i);
    pass->roots = ARENA_ARRAY(arena, CX, p);
    bool is_known = p <= 5 || (!is_real && p <= 11);
    for (int64_t j = 0; j < p; j++) {
        long double angle =
            2 * 3.141592653589793238462643383279502884197L * (long double)j / (long double)p;
        pass->roots[j] = is_known     ? (CX){ (REAL)cosl(angle), (REAL)sinl(angle) }
                         : 2 * j <= p ? PLAN(root)(roots, j * (n / p))
                                      : (CX){ pass->roots[p - j].r, -pass->roots[p - j].i };
    }
}

static void PLAN(factor)(PLAN(Plan) * plan)
{
    int64_t rest = plan->n;
    while (!plan->is_real && rest % 8 == 0)
        plan->passes[plan->npasses++].p = 8, rest /= 8;
    while (rest % 4 == 0)
        plan->passes[plan->npasses++].p = 4, rest /= 4;
    if (rest % 2 == 0) { /* 2 goes first */
        plan->passes[plan->npasses].p = plan->npasses ? plan->passes[0].p : 2;
        plan->passes[0].p = 2;
        plan->npasses++;
        rest /= 2;
    }
    for (int64_t p = 3; rest > 1; p += 2)
        while (rest % p == 0)
            plan->passes[plan->npasses++].p = p, rest /= p;
}

/* The line by itself (fft_body.h), and how many numbers of room that takes. */
static void PLAN(complex_line)(const PLAN(Plan) * plan, CX *line, CX *room, bool is_forward);
static int64_t PLAN(room)(const PLAN(Plan) * plan)
{
    return plan->wide ? 2 * plan->wide->n : plan->n;
}

/* Exponents j^2 / 2n: their differences make a transform a convolution. */
static void PLAN(bluestein_new)(Arena *arena, PLAN(Plan) * plan, PLAN(Plan) * wide)
{
    int64_t n = plan->n, m = wide->n, square = 0;
    Roots roots = roots_new(arena, 2 * n);
    plan->wide = wide;
    plan->chirp = ARENA_ARRAY(arena, CX, n);
    plan->filter = ARENA_ARRAY(arena, CX, m);
    for (int64_t i = 0; i < n; i++) {
        plan->chirp[i] = PLAN(root)(&roots, square);
        square = (square + 2 * i + 1) % (2 * n);
        CX scaled = { plan->chirp[i].r / (REAL)m, plan->chirp[i].i / (REAL)m };
        plan->filter[i] = scaled;
        if (i)
            plan->filter[m - i] = scaled;
    }
    PLAN(complex_line)(wide, plan->filter, ARENA_ARRAY(arena, CX, m), true);
}

static PLAN(Plan) * PLAN(plan_new)(Arena *arena, int64_t n, bool is_real)
{
    PLAN(Plan) *plan = ARENA_NEW(arena, PLAN(Plan));
    *plan = (PLAN(Plan)){ .n = n, .is_real = is_real };
    int64_t wide = is_real ? 0 : bluestein_size(n);
    if (wide) {
        PLAN(bluestein_new)(arena, plan, PLAN(plan_new)(arena, wide, false));
        return plan;
    }
    Roots roots = roots_new(arena, n);
    PLAN(factor)(plan);
    int64_t l1 = 1;
    for (int i = 0; i < plan->npasses; i++) {
        PLAN(Pass) *pass = &plan->passes[i];
        pass->l1 = l1;
        pass->ido = n / (l1 * pass->p);
        l1 *= pass->p;
        PLAN(pass_new)(arena, &roots, is_real, pass);
    }
    return plan;
}

/* Roots l * k of the first `lanes` columns l, for rows k below n1: [n1][lanes]. */
static CX *PLAN(twiddles_new)(Arena *arena, const Roots *roots, int64_t n1, int lanes)
{
    CX *twiddles = ARENA_ARRAY(arena, CX, n1 * lanes);
    for (int64_t k = 0; k < n1; k++)
        for (int l = 0; l < lanes; l++)
            twiddles[k * lanes + l] = PLAN(root)(roots, l * k % roots->n);
    return twiddles;
}

/* A line of 2 h reals is one of h complex numbers, its even and odd places.  From that one's transform z
 * to the first h + 1 numbers x of the reals': those from `from` up to `to`. */
static void PLAN(reals_of_half)(const Roots *roots, int64_t h, int64_t from, int64_t to,
                                const void *in, void *out)
{
    const CX *z = in;
    CX *x = out;
    for (int64_t k = from; k < to; k++) {
        CX a = z[k < h ? k : 0], b = z[k ? h - k : 0], root = PLAN(root)(roots, k);
        REAL half = (REAL)0.5;
        CX even = { half * (a.r + b.r), half * (a.i - b.i) };
        CX odd = { half * (a.i + b.i), half * (b.r - a.r) };
        x[k] = (CX){ even.r + (root.r * odd.r + root.i * odd.i),
                     even.i + (root.r * odd.i - root.i * odd.r) };
    }
}

/* And back, twice as large; the first and the last of x count as reals. */
static void PLAN(half_of_reals)(const Roots *roots, int64_t h, int64_t from, int64_t to,
                                const void *in, void *out)
{
    const CX *x = in;
    CX *z = out;
    for (int64_t k = from; k < to && k < h; k++) {
        CX a = x[k], b = x[h - k], root = PLAN(root)(roots, k);
        if (k == 0)
            a.i = b.i = 0;
        CX sum = { a.r + b.r, a.i - b.i }, rest = { a.r - b.r, a.i + b.i };
        CX odd = { root.r * rest.r - root.i * rest.i, root.r * rest.i + root.i * rest.r };
        z[k] = (CX){ sum.r - odd.i, sum.i + odd.r };
    }
}
#undef CX
