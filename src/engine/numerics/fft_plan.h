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
    bool is_real, is_ordered; /* fft_body.h */
    CX *twiddles;             /* [p - 1][ido - 1], or [p - 1][(ido - 1) / 2] for reals */
    CX *weights;              /* [p / 2][p / 2]: root l j of the small transform, where p is odd */
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
    int64_t half = p % 2 ? p / 2 : 0;
    bool is_known = p <= 5 || (!is_real && p <= 11);
    pass->is_real = is_real;
    pass->is_ordered = n <= FFT_ORDERED;
    pass->weights = ARENA_ARRAY(arena, CX, half * half + 1);
    for (int64_t l = 1; l <= half; l++)
        for (int64_t j = 1; j <= half; j++) {
            long double angle = 2 * 3.141592653589793238462643383279502884197L *
                                (long double)(l * j % p) / (long double)p;
            pass->weights[(l - 1) * half + j - 1] =
                is_known ? (CX){ (REAL)cosl(angle), (REAL)sinl(angle) }
                         : PLAN(root)(roots, l * j % p * (n / p));
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
static CX *PLAN(complex_line)(const PLAN(Plan) * plan, CX *line, CX *room, bool is_forward);
static int64_t PLAN(room)(const PLAN(Plan) * plan)
{
    return plan->wide ? 2 * plan->wide->n : plan->n;
}

/* Exponents j^2 / 2n: their differences make a transform a convolution of m numbers.  chirp: [n];
 * filter: [m], which is zero. */
static void PLAN(chirps_fill)(Arena *arena, int64_t n, int64_t m, CX *chirp, CX *filter)
{
    Roots roots = roots_new(arena, 2 * n);
    for (int64_t i = 0, square = 0; i < n; i++) {
        chirp[i] = PLAN(root)(&roots, square);
        square = (square + 2 * i + 1) % (2 * n);
        CX scaled = { chirp[i].r / (REAL)m, chirp[i].i / (REAL)m };
        filter[i] = scaled;
        if (i)
            filter[m - i] = scaled;
    }
}

static void PLAN(bluestein_new)(Arena *arena, PLAN(Plan) * plan, PLAN(Plan) * wide)
{
    int64_t n = plan->n, m = wide->n;
    plan->wide = wide;
    plan->chirp = ARENA_ARRAY(arena, CX, n);
    plan->filter = ARENA_ARRAY(arena, CX, m);
    PLAN(chirps_fill)(arena, n, m, plan->chirp, plan->filter);
    plan->filter = PLAN(complex_line)(wide, plan->filter, ARENA_ARRAY(arena, CX, m), true);
}

static void PLAN(chirps_new)(Arena *arena, FftLong *plan)
{
    plan->chirp = ARENA_ARRAY(arena, CX, plan->n);
    plan->filter = ARENA_ARRAY(arena, CX, plan->wide->n);
    PLAN(chirps_fill)(arena, plan->n, plan->wide->n, plan->chirp, plan->filter);
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

/* Roots l * k of the first `lanes` columns l, for rows k below n1: [n1] of real parts, imaginary ones. */
static const void *PLAN(twiddles_new)(Arena *arena, const Roots *roots, int64_t n1, int lanes)
{
    REAL *twiddles = ARENA_ARRAY(arena, REAL, 2 * n1 * lanes);
    for (int64_t k = 0; k < n1; k++)
        for (int l = 0; l < lanes; l++) {
            CX root = PLAN(root)(roots, l * k % roots->n);
            twiddles[2 * k * lanes + l] = root.r;
            twiddles[(2 * k + 1) * lanes + l] = root.i;
        }
    return twiddles;
}

/* Roots l * k of every lanes-th column l: [columns / lanes][n1]. */
static const void *PLAN(begins_new)(Arena *arena, const Roots *roots, int64_t n1, int lanes)
{
    int64_t n2 = roots->n / n1;
    CX *begins = ARENA_ARRAY(arena, CX, (n2 + lanes - 1) / lanes * n1), *to = begins;
    for (int64_t l = 0; l < n2; l += lanes)
        for (int64_t k = 0; k < n1; k++)
            *to++ = PLAN(root)(roots, l * k);
    return begins;
}

/* Roots of n up to a quarter of a turn. */
static const void *PLAN(halves_new)(Arena *arena, int64_t n)
{
    Roots roots = roots_new(arena, n);
    CX *halves = ARENA_ARRAY(arena, CX, n / 4 + 1);
    for (int64_t k = 0; k <= n / 4; k++)
        halves[k] = PLAN(root)(&roots, k);
    return halves;
}
#undef CX
