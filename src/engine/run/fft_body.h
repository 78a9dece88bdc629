/* fft_body.h - Fourier transforms of one line, for one element type.
 *
 * Included by fft.c with REAL (float or double) and NAME(x) set.  A line of n = p1 p2 ... numbers
 * goes through one pass per factor.  Every pass does small transforms of p numbers (`small`) and
 * turns their results (or, for a real line going forward, their operands) by roots of unity:
 *
 *     ido  numbers that lie together, l1  groups;  before: [l1][p][ido]  after: [p][l1][ido]
 *
 * A line of reals is kept as r0, r1 i1, r2 i2, ...: its passes do the same small transforms, and
 * use that the other half of the results is the conjugate.  Each sum is added up in the order
 * that FFTPACK has and its descendants (NumPy's, XLA's) have kept, so their last bits are ours. */

typedef struct NAME(Cx) {
    REAL r, i;
} NAME(Cx);
#define CX NAME(Cx)

typedef struct NAME(Pass) {
    int64_t p, l1, ido;
    CX *turns; /* [p - 1][ido - 1], or [p - 1][(ido - 1) / 2] for reals */
    CX *roots; /* [p]: of the small transform */
} NAME(Pass);

typedef struct NAME(Plan) {
    int64_t n;
    bool is_real;
    int npasses;
    NAME(Pass) passes[64];
    CX *room; /* [n] */
    /* Bluestein: not NULL, and the line is a convolution of `wide->n` numbers. */
    struct NAME(Plan) * wide;
    CX *chirp, *filter, *spread; /* [n], [wide->n], [wide->n] */
} NAME(Plan);

static CX NAME(root)(const Roots *roots, int64_t k)
{
    double re, im;
    roots_get(roots, k, &re, &im);
    return (CX){ (REAL)re, (REAL)im };
}

static void NAME(pass_new)(Arena *arena, const Roots *roots, bool is_real, NAME(Pass) * pass)
{
    int64_t p = pass->p, n = pass->l1 * p * pass->ido;
    int64_t each = is_real ? (pass->ido - 1) / 2 : pass->ido - 1;
    pass->turns = ARENA_ARRAY(arena, CX, (p - 1) * each + 1);
    for (int64_t j = 1; j < p; j++)
        for (int64_t i = 1; i <= each; i++)
            pass->turns[(j - 1) * each + i - 1] = NAME(root)(roots, j * pass->l1 * i);
    pass->roots = ARENA_ARRAY(arena, CX, p);
    bool is_known = p <= 5 || (!is_real && p <= 11);
    for (int64_t j = 0; j < p; j++) {
        long double turn =
            2 * 3.141592653589793238462643383279502884197L * (long double)j / (long double)p;
        pass->roots[j] = is_known     ? (CX){ (REAL)cosl(turn), (REAL)sinl(turn) }
                         : 2 * j <= p ? NAME(root)(roots, j * (n / p))
                                      : (CX){ pass->roots[p - j].r, -pass->roots[p - j].i };
    }
}

static void NAME(factor)(NAME(Plan) * plan)
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

static void NAME(complex_line)(NAME(Plan) * plan, CX *line, bool is_forward);

/* Exponents j^2 / 2n: their differences make a transform a convolution. */
static void NAME(bluestein_new)(Arena *arena, NAME(Plan) * plan, NAME(Plan) * wide)
{
    int64_t n = plan->n, m = wide->n, square = 0;
    Roots roots = roots_new(arena, 2 * n);
    plan->wide = wide;
    plan->chirp = ARENA_ARRAY(arena, CX, n);
    plan->filter = ARENA_ARRAY(arena, CX, m);
    plan->spread = ARENA_ARRAY(arena, CX, m);
    for (int64_t i = 0; i < n; i++) {
        plan->chirp[i] = NAME(root)(&roots, square);
        square = (square + 2 * i + 1) % (2 * n);
        CX scaled = { plan->chirp[i].r / (REAL)m, plan->chirp[i].i / (REAL)m };
        plan->filter[i] = scaled;
        if (i)
            plan->filter[m - i] = scaled;
    }
    NAME(complex_line)(wide, plan->filter, true);
}

