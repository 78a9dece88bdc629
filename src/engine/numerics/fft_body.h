/* fft_body.h - Fourier transforms of as many lines at once as a vector has lanes.
 *
 * Included by fft_levels.h with REAL (float or double), DATA (that, or a vector of LANES of it: one number
 * of each line), PLAN(x) (fft_plan.h) and NAME(x) set.  A line of n = p1 p2 ... numbers goes
 * through one pass per factor.  Every pass does small transforms of p numbers (`small`) and turns
 * their results (or, for a real line going forward, their operands) by roots of unity:
 *
 *     ido  numbers that lie together, l1  groups;  before: [l1][p][ido]  after: [p][l1][ido]
 *
 * A line of reals is kept as r0, r1 i1, r2 i2, ...: its passes do the same small transforms, and
 * use that the other half of the results is the conjugate.
 *
 * Lines of at most FFT_ORDERED numbers are added up in the order of FFTPACK and its descendants (NumPy's, XLA's
 * libraries), so that their last bits are what programs that check themselves with 3 ulp expect.
 *
 * EACH(w) is a vector of w alone, JOINED(x, y, z) is x y + z, rounded once if the instruction set has that. */

#define CX PLAN(Cx)
#if LANES > 1
typedef struct NAME(Cv) {
    DATA r, i;
} NAME(Cv);
#else
typedef CX NAME(Cv);
#endif
#define CV NAME(Cv)
#define INLINE static inline __attribute__((always_inline))

/* ---- small transforms ---- */

INLINE CV NAME(add)(CV a, CV b)
{
    return (CV){ a.r + b.r, a.i + b.i };
}

INLINE CV NAME(sub)(CV a, CV b)
{
    return (CV){ a.r - b.r, a.i - b.i };
}

/* By a quarter of a turn: by i, or by -i going forward. */
INLINE CV NAME(quarter)(CV a, bool is_forward)
{
    return is_forward ? (CV){ a.i, -a.r } : (CV){ -a.i, a.r };
}

INLINE void NAME(small4)(const CV *c, CV *d, bool is_forward)
{
    CV even = NAME(add)(c[0], c[2]), less = NAME(sub)(c[0], c[2]);
    CV odd = NAME(add)(c[1], c[3]), rotated = NAME(quarter)(NAME(sub)(c[1], c[3]), is_forward);
    d[0] = NAME(add)(even, odd);
    d[2] = NAME(sub)(even, odd);
    d[1] = NAME(add)(less, rotated);
    d[3] = NAME(sub)(less, rotated);
}

INLINE void NAME(small8)(const CV *c, CV *d, bool is_forward)
{
    const REAL half = (REAL)0.707106781186547524400844362104849L;
    CV a1 = NAME(add)(c[1], c[5]), a5 = NAME(sub)(c[1], c[5]);
    CV a3 = NAME(add)(c[3], c[7]), a7 = NAME(quarter)(NAME(sub)(c[3], c[7]), is_forward);
    CV sum = NAME(add)(a1, a3), rotated = NAME(quarter)(NAME(sub)(a1, a3), is_forward);
    CV p = NAME(add)(a5, a7), q = NAME(sub)(a5, a7);
    CV eighth, three; /* p by one eighth of a turn, q by three */
    if (is_forward) {
        eighth = (CV){ half * (p.r + p.i), half * (p.i - p.r) };
        three = (CV){ half * (q.i - q.r), half * (-q.r - q.i) };
    } else {
        eighth = (CV){ half * (p.r - p.i), half * (p.i + p.r) };
        three = (CV){ half * (-q.r - q.i), half * (q.r - q.i) };
    }
    CV a0 = NAME(add)(c[0], c[4]), a4 = NAME(sub)(c[0], c[4]);
    CV a2 = NAME(add)(c[2], c[6]), a6 = NAME(quarter)(NAME(sub)(c[2], c[6]), is_forward);
    CV s = NAME(add)(a0, a2), t = NAME(sub)(a0, a2), u = NAME(add)(a4, a6), v = NAME(sub)(a4, a6);
    d[0] = NAME(add)(s, sum), d[4] = NAME(sub)(s, sum);
    d[2] = NAME(add)(t, rotated), d[6] = NAME(sub)(t, rotated);
    d[1] = NAME(add)(u, eighth), d[5] = NAME(sub)(u, eighth);
    d[3] = NAME(add)(v, three), d[7] = NAME(sub)(v, three);
}

/* Sums of `several` results side by side: of a's, with cosines, and of b's, with sines. */
typedef struct NAME(Sums) {
    CV a[FFT_SUMS], b[FFT_SUMS];
} NAME(Sums);

/* What a result is made of: sums and differences of numbers that stand as far from both ends, and rows of the
 * pass's weights, [several][half]. */
typedef struct NAME(Terms) {
    const CV *sum, *less;
    const CX *w;
    int several, half;
    FftParts parts;
} NAME(Terms);

INLINE NAME(Sums) NAME(sums_of)(CV first)
{
    NAME(Sums) s;
#pragma GCC unroll 4
    for (int k = 0; k < FFT_SUMS; k++)
        s.a[k] = first, s.b[k] = (CV){ 0 };
    return s;
}

/* Of each sum term j: each product joined to its sum, or rounded first. */
INLINE void NAME(add_term)(NAME(Sums) * s, const NAME(Terms) * t, int j, bool is_joined)
{
    CV x = t->sum[j], y = t->less[j];
#define ADD(to, x, y) to = is_joined ? JOINED(x, EACH(y), to) : to + (y) * (x)
#pragma GCC unroll 4
    for (int k = 0; k < t->several; k++) {
        CX w = t->w[k * t->half + j];
        ADD(s->a[k].r, x.r, w.r);
        if (t->parts == FFT_ALL)
            ADD(s->a[k].i, x.i, w.r);
        if (t->parts != FFT_REAL_OUT)
            ADD(s->b[k].r, y.r, w.i);
        if (t->parts != FFT_REAL_IN)
            ADD(s->b[k].i, y.i, w.i);
    }
#undef ADD
}

INLINE void NAME(add_sums)(NAME(Sums) * s, const NAME(Sums) * more, int several)
{
#pragma GCC unroll 4
    for (int k = 0; k < several; k++) {
        s->a[k] = NAME(add)(s->a[k], more->a[k]);
        s->b[k] = NAME(add)(s->b[k], more->b[k]);
    }
}

/* As accurate as can be: products are joined to their sums, and so many terms are added up by themselves. */
INLINE NAME(Sums) NAME(joined_sums)(CV first, const NAME(Terms) * t)
{
    NAME(Sums) all = NAME(sums_of)(first);
    int end = t->half < FFT_TERMS ? t->half : FFT_TERMS;
    for (int j = 0; j < end; j++)
        NAME(add_term)(&all, t, j, true);
    for (int from = end; from < t->half; from = end) {
        end = from + FFT_TERMS < t->half ? from + FFT_TERMS : t->half;
        NAME(Sums) some = NAME(sums_of)((CV){ 0 });
        for (int j = from; j < end; j++)
            NAME(add_term)(&some, t, j, true);
        NAME(add_sums)(&all, &some, t->several);
    }
    return all;
}

/* In FFTPACK's order: products are rounded; behind the first two, groups of at most `most` are added up. */
INLINE NAME(Sums) NAME(ordered_sums)(CV first, const NAME(Terms) * t, int most)
{
    NAME(Sums) all = NAME(sums_of)(first);
    for (int j = 0; j < 2 && j < t->half; j++)
        NAME(add_term)(&all, t, j, false);
    for (int j = 2, group; j < t->half; j += group) {
        int rest = t->half - j;
        group = most >= 4 && rest >= 4 ? 4 : most >= 2 && rest >= 2 ? 2 : 1;
        NAME(Sums) some = NAME(sums_of)((CV){ 0 });
        for (int i = j; i < j + group; i++)
            NAME(add_term)(&some, t, i, false);
        NAME(add_sums)(&all, &some, t->several);
    }
    return all;
}