static NAME(Plan) * NAME(plan_new)(Arena *arena, int64_t n, bool is_real)
{
    NAME(Plan) *plan = ARENA_NEW(arena, NAME(Plan));
    *plan = (NAME(Plan)){ .n = n, .is_real = is_real };
    int64_t wide = is_real ? 0 : bluestein_size(n);
    if (wide) {
        NAME(bluestein_new)(arena, plan, NAME(plan_new)(arena, wide, false));
        return plan;
    }
    Roots roots = roots_new(arena, n);
    NAME(factor)(plan);
    plan->room = ARENA_ARRAY(arena, CX, n);
    int64_t l1 = 1;
    for (int i = 0; i < plan->npasses; i++) {
        NAME(Pass) *pass = &plan->passes[i];
        pass->l1 = l1;
        pass->ido = n / (l1 * pass->p);
        l1 *= pass->p;
        NAME(pass_new)(arena, &roots, is_real, pass);
    }
    return plan;
}

/* ---- small transforms ---- */

static CX NAME(add)(CX a, CX b)
{
    return (CX){ a.r + b.r, a.i + b.i };
}

static CX NAME(sub)(CX a, CX b)
{
    return (CX){ a.r - b.r, a.i - b.i };
}

/* By a quarter of a turn: by i, or by -i going forward. */
static CX NAME(quarter)(CX a, bool is_forward)
{
    return is_forward ? (CX){ a.i, -a.r } : (CX){ -a.i, a.r };
}

static void NAME(small4)(const CX *c, CX *d, bool is_forward)
{
    CX even = NAME(add)(c[0], c[2]), less = NAME(sub)(c[0], c[2]);
    CX odd = NAME(add)(c[1], c[3]), turned = NAME(quarter)(NAME(sub)(c[1], c[3]), is_forward);
    d[0] = NAME(add)(even, odd);
    d[2] = NAME(sub)(even, odd);
    d[1] = NAME(add)(less, turned);
    d[3] = NAME(sub)(less, turned);
}

static void NAME(small8)(const CX *c, CX *d, bool is_forward)
{
    const REAL half = (REAL)0.707106781186547524400844362104849L;
    CX a1 = NAME(add)(c[1], c[5]), a5 = NAME(sub)(c[1], c[5]);
    CX a3 = NAME(add)(c[3], c[7]), a7 = NAME(quarter)(NAME(sub)(c[3], c[7]), is_forward);
    CX sum = NAME(add)(a1, a3), turned = NAME(quarter)(NAME(sub)(a1, a3), is_forward);
    CX p = NAME(add)(a5, a7), q = NAME(sub)(a5, a7);
    CX eighth, three; /* p by one eighth of a turn, q by three */
    if (is_forward) {
        eighth = (CX){ half * (p.r + p.i), half * (p.i - p.r) };
        three = (CX){ half * (q.i - q.r), half * (-q.r - q.i) };
    } else {
        eighth = (CX){ half * (p.r - p.i), half * (p.i + p.r) };
        three = (CX){ half * (-q.r - q.i), half * (q.r - q.i) };
    }
    CX a0 = NAME(add)(c[0], c[4]), a4 = NAME(sub)(c[0], c[4]);
    CX a2 = NAME(add)(c[2], c[6]), a6 = NAME(quarter)(NAME(sub)(c[2], c[6]), is_forward);
    CX s = NAME(add)(a0, a2), t = NAME(sub)(a0, a2), u = NAME(add)(a4, a6), v = NAME(sub)(a4, a6);
    d[0] = NAME(add)(s, sum), d[4] = NAME(sub)(s, sum);
    d[2] = NAME(add)(t, turned), d[6] = NAME(sub)(t, turned);
    d[1] = NAME(add)(u, eighth), d[5] = NAME(sub)(u, eighth);
    d[3] = NAME(add)(v, three), d[7] = NAME(sub)(v, three);
}

/* c[j] and c[p - j] go in together, as their sum (with cosines) and difference (with sines);
 * products are added in groups of at most `most`. */
static void NAME(small_odd)(const CX *c, CX *d, int p, const CX *roots, int most, bool is_forward)
{
    int half = (p + 1) / 2;
    CX sum[half], less[half];
    d[0] = c[0];
    for (int j = 1; j < half; j++) {
        sum[j] = NAME(add)(c[j], c[p - j]);
        less[j] = NAME(sub)(c[j], c[p - j]);
        d[0] = NAME(add)(d[0], sum[j]);
    }
    for (int l = 1; l < half; l++) {
        CX a = { c[0].r + roots[l].r * sum[1].r, c[0].i + roots[l].r * sum[1].i };
        CX b = { roots[l].i * less[1].r, roots[l].i * less[1].i };
        int at = l;
        for (int j = 2; j < half;) {
            int group = j == 2                      ? 1
                        : most >= 4 && j < half - 3 ? 4
                        : most >= 2 && j < half - 1 ? 2
                                                    : 1;
            CX x = { 0 }, y = { 0 };
            for (int g = 0; g < group; g++, j++) {
                at = at + l < p ? at + l : at + l - p;
                CX w = roots[at], px = { w.r * sum[j].r, w.r * sum[j].i };
                CX py = { w.i * less[j].r, w.i * less[j].i };
                x = g ? NAME(add)(x, px) : px;
                y = g ? NAME(add)(y, py) : py;
            }
            a = NAME(add)(a, x);
            b = NAME(add)(b, y);
        }
        CX up = { a.r - b.i, a.i + b.r }, down = { a.r + b.i, a.i - b.r };
        d[l] = is_forward ? down : up;
        d[p - l] = is_forward ? up : down;
    }
}

static void NAME(small)(const NAME(Pass) * pass, int most, bool is_forward, const CX *c, CX *d)
{
    switch (pass->p) {
    case 2:
        d[0] = NAME(add)(c[0], c[1]);
        d[1] = NAME(sub)(c[0], c[1]);
        break;
    case 4: NAME(small4)(c, d, is_forward); break;
    case 8: NAME(small8)(c, d, is_forward); break;
    default: NAME(small_odd)(c, d, (int)pass->p, pass->roots, most, is_forward); break;
    }
}

/* By a root of unity; going forward by its conjugate. */
static CX NAME(turn)(CX v, CX w, bool is_forward)
{
    return is_forward ? (CX){ v.r * w.r + v.i * w.i, v.i * w.r - v.r * w.i }
                      : (CX){ v.r * w.r - v.i * w.i, v.r * w.i + v.i * w.r };
}

/* ---- complex lines ---- */

static void NAME(complex_pass)(const NAME(Pass) * pass, const CX *from, CX *to, bool is_forward)
{
    int64_t p = pass->p, ido = pass->ido, l1 = pass->l1;
    CX c[FFT_MOST], d[FFT_MOST];
    for (int64_t k = 0; k < l1; k++)
        for (int64_t i = 0; i < ido; i++) {
            for (int64_t j = 0; j < p; j++)
                c[j] = from[i + ido * (j + p * k)];
            NAME(small)(pass, p > 11 ? 2 : 1, is_forward, c, d);
            to[i + ido * k] = d[0];
            for (int64_t j = 1; j < p; j++)
                to[i + ido * (k + l1 * j)] =
                    i ? NAME(turn)(d[j], pass->turns[(j - 1) * (ido - 1) + i - 1], is_forward)
                      : d[j];
        }
}

static void NAME(bluestein)(NAME(Plan) * plan, CX *line, bool is_forward)
{
    int64_t n = plan->n, m = plan->wide->n;
    CX *spread = plan->spread;
    for (int64_t i = 0; i < m; i++)
        spread[i] = i < n ? NAME(turn)(line[i], plan->chirp[i], is_forward) : (CX){ 0 };
    NAME(complex_line)(plan->wide, spread, true);
    for (int64_t i = 0; i < m; i++) /* the filter is even, so its transform turns with it */
        spread[i] = NAME(turn)(spread[i], plan->filter[i], !is_forward);
    NAME(complex_line)(plan->wide, spread, false);
    for (int64_t i = 0; i < n; i++)
        line[i] = NAME(turn)(spread[i], plan->chirp[i], is_forward);
}