/* Results l .. l + several of an odd number p of them, and p - l and so on down.  most: 0 for sums that are
 * joined. */
INLINE void NAME(small_results)(CV first, const NAME(Terms) * t, CV *d, int l, int p, int most,
                                bool is_forward)
{
    NAME(Sums) s = most ? NAME(ordered_sums)(first, t, most) : NAME(joined_sums)(first, t);
#pragma GCC unroll 4
    for (int k = 0; k < t->several; k++) {
        CV a = s.a[k], b = s.b[k];
        CV up = { a.r - b.i, a.i + b.r }, down = { a.r + b.i, a.i - b.r };
        d[l + k] = is_forward ? down : up;
        d[p - l - k] = is_forward ? up : down;
    }
}

/* c[j] and c[p - j] go in together, as their sum (with cosines) and difference (with sines).  Of real
 * numbers, and where only the real parts of results are asked for, half of these need not be added up. */
INLINE void NAME(small_odd_by)(const CV *c, CV *d, int p, const CX *weights, int most,
                               bool is_forward, FftParts parts)
{
    int half = p / 2;
    CV sum[FFT_MOST / 2], less[FFT_MOST / 2], first = c[0], all = c[0];
    for (int j = 0; j < half; j++) {
        sum[j] = NAME(add)(c[j + 1], c[p - 1 - j]);
        less[j] = NAME(sub)(c[j + 1], c[p - 1 - j]);
        all = NAME(add)(all, sum[j]);
    }
    d[0] = all;
    if (parts != FFT_ALL)
        first.i = (DATA){ 0 };
    for (int l = 1, several; l <= half; l += several) {
        several = half - l + 1 < FFT_SUMS ? half - l + 1 : FFT_SUMS;
        NAME(Terms) t = { sum, less, weights + (l - 1) * half, 4, half, parts };
#define CASE(n)                                                                                    \
    case n:                                                                                        \
        t.several = n;                                                                             \
        NAME(small_results)(first, &t, d, l, p, most, is_forward);                                 \
        break;
        switch (several) {
            CASE(1)
            CASE(2)
            CASE(3)
            CASE(4)
        }
#undef CASE
    }
}

/* ODD: of any odd number, with the sums of a long line or (ORDERED) of a short one; KNOWN: where p is known, so that
 * all stays in registers. */
#define ODD(name, parts)                                                                           \
    static __attribute__((noinline)) void NAME(name)(const CV *c, CV *d, int p, const CX *w,       \
                                                     bool is_forward)                              \
    {                                                                                              \
        NAME(small_odd_by)(c, d, p, w, 0, is_forward, parts);                                      \
    }                                                                                              \
    static __attribute__((noinline)) void NAME(name##_ordered)(                                    \
        const CV *c, CV *d, int p, const CX *w, int most, bool is_forward)                         \
    {                                                                                              \
        NAME(small_odd_by)(c, d, p, w, most, is_forward, parts);                                   \
    }
#define KNOWN(p)                                                                                   \
    static __attribute__((noinline)) void NAME(small_##p)(const CV *c, CV *d, const CX *w,         \
                                                          bool is_forward)                         \
    {                                                                                              \
        NAME(small_odd_by)(c, d, p, w, 0, is_forward, FFT_ALL);                                    \
    }
ODD(small_odd, FFT_ALL)
ODD(small_odd_in, FFT_REAL_IN)
ODD(small_odd_out, FFT_REAL_OUT)
KNOWN(7)
KNOWN(11)
KNOWN(13)
#undef ODD
#undef KNOWN