static void NAME(complex_line)(NAME(Plan) * plan, CX *line, bool is_forward)
{
    if (plan->wide) {
        NAME(bluestein)(plan, line, is_forward);
        return;
    }
    CX *from = line, *to = plan->room;
    for (int i = 0; i < plan->npasses; i++) {
        NAME(complex_pass)(&plan->passes[i], from, to, is_forward);
        CX *other = from;
        from = to;
        to = other;
    }
    if (from != line)
        memcpy(line, from, sizeof *line * (size_t)plan->n);
}

/* ---- lines of reals ---- */

/* The last column of an even number of them, where a turn is an eighth or a quarter. */
static void NAME(forward_last)(const NAME(Pass) * pass, int64_t k, const REAL *from, REAL *to)
{
    int64_t ido = pass->ido, l1 = pass->l1, p = pass->p;
#define IN(j) from[ido - 1 + ido * (k + l1 * (j))]
#define OUT(a, b) to[(a) + ido * ((b) + p * k)]
    if (p == 2) {
        OUT(0, 1) = -IN(1);
        OUT(ido - 1, 0) = IN(0);
        return;
    }
    const REAL half = (REAL)0.707106781186547524400844362104849L;
    REAL im = -half * (IN(1) + IN(3)), re = half * (IN(1) - IN(3));
    OUT(ido - 1, 0) = IN(0) + re;
    OUT(ido - 1, 2) = IN(0) - re;
    OUT(0, 3) = im + IN(2);
    OUT(0, 1) = im - IN(2);
#undef IN
#undef OUT
}

static void NAME(backward_last)(const NAME(Pass) * pass, int64_t k, const REAL *from, REAL *to)
{
    int64_t ido = pass->ido, l1 = pass->l1, p = pass->p;
#define IN(a, b) from[(a) + ido * ((b) + p * k)]
#define OUT(j) to[ido - 1 + ido * (k + l1 * (j))]
    if (p == 2) {
        OUT(0) = IN(ido - 1, 0) + IN(ido - 1, 0);
        OUT(1) = -(IN(0, 1) + IN(0, 1));
        return;
    }
    const REAL root = (REAL)1.414213562373095048801688724209698L;
    REAL im = IN(0, 1) + IN(0, 3), less = IN(0, 3) - IN(0, 1);
    REAL re = IN(ido - 1, 0) + IN(ido - 1, 2), apart = IN(ido - 1, 0) - IN(ido - 1, 2);
    OUT(0) = re + re;
    OUT(1) = root * (apart - im);
    OUT(2) = less + less;
    OUT(3) = -root * (apart + im);
#undef IN
#undef OUT
}

/* Column i of group k: of the results of a small transform the first half is written, and of the
 * other half the conjugates, backwards. */
static void NAME(real_store)(const NAME(Pass) * pass, int64_t k, int64_t i, const CX *d, REAL *to)
{
    int64_t p = pass->p, ido = pass->ido, back = ido - i;
    REAL *group = to + ido * p * k;
    if (i == 0) {
        group[0] = d[0].r;
        for (int64_t j = 1; j <= p / 2; j++) {
            group[ido - 1 + ido * (2 * j - 1)] = d[j].r;
            if (2 * j < p)
                group[ido * 2 * j] = d[j].i;
        }
        return;
    }
    for (int64_t j = 0; 2 * j < p; j++) {
        group[i - 1 + ido * 2 * j] = d[j].r;
        group[i + ido * 2 * j] = d[j].i;
    }
    for (int64_t j = 1; j <= p / 2; j++) {
        group[back - 1 + ido * (2 * j - 1)] = d[p - j].r;
        group[back + ido * (2 * j - 1)] = -d[p - j].i;
    }
}

static void NAME(real_load)(const NAME(Pass) * pass, int64_t k, int64_t i, const REAL *from, CX *c)
{
    int64_t p = pass->p, ido = pass->ido, back = ido - i;
    const REAL *group = from + ido * p * k;
    if (i == 0) {
        c[0] = (CX){ group[0], 0 };
        for (int64_t j = 1; j <= p / 2; j++) {
            c[j] = (CX){ group[ido - 1 + ido * (2 * j - 1)], 2 * j < p ? group[ido * 2 * j] : 0 };
            c[p - j] = 2 * j < p ? (CX){ c[j].r, -c[j].i } : c[j];
        }
        return;
    }
    for (int64_t j = 0; 2 * j < p; j++)
        c[j] = (CX){ group[i - 1 + ido * 2 * j], group[i + ido * 2 * j] };
    for (int64_t j = 1; j <= p / 2; j++)
        c[p - j] = (CX){ group[back - 1 + ido * (2 * j - 1)], -group[back + ido * (2 * j - 1)] };
}