INLINE void NAME(small)(const PLAN(Pass) * pass, int64_t p, bool is_forward, FftParts parts,
                        const CV *c, CV *d)
{
    const CX *w = pass->weights;
    switch (p) {
    case 2:
        d[0] = NAME(add)(c[0], c[1]);
        d[1] = NAME(sub)(c[0], c[1]);
        break;
    case 3: NAME(small_odd_by)(c, d, 3, w, 1, is_forward, parts); break;
    case 4: NAME(small4)(c, d, is_forward); break;
    case 5: NAME(small_odd_by)(c, d, 5, w, 1, is_forward, parts); break;
    case 8: NAME(small8)(c, d, is_forward); break;
    default: {
        int most = pass->is_real ? 4 : p > 11 ? 2 : 1;
        if (pass->is_ordered && parts == FFT_ALL)
            NAME(small_odd_ordered)(c, d, (int)p, w, most, is_forward);
        else if (pass->is_ordered && parts == FFT_REAL_IN)
            NAME(small_odd_in_ordered)(c, d, (int)p, w, most, true);
        else if (pass->is_ordered)
            NAME(small_odd_out_ordered)(c, d, (int)p, w, most, false);
        else if (parts == FFT_REAL_IN)
            NAME(small_odd_in)(c, d, (int)p, w, true);
        else if (parts == FFT_REAL_OUT)
            NAME(small_odd_out)(c, d, (int)p, w, false);
        else if (p == 7)
            NAME(small_7)(c, d, w, is_forward);
        else if (p == 11)
            NAME(small_11)(c, d, w, is_forward);
        else if (p == 13)
            NAME(small_13)(c, d, w, is_forward);
        else
            NAME(small_odd)(c, d, (int)p, w, is_forward);
    }
    }
}

/* By a root of unity; going forward by its conjugate. */
INLINE CV NAME(rotate)(CV v, CX w, bool is_forward)
{
    return is_forward ? (CV){ v.r * w.r + v.i * w.i, v.i * w.r - v.r * w.i }
                      : (CV){ v.r * w.r - v.i * w.i, v.r * w.i + v.i * w.r };
}

/* ---- complex lines ---- */

INLINE void NAME(complex_pass_by)(const PLAN(Pass) * pass, int64_t p, bool is_forward,
                                  const CV *from, CV *to)
{
    int64_t ido = pass->ido, l1 = pass->l1;
    CV c[FFT_MOST], d[FFT_MOST];
    for (int64_t k = 0; k < l1; k++)
        for (int64_t i = 0; i < ido; i++) {
            for (int64_t j = 0; j < p; j++)
                c[j] = from[i + ido * (j + p * k)];
            NAME(small)(pass, p, is_forward, FFT_ALL, c, d);
            to[i + ido * k] = d[0];
            for (int64_t j = 1; j < p; j++)
                to[i + ido * (k + l1 * j)] =
                    i ? NAME(rotate)(d[j], pass->twiddles[(j - 1) * (ido - 1) + i - 1], is_forward)
                      : d[j];
        }
}

INLINE void NAME(complex_pass_to)(const PLAN(Pass) * pass, bool is_forward, const CV *from, CV *to)
{
    switch (pass->p) {
    case 2: NAME(complex_pass_by)(pass, 2, is_forward, from, to); break;
    case 3: NAME(complex_pass_by)(pass, 3, is_forward, from, to); break;
    case 4: NAME(complex_pass_by)(pass, 4, is_forward, from, to); break;
    case 5: NAME(complex_pass_by)(pass, 5, is_forward, from, to); break;
    case 8: NAME(complex_pass_by)(pass, 8, is_forward, from, to); break;
    default: NAME(complex_pass_by)(pass, pass->p, is_forward, from, to); break;
    }
}

static void NAME(complex_pass)(const PLAN(Pass) * pass, bool is_forward, const CV *from, CV *to)
{
    if (is_forward)
        NAME(complex_pass_to)(pass, true, from, to);
    else
        NAME(complex_pass_to)(pass, false, from, to);
}

/* The results, which are where the line was or in its room. */
static CV *NAME(passes)(const PLAN(Plan) * plan, CV *line, CV *room, bool is_forward)
{
    CV *from = line, *to = room;
    for (int i = 0; i < plan->npasses; i++) {
        NAME(complex_pass)(&plan->passes[i], is_forward, from, to);
        CV *other = from;
        from = to;
        to = other;
    }
    return from;
}

/* The transform, which is where the line was or in its room: PLAN(room) numbers. */
static CV *NAME(complex_line)(const PLAN(Plan) * plan, CV *line, CV *room, bool is_forward)
{
    if (!plan->wide)
        return NAME(passes)(plan, line, room, is_forward);
    int64_t n = plan->n, m = plan->wide->n;
    for (int64_t i = 0; i < m; i++)
        room[i] = i < n ? NAME(rotate)(line[i], plan->chirp[i], is_forward) : (CV){ 0 };
    CV *wide = NAME(passes)(plan->wide, room, room + m, true);
    for (int64_t i = 0; i < m; i++) /* the filter is even, so its transform is conjugated with it */
        wide[i] = NAME(rotate)(wide[i], plan->filter[i], !is_forward);
    wide = NAME(passes)(plan->wide, wide, wide == room ? room + m : room, false);
    for (int64_t i = 0; i < n; i++)
        line[i] = NAME(rotate)(wide[i], plan->chirp[i], is_forward);
    return line;
}

/* ---- lines of reals ---- */

/* The last column of an even number of them, where a turn is an eighth or a quarter. */
static void NAME(forward_last)(const PLAN(Pass) * pass, int64_t k, const DATA *from, DATA *to)
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
    DATA im = -half * (IN(1) + IN(3)), re = half * (IN(1) - IN(3));
    OUT(ido - 1, 0) = IN(0) + re;
    OUT(ido - 1, 2) = IN(0) - re;
    OUT(0, 3) = im + IN(2);
    OUT(0, 1) = im - IN(2);
#undef IN
#undef OUT
}

static void NAME(backward_last)(const PLAN(Pass) * pass, int64_t k, const DATA *from, DATA *to)
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
    DATA im = IN(0, 1) + IN(0, 3), less = IN(0, 3) - IN(0, 1);
    DATA re = IN(ido - 1, 0) + IN(ido - 1, 2), apart = IN(ido - 1, 0) - IN(ido - 1, 2);
    OUT(0) = re + re;
    OUT(1) = root * (apart - im);
    OUT(2) = less + less;
    OUT(3) = -root * (apart + im);
#undef IN
#undef OUT
}

/* Column i of group k: of the results of a small transform the first half is written, and of the
 * other half the conjugates, backwards. */