static void NAME(forward_pass)(const NAME(Pass) * pass, const REAL *from, REAL *to)
{
    int64_t p = pass->p, ido = pass->ido, l1 = pass->l1, each = (ido - 1) / 2;
    CX c[FFT_MOST], d[FFT_MOST];
    for (int64_t k = 0; k < l1; k++) {
        for (int64_t i = 0; i < ido - (ido % 2 == 0); i += 2) {
            for (int64_t j = 0; j < p; j++) {
                const REAL *at = from + i + ido * (k + l1 * j);
                c[j] = i ? (CX){ at[-1], at[0] } : (CX){ at[0], 0 };
                if (i && j)
                    c[j] = NAME(turn)(c[j], pass->turns[(j - 1) * each + i / 2 - 1], true);
            }
            NAME(small)(pass, 4, true, c, d);
            NAME(real_store)(pass, k, i, d, to);
        }
        if (ido % 2 == 0)
            NAME(forward_last)(pass, k, from, to);
    }
}

static void NAME(backward_pass)(const NAME(Pass) * pass, const REAL *from, REAL *to)
{
    int64_t p = pass->p, ido = pass->ido, l1 = pass->l1, each = (ido - 1) / 2;
    CX c[FFT_MOST], d[FFT_MOST];
    for (int64_t k = 0; k < l1; k++) {
        for (int64_t i = 0; i < ido - (ido % 2 == 0); i += 2) {
            NAME(real_load)(pass, k, i, from, c);
            NAME(small)(pass, 4, false, c, d);
            for (int64_t j = 0; j < p; j++) {
                REAL *at = to + i + ido * (k + l1 * j);
                if (i && j)
                    d[j] = NAME(turn)(d[j], pass->turns[(j - 1) * each + i / 2 - 1], false);
                *at = i ? d[j].i : d[j].r;
                if (i)
                    at[-1] = d[j].r;
            }
        }
        if (ido % 2 == 0)
            NAME(backward_last)(pass, k, from, to);
    }
}

/* In place: reals to r0, r1 i1, r2 i2, ..., or back. */
static void NAME(real_line)(NAME(Plan) * plan, REAL *line, bool is_forward)
{
    REAL *from = line, *to = (REAL *)plan->room;
    for (int i = 0; i < plan->npasses; i++) {
        if (is_forward)
            NAME(forward_pass)(&plan->passes[plan->npasses - 1 - i], from, to);
        else
            NAME(backward_pass)(&plan->passes[i], from, to);
        REAL *other = from;
        from = to;
        to = other;
    }
    if (from != line)
        memcpy(line, from, sizeof *line * (size_t)plan->n);
}

/* ---- all lines of an array ---- */

/* Complex numbers, `stride` apart along the line; `scale` on the way out. */
static void NAME(complex_lines)(Arena *arena, CX *data, int64_t nlines, int64_t n, int64_t stride,
                                bool is_forward, REAL scale)
{
    NAME(Plan) *plan = NAME(plan_new)(arena, n, false);
    CX *line = ARENA_ARRAY(arena, CX, n);
    for (int64_t l = 0; l < nlines; l++) {
        CX *first = data + l / stride * n * stride + l % stride;
        for (int64_t i = 0; i < n; i++)
            line[i] = first[i * stride];
        NAME(complex_line)(plan, line, is_forward);
        for (int64_t i = 0; i < n; i++)
            first[i * stride] = scale == 1 ? line[i] : (CX){ line[i].r * scale, line[i].i * scale };
    }
}

/* Lines with a large prime in them go by Bluestein's way, as complex ones. */
static void NAME(reals_by_complex)(Arena *arena, const REAL *in, CX *out, int64_t nlines, int64_t n)
{
    NAME(Plan) *plan = NAME(plan_new)(arena, n, false);
    CX *line = ARENA_ARRAY(arena, CX, n);
    for (int64_t l = 0; l < nlines; l++) {
        for (int64_t i = 0; i < n; i++)
            line[i] = (CX){ in[l * n + i], 0 };
        NAME(complex_line)(plan, line, true);
        memcpy(out + l * (n / 2 + 1), line, sizeof *line * (size_t)(n / 2 + 1));
    }
}