INLINE void NAME(real_store)(const PLAN(Pass) * pass, int64_t p, int64_t k, int64_t i, const CV *d,
                             DATA *to)
{
    int64_t ido = pass->ido, back = ido - i;
    DATA *group = to + ido * p * k;
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

INLINE void NAME(real_load)(const PLAN(Pass) * pass, int64_t p, int64_t k, int64_t i,
                            const DATA *from, CV *c)
{
    int64_t ido = pass->ido, back = ido - i;
    const DATA *group = from + ido * p * k;
    if (i == 0) {
        c[0] = (CV){ group[0], (DATA){ 0 } };
        for (int64_t j = 1; j <= p / 2; j++) {
            c[j] = (CV){ group[ido - 1 + ido * (2 * j - 1)],
                         2 * j < p ? group[ido * 2 * j] : (DATA){ 0 } };
            c[p - j] = 2 * j < p ? (CV){ c[j].r, -c[j].i } : c[j];
        }
        return;
    }
    for (int64_t j = 0; 2 * j < p; j++)
        c[j] = (CV){ group[i - 1 + ido * 2 * j], group[i + ido * 2 * j] };
    for (int64_t j = 1; j <= p / 2; j++)
        c[p - j] = (CV){ group[back - 1 + ido * (2 * j - 1)], -group[back + ido * (2 * j - 1)] };
}

INLINE void NAME(forward_pass_by)(const PLAN(Pass) * pass, int64_t p, const DATA *from, DATA *to)
{
    int64_t ido = pass->ido, l1 = pass->l1, each = (ido - 1) / 2;
    CV c[FFT_MOST], d[FFT_MOST];
    for (int64_t k = 0; k < l1; k++) {
        for (int64_t i = 0; i < ido - (ido % 2 == 0); i += 2) {
            for (int64_t j = 0; j < p; j++) {
                const DATA *at = from + i + ido * (k + l1 * j);
                c[j] = i ? (CV){ at[-1], at[0] } : (CV){ at[0], (DATA){ 0 } };
                if (i && j)
                    c[j] = NAME(rotate)(c[j], pass->twiddles[(j - 1) * each + i / 2 - 1], true);
            }
            if (i)
                NAME(small)(pass, p, true, FFT_ALL, c, d);
            else
                NAME(small)(pass, p, true, FFT_REAL_IN, c, d);
            NAME(real_store)(pass, p, k, i, d, to);
        }
        if (ido % 2 == 0)
            NAME(forward_last)(pass, k, from, to);
    }
}

static void NAME(forward_pass)(const PLAN(Pass) * pass, const DATA *from, DATA *to)
{
    switch (pass->p) {
    case 2: NAME(forward_pass_by)(pass, 2, from, to); break;
    case 3: NAME(forward_pass_by)(pass, 3, from, to); break;
    case 4: NAME(forward_pass_by)(pass, 4, from, to); break;
    case 5: NAME(forward_pass_by)(pass, 5, from, to); break;
    default: NAME(forward_pass_by)(pass, pass->p, from, to); break;
    }
}

INLINE void NAME(backward_pass_by)(const PLAN(Pass) * pass, int64_t p, const DATA *from, DATA *to)
{
    int64_t ido = pass->ido, l1 = pass->l1, each = (ido - 1) / 2;
    CV c[FFT_MOST], d[FFT_MOST];
    for (int64_t k = 0; k < l1; k++) {
        for (int64_t i = 0; i < ido - (ido % 2 == 0); i += 2) {
            NAME(real_load)(pass, p, k, i, from, c);
            if (i)
                NAME(small)(pass, p, false, FFT_ALL, c, d);
            else
                NAME(small)(pass, p, false, FFT_REAL_OUT, c, d);
            for (int64_t j = 0; j < p; j++) {
                DATA *at = to + i + ido * (k + l1 * j);
                if (i && j)
                    d[j] = NAME(rotate)(d[j], pass->twiddles[(j - 1) * each + i / 2 - 1], false);
                *at = i ? d[j].i : d[j].r;
                if (i)
                    at[-1] = d[j].r;
            }
        }
        if (ido % 2 == 0)
            NAME(backward_last)(pass, k, from, to);
    }
}

static void NAME(backward_pass)(const PLAN(Pass) * pass, const DATA *from, DATA *to)
{
    switch (pass->p) {
    case 2: NAME(backward_pass_by)(pass, 2, from, to); break;
    case 3: NAME(backward_pass_by)(pass, 3, from, to); break;
    case 4: NAME(backward_pass_by)(pass, 4, from, to); break;
    case 5: NAME(backward_pass_by)(pass, 5, from, to); break;
    default: NAME(backward_pass_by)(pass, pass->p, from, to); break;
    }
}

/* Reals to r0, r1 i1, r2 i2, ..., or back.  The results, which are where the line was or in its room: n more. */
static DATA *NAME(real_line)(const PLAN(Plan) * plan, DATA *line, DATA *room, bool is_forward)
{
    DATA *from = line, *to = room;
    for (int i = 0; i < plan->npasses; i++) {
        if (is_forward)
            NAME(forward_pass)(&plan->passes[plan->npasses - 1 - i], from, to);
        else
            NAME(backward_pass)(&plan->passes[i], from, to);
        DATA *other = from;
        from = to;
        to = other;
    }
    return from;
}
#undef CX
#undef CV
#undef INLINE