static void NAME(real_lines)(Arena *arena, const REAL *in, CX *out, int64_t nlines, int64_t n)
{
    int64_t kept = n / 2 + 1;
    if (bluestein_size(n)) {
        NAME(reals_by_complex)(arena, in, out, nlines, n);
        return;
    }
    NAME(Plan) *plan = NAME(plan_new)(arena, n, true);
    REAL *line = ARENA_ARRAY(arena, REAL, n);
    for (int64_t l = 0; l < nlines; l++) {
        memcpy(line, in + l * n, sizeof *line * (size_t)n);
        NAME(real_line)(plan, line, true);
        CX *to = out + l * kept;
        to[0] = (CX){ line[0], 0 };
        for (int64_t i = 1; i < kept; i++)
            to[i] = (CX){ line[2 * i - 1], 2 * i < n ? line[2 * i] : 0 };
    }
}

static void NAME(lines_to_real)(Arena *arena, const CX *in, REAL *out, int64_t nlines, int64_t n,
                                REAL scale)
{
    int64_t kept = n / 2 + 1;
    bool by_complex = bluestein_size(n) != 0;
    NAME(Plan) *plan = NAME(plan_new)(arena, n, !by_complex);
    CX *whole = ARENA_ARRAY(arena, CX, n);
    REAL *line = (REAL *)whole;
    for (int64_t l = 0; l < nlines; l++) {
        const CX *from = in + l * kept;
        for (int64_t i = 0; i < n && by_complex; i++)
            whole[i] = i < kept ? from[i] : (CX){ from[n - i].r, -from[n - i].i };
        for (int64_t i = 1; i < kept && !by_complex; i++) {
            line[2 * i - 1] = from[i].r;
            if (2 * i < n)
                line[2 * i] = from[i].i;
        }
        if (by_complex) {
            NAME(complex_line)(plan, whole, false);
        } else {
            line[0] = from[0].r;
            NAME(real_line)(plan, line, false);
        }
        for (int64_t i = 0; i < n; i++)
            out[l * n + i] = (by_complex ? whole[i].r : line[i]) * scale;
    }
}

/* The whole operation.  dims are the result's, or the operand's where that is complex and the
 * result is not; the last `naxes` are transformed. */
static void NAME(transform)(Arena *arena, int type, int naxes, int rank, const int64_t *in_dims,
                            const int64_t *out_dims, const void *in, void *out)
{
    bool is_forward = type == FFT || type == RFFT;
    const int64_t *dims = type == IRFFT ? in_dims : out_dims;
    int64_t count = 1, points = 1, n = type == RFFT ? in_dims[rank - 1] : out_dims[rank - 1];
    for (int d = 0; d < rank; d++)
        count *= dims[d];
    for (int d = rank - naxes; d < rank; d++)
        points *= d == rank - 1 ? n : dims[d];
    if (count == 0 || points == 0)
        return;
    REAL scale = is_forward ? 1 : (REAL)(1.0 / (double)points);
    int64_t lines = count / dims[rank - 1];
    CX *work = type == IRFFT ? ARENA_ARRAY(arena, CX, count) : out;
    if (type == RFFT)
        NAME(real_lines)(arena, in, work, lines, n);
    else
        memcpy(work, in, sizeof *work * (size_t)count);
    int last = type == RFFT || type == IRFFT ? rank - 1 : rank;
    for (int d = rank - naxes; d < last; d++) {
        int64_t stride = 1;
        for (int i = d + 1; i < rank; i++)
            stride *= dims[i];
        bool has_scale = type == IFFT && d == rank - naxes;
        NAME(complex_lines)
        (arena, work, count / dims[d], dims[d], stride, is_forward, has_scale ? scale : 1);
    }
    if (type == IRFFT)
        NAME(lines_to_real)(arena, work, out, lines, n, scale);
}
#undef CX
#undef NAME
#undef REAL
