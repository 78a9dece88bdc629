/* fft_lines.h - all lines of an array, in groups of as many as a vector has lanes.
 *
 * Included by fft_levels.h behind fft_body.h, with the same names, LANES, and if there are several VECTOR
 * and INTEGERS (vectors of LANES numbers that need no alignment, and of as many integers).
 *
 *     in memory: a line behind the other, or side by side --load--> [n] vectors: a lane for each
 * line
 *     --passes--> --store--> in memory again
 *
 * A long line alone is a matrix [n1][n2]: transforms of its columns, side by side; each number
 * multiplied by a root; transforms of its rows, a lane for each, whose results lie side by side again.
 */

#define CX PLAN(Cx)
#define CV NAME(Cv)

#if LANES > 1
/* Numbers of a and b in turn, from the first halves or the second; and every other number. */
/* clang-format off */
#if LANES == 16
#define LOW_HALVES { 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23 }
#define HIGH_HALVES { 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31 }
#define EVEN_ONES { 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30 }
#define ODD_ONES { 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31 }
#elif LANES == 8
#define LOW_HALVES { 0, 8, 1, 9, 2, 10, 3, 11 }
#define HIGH_HALVES { 4, 12, 5, 13, 6, 14, 7, 15 }
#define EVEN_ONES { 0, 2, 4, 6, 8, 10, 12, 14 }
#define ODD_ONES { 1, 3, 5, 7, 9, 11, 13, 15 }
#elif LANES == 4
#define LOW_HALVES { 0, 4, 1, 5 }
#define HIGH_HALVES { 2, 6, 3, 7 }
#define EVEN_ONES { 0, 2, 4, 6 }
#define ODD_ONES { 1, 3, 5, 7 }
#else
#define LOW_HALVES { 0, 2 }
#define HIGH_HALVES { 1, 3 }
#define EVEN_ONES { 0, 2 }
#define ODD_ONES { 1, 3 }
#endif
/* clang-format on */
#define MIX(a, b, which) __builtin_shuffle(a, b, (INTEGERS)which)

#if LANES == 16
/* A square of 16 rows, transposed: by pairs and fours of rows within quarters of a vector, which takes less time than
 * to move numbers from quarter to quarter; then by quarters. */
/* clang-format off */
#define LOW_ONES { 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29 }
#define HIGH_ONES { 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31 }
#define LOW_PAIRS { 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29 }
#define HIGH_PAIRS { 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31 }
#define EVEN_QUARTERS { 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27 }
#define ODD_QUARTERS { 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31 }
/* clang-format on */
static inline __attribute__((always_inline)) void NAME(transpose_square)(DATA *rows)
{
    for (int i = 0; i < 16; i += 4) {
        DATA a = MIX(rows[i], rows[i + 1], LOW_ONES), b = MIX(rows[i], rows[i + 1], HIGH_ONES);
        DATA c = MIX(rows[i + 2], rows[i + 3], LOW_ONES),
             d = MIX(rows[i + 2], rows[i + 3], HIGH_ONES);
        rows[i] = MIX(a, c, LOW_PAIRS), rows[i + 1] = MIX(a, c, HIGH_PAIRS);
        rows[i + 2] = MIX(b, d, LOW_PAIRS), rows[i + 3] = MIX(b, d, HIGH_PAIRS);
    }
    for (int i = 0; i < 4; i++) {
        DATA a = MIX(rows[i], rows[i + 4], EVEN_QUARTERS),
             b = MIX(rows[i], rows[i + 4], ODD_QUARTERS);
        DATA c = MIX(rows[i + 8], rows[i + 12], EVEN_QUARTERS);
        DATA d = MIX(rows[i + 8], rows[i + 12], ODD_QUARTERS);
        rows[i] = MIX(a, c, EVEN_QUARTERS), rows[i + 8] = MIX(a, c, ODD_QUARTERS);
        rows[i + 4] = MIX(b, d, EVEN_QUARTERS), rows[i + 12] = MIX(b, d, ODD_QUARTERS);
    }
}
#undef LOW_ONES
#undef HIGH_ONES
#undef LOW_PAIRS
#undef HIGH_PAIRS
#undef EVEN_QUARTERS
#undef ODD_QUARTERS
#else
/* A square of LANES rows, transposed: as often as halving LANES comes to 1, the rows of both halves are
 * put in turn. */
static inline __attribute__((always_inline)) void NAME(transpose_square)(DATA *rows)
{
    for (int left = LANES; left > 1; left /= 2) {
        DATA mixed[LANES];
        for (int i = 0; i < LANES / 2; i++) {
            mixed[2 * i] = MIX(rows[i], rows[i + LANES / 2], LOW_HALVES);
            mixed[2 * i + 1] = MIX(rows[i], rows[i + LANES / 2], HIGH_HALVES);
        }
        for (int i = 0; i < LANES; i++)
            rows[i] = mixed[i];
    }
}
#endif
#endif

/* n numbers of each of LANES lines, which begin at rows[]. */
static void NAME(load_rows)(REAL *const *rows, int64_t n, DATA *to)
{
    int64_t i = 0;
#if LANES > 1
    for (; i + LANES <= n; i += LANES) {
        DATA square[LANES];
        for (int l = 0; l < LANES; l++)
            square[l] = *(const VECTOR *)(rows[l] + i);
        NAME(transpose_square)(square);
        for (int l = 0; l < LANES; l++)
            to[i + l] = square[l];
        if (i + LANES < n && i + 2 * LANES > n) /* the last numbers with some of those before */
            i = n - 2 * LANES;
    }
#endif
    for (; i < n; i++)
        for (int l = 0; l < LANES; l++)
            ((REAL *)&to[i])[l] = rows[l][i];
}

#if LANES > 1
/* Are rows so far apart that the same place of each has the same place in the first cache, which has fewer than a
 * vector has lanes? */
static bool NAME(are_crowded)(REAL *const *rows)
{
    enum { ALIKE = 4096, LINE = 64 };
    size_t apart = (size_t)(rows[1] - rows[0]) * sizeof(REAL) % ALIKE;
    return apart <= LINE || apart >= ALIKE - LINE;
}

/* Squares side by side, of crowded rows: row by row. */
enum { NAME(ASIDE) = 8 };
static void NAME(store_squares)(const DATA *from, int64_t at, REAL *const *rows, int here)
{
    DATA aside[LANES][NAME(ASIDE)];
    for (int k = 0; k < NAME(ASIDE); k++) {
        DATA square[LANES];
        for (int l = 0; l < LANES; l++)
            square[l] = from[k * LANES + l];
        NAME(transpose_square)(square);
        for (int l = 0; l < LANES; l++)
            aside[l][k] = square[l];
    }
    for (int l = 0; l < here; l++)
        for (int k = 0; k < NAME(ASIDE); k++)
            *(VECTOR *)(rows[l] + at + k * LANES) = aside[l][k];
}
#endif

/* And back, of the first `here` of them. */
static void NAME(store_rows)(const DATA *from, int64_t n, REAL *const *rows, int here)
{
    int64_t i = 0;
#if LANES > 1
    for (; NAME(are_crowded)(rows) && i + NAME(ASIDE) * LANES <= n; i += NAME(ASIDE) * LANES)
        NAME(store_squares)(from + i, i, rows, here);
    for (; i + LANES <= n; i += LANES) {
        DATA square[LANES];
        for (int l = 0; l < LANES; l++)
            square[l] = from[i + l];
        NAME(transpose_square)(square);
        for (int l = 0; l < here; l++)
            *(VECTOR *)(rows[l] + i) = square[l];
        if (i + LANES < n && i + 2 * LANES > n)
            i = n - 2 * LANES;
    }
#endif
    for (; i < n; i++)
        for (int l = 0; l < here; l++)
            rows[l][i] = ((const REAL *)&from[i])[l];
}

#if LANES > 1
/* The first `count` numbers at an address, of which there may be none or more than a vector has; then zeros
 * follow. */
static inline DATA NAME(load_some)(const REAL *at, int count)
{
    count = count < 0 ? 0 : count < LANES ? count : LANES;
#ifdef SOME
    return (DATA)SOME(maskz_loadu)((SOME_MASK)((1u << count) - 1), at);
#else
    DATA all = { 0 };
    for (int l = 0; l < count; l++)
        all[l] = at[l];
    return all;
#endif
}

static inline void NAME(store_some)(REAL *at, int count, DATA all)
{
    count = count < 0 ? 0 : count < LANES ? count : LANES;
#ifdef SOME
    SOME(mask_storeu)(at, (SOME_MASK)((1u << count) - 1), all);
#else
    for (int l = 0; l < count; l++)
        at[l] = all[l];
#endif
}
#endif

/* Complex numbers of `here` lines side by side, `stride` complex numbers from one to the next. */
static void NAME(load_columns)(const REAL *from, int64_t n, int64_t stride, int here, CV *to)
{
#if LANES > 1
    bool is_full = here == LANES;
    for (int64_t i = 0; i < n; i++, from += 2 * stride) {
        DATA a = is_full ? *(const VECTOR *)from : NAME(load_some)(from, 2 * here);
        DATA b = is_full ? *(const VECTOR *)(from + LANES)
                         : NAME(load_some)(from + LANES, 2 * here - LANES);
        to[i] = (CV){ MIX(a, b, EVEN_ONES), MIX(a, b, ODD_ONES) };
    }
#else
    (void)here; /* a line at a time */
    for (int64_t i = 0; i < n; i++, from += 2 * stride)
        to[i] = (CV){ from[0], from[1] };
#endif
}

static void NAME(store_columns)(const CV *from, int64_t n, int64_t stride, int here, REAL *to)
{
#if LANES > 1
    bool is_full = here == LANES;
    for (int64_t i = 0; i < n; i++, to += 2 * stride) {
        DATA a = MIX(from[i].r, from[i].i, LOW_HALVES), b = MIX(from[i].r, from[i].i, HIGH_HALVES);
        if (is_full) {
            *(VECTOR *)to = a;
            *(VECTOR *)(to + LANES) = b;
        } else {
            NAME(store_some)(to, 2 * here, a);
            NAME(store_some)(to + LANES, 2 * here - LANES, b);
        }
    }
#else
    (void)here;
    for (int64_t i = 0; i < n; i++, to += 2 * stride)
        to[0] = from[i].r, to[1] = from[i].i;
#endif
}

static void NAME(scale)(DATA *at, int64_t n, double by)
{
    if (by != 1)
        for (int64_t i = 0; i < n; i++)
            at[i] *= (REAL)by;
}

/* Where `here` lines begin that are n numbers apart; the last one stands for those that are not
 * there. */
static void NAME(rows_at)(const REAL *first, int64_t n, int here, REAL **rows)
{
    for (int l = 0; l < LANES; l++)
        rows[l] = (REAL *)first + (l < here ? l : here - 1) * n;
}

/* ---- groups ---- */

/* How many vectors a group works in: its lines, and the room of their passes. */
static int64_t NAME(work)(const FftLines *f)
{
    return 2 * (f->n + 2) + 2 * PLAN(room)(f->plan);
}

static void NAME(complex_group)(const FftLines *f, int64_t first, int here, void *room_at)
{
    DATA *work = room_at;
    const PLAN(Plan) *plan = f->plan;
    int64_t n = f->n, stride = f->stride;
    int64_t row = stride == 1 ? n : stride, in_row = row + f->gap_in, out_row = row + f->gap_out;
    int64_t nrow = stride == 1 ? first : first / stride * n, at = stride == 1 ? 0 : first % stride;
    const REAL *in = (const REAL *)f->in + 2 * (nrow * in_row + at);
    REAL *out = (REAL *)f->out + 2 * (nrow * out_row + at), *rows[LANES];
    CV *lines = (CV *)work, *room = lines + n;
    NAME(rows_at)(in, 2 * in_row, here, rows);
    if (stride == 1)
        NAME(load_rows)(rows, 2 * n, work);
    else
        NAME(load_columns)(in, n, in_row, here, lines);
    lines = NAME(complex_line)(plan, lines, room, f->is_forward);
    NAME(scale)((DATA *)lines, 2 * n, f->scale);
    NAME(rows_at)(out, 2 * out_row, here, rows);
    if (stride == 1)
        NAME(store_rows)((DATA *)lines, 2 * n, rows, here);
    else
        NAME(store_columns)(lines, n, out_row, here, out);
}

/* Reals to the first half of their transform, and one more. */
static void NAME(real_group)(const FftLines *f, int64_t first, int here, void *room_at)
{
    DATA *work = room_at;
    const PLAN(Plan) *plan = f->plan;
    int64_t n = f->n, kept = n / 2 + 1;
    REAL *rows[LANES];
    DATA *line = plan->is_real ? work + 1 : work; /* so that r1 i1 ... lie where they belong */
    NAME(rows_at)((const REAL *)f->in + first * n, n, here, rows);
    NAME(load_rows)(rows, n, line);
    DATA *numbers;
    if (plan->is_real) {
        line = NAME(real_line)(plan, line, work + n + 2, true);
        numbers = line - 1;
        numbers[0] = line[0];
        numbers[1] = (DATA){ 0 };
        if (n % 2 == 0)
            numbers[n + 1] = (DATA){ 0 };
    } else {
        CV *complex = (CV *)work;
        for (int64_t i = n - 1; i >= 0; i--)
            complex[i] = (CV){ work[i], (DATA){ 0 } };
        numbers = (DATA *)NAME(complex_line)(plan, complex, complex + n, true);
    }
    NAME(rows_at)((const REAL *)f->out + 2 * first * kept, 2 * kept, here, rows);
    NAME(store_rows)(numbers, 2 * kept, rows, here);
}

static void NAME(to_real_group)(const FftLines *f, int64_t first, int here, void *room_at)
{
    DATA *work = room_at;
    const PLAN(Plan) *plan = f->plan;
    int64_t n = f->n, kept = n / 2 + 1;
    REAL *rows[LANES];
    DATA *line = plan->is_real ? work + 1 : work;
    NAME(rows_at)((const REAL *)f->in + 2 * first * kept, 2 * kept, here, rows);
    NAME(load_rows)(rows, 2 * kept, work);
    if (plan->is_real) {
        line[0] = work[0];
        line = NAME(real_line)(plan, line, work + n + 2, false);
    } else {
        CV *numbers = (CV *)work;
        for (int64_t i = kept; i < n; i++)
            numbers[i] = (CV){ numbers[n - i].r, -numbers[n - i].i };
        numbers = NAME(complex_line)(plan, numbers, numbers + n, false);
        for (int64_t i = 0; i < n; i++)
            work[i] = numbers[i].r;
    }
    NAME(scale)(line, n, f->scale);
    NAME(rows_at)((const REAL *)f->out + first * n, n, here, rows);
    NAME(store_rows)(line, n, rows, here);
}

/* Columns of a long line: of its n1 rows of n2 numbers, `here` columns from `first` on, each number
 * then multiplied by the root of its row and column. */
static void NAME(column_group)(const FftLines *f, int64_t first, int here, void *room_at)
{
    DATA *work = room_at;
    const PLAN(Plan) *plan = f->plan;
    int64_t n1 = plan->n, n2 = f->stride;
    const CX *begins = (const CX *)f->begins + first / LANES * n1;
    const REAL *twiddles = f->twiddles;
    CV *lines = (CV *)work;
    NAME(load_columns)((const REAL *)f->in + 2 * first, n1, n2, here, lines);
    lines = NAME(complex_line)(plan, lines, lines + n1, f->is_forward);
    for (int64_t k = 0; k < n1; k++) {
        CX begin = begins[k];
        CV more, x = lines[k];
        memcpy(&more, twiddles + 2 * LANES * k, sizeof more);
        CV by = { begin.r * more.r - begin.i * more.i, begin.r * more.i + begin.i * more.r };
        lines[k] = f->is_forward ? (CV){ x.r * by.r + x.i * by.i, x.i * by.r - x.r * by.i }
                                 : (CV){ x.r * by.r - x.i * by.i, x.r * by.i + x.i * by.r };
    }
    NAME(store_columns)(lines, n1, n2, here, (REAL *)f->out + 2 * first);
}

/* Rows of a long line: number k of row r goes to place k * n1 + r. */
static void NAME(row_group)(const FftLines *f, int64_t first, int here, void *room_at)
{
    DATA *work = room_at;
    const PLAN(Plan) *plan = f->plan;
    int64_t n1 = f->stride, n2 = plan->n;
    REAL *rows[LANES];
    CV *lines = (CV *)work;
    NAME(rows_at)((const REAL *)f->in + 2 * first * n2, 2 * n2, here, rows);
    NAME(load_rows)(rows, 2 * n2, work);
    lines = NAME(complex_line)(plan, lines, lines + n2, f->is_forward);
    NAME(scale)((DATA *)lines, 2 * n2, f->scale);
    NAME(store_columns)(lines, n2, n1, here, (REAL *)f->out + 2 * first);
}

/* Lines that lie side by side, or one behind the other, make groups together; others do not. */
static int64_t NAME(groups)(const FftLines *f)
{
    int64_t span = f->kind == FFT_COMPLEX && f->stride > 1 ? f->stride : f->nlines;
    return f->nlines / span * ((span + LANES - 1) / LANES);
}

static void NAME(group)(const FftLines *f, int64_t number, void *work)
{
    static FftGroup *const kinds[] = {
        [FFT_COMPLEX] = NAME(complex_group), [FFT_REAL] = NAME(real_group),
        [FFT_TO_REAL] = NAME(to_real_group), [FFT_COLUMNS] = NAME(column_group),
        [FFT_ROWS] = NAME(row_group),
    };
    int64_t span = f->kind == FFT_COMPLEX && f->stride > 1 ? f->stride : f->nlines;
    int64_t per_span = (span + LANES - 1) / LANES, within = number % per_span * LANES;
    int here = span - within < LANES ? (int)(span - within) : LANES;
    kinds[f->kind](f, number / per_span * span + within, here, work);
}

/* ---- steps of a long line, number by number ---- */

static inline __attribute__((always_inline)) CX NAME(turn)(CX v, CX w, bool is_forward)
{
    return is_forward ? (CX){ v.r * w.r + v.i * w.i, v.i * w.r - v.r * w.i }
                      : (CX){ v.r * w.r - v.i * w.i, v.r * w.i + v.i * w.r };
}

static inline __attribute__((always_inline)) void
NAME(turn_all)(const CX *in, const CX *by, CX *out, int64_t from, int64_t to, bool is_forward)
{
    for (int64_t i = from; i < to; i++)
        out[i] = NAME(turn)(in[i], by[i], is_forward);
}

static void NAME(turn_some)(const CX *in, const CX *by, CX *out, int64_t from, int64_t to,
                            bool is_forward)
{
    if (is_forward)
        NAME(turn_all)(in, by, out, from, to, true);
    else
        NAME(turn_all)(in, by, out, from, to, false);
}

/* A convolution: the line by its chirp, and zeros; its transform by the filter's, which is even, so
 * that it is conjugated with it; the line again. */
static void NAME(spread)(const FftStep *s, int64_t from, int64_t to)
{
    int64_t n = s->plan->n, end = to < n ? to : n;
    CX *out = s->out;
    NAME(turn_some)(s->in, s->plan->chirp, out, from, end, s->is_forward);
    from = from > n ? from : n;
    if (from < to)
        memset(out + from, 0, sizeof *out * (size_t)(to - from));
}

static void NAME(filter)(const FftStep *s, int64_t from, int64_t to)
{
    NAME(turn_some)(s->in, s->plan->filter, s->out, from, to, !s->is_forward);
}

static void NAME(gather)(const FftStep *s, int64_t from, int64_t to)
{
    CX *out = s->out;
    REAL scale = (REAL)s->scale;
    NAME(turn_some)(s->in, s->plan->chirp, out, from, to, s->is_forward);
    for (int64_t i = from; s->scale != 1 && i < to; i++)
        out[i] = (CX){ out[i].r * scale, out[i].i * scale };
}

/* A line of 2 n reals is one of n complex numbers, its even and odd places.  From that one's transform z
 * to the first n + 1 numbers x of the reals'; k and n - k come of the same two. */
static void NAME(reals_of_half)(const FftStep *s, int64_t from, int64_t to)
{
    int64_t n = s->plan->n;
    const CX *z = s->in, *roots = s->plan->halves;
    CX *x = s->out;
    for (int64_t k = from; k < to; k++) {
        CX a = z[k], b = z[k ? n - k : 0], root = roots[k];
        REAL half = (REAL)0.5;
        CX even = { half * (a.r + b.r), half * (a.i - b.i) };
        CX odd = { half * (a.i + b.i), half * (b.r - a.r) };
        CX more = NAME(turn)(odd, root, true);
        x[k] = (CX){ even.r + more.r, even.i + more.i };
        x[n - k] = (CX){ even.r - more.r, more.i - even.i };
    }
}

/* And back, twice as large; the first and the last of x count as reals. */
static void NAME(half_of_reals)(const FftStep *s, int64_t from, int64_t to)
{
    int64_t n = s->plan->n;
    const CX *x = s->in, *roots = s->plan->halves;
    CX *z = s->out;
    for (int64_t k = from; k < to; k++) {
        CX a = x[k], b = x[n - k];
        if (k == 0)
            a.i = b.i = 0;
        CX sum = { a.r + b.r, a.i - b.i }, rest = { a.r - b.r, a.i + b.i };
        CX odd = NAME(turn)(rest, roots[k], false);
        z[k] = (CX){ sum.r - odd.i, sum.i + odd.r };
        if (k)
            z[n - k] = (CX){ sum.r + odd.i, odd.r - sum.i };
    }
}

static void NAME(of_reals)(const FftStep *s, int64_t from, int64_t to)
{
    const REAL *in = s->in;
    CX *out = s->out;
    for (int64_t i = from; i < to; i++)
        out[i] = (CX){ in[i], 0 };
}

/* An odd number of them of their first half; the first counts as a real. */
static void NAME(mirror)(const FftStep *s, int64_t from, int64_t to)
{
    int64_t n = s->plan->n;
    const CX *in = s->in;
    CX *out = s->out;
    for (int64_t i = from; i < to; i++)
        out[i] = i == 0      ? (CX){ in[0].r, 0 }
                 : 2 * i < n ? in[i]
                             : (CX){ in[n - i].r, -in[n - i].i };
}

static void NAME(to_reals)(const FftStep *s, int64_t from, int64_t to)
{
    const CX *in = s->in;
    REAL *out = s->out;
    for (int64_t i = from; i < to; i++)
        out[i] = in[i].r;
}

static const FftForm NAME(form) = {
    .lanes = LANES,
    .vector = sizeof(DATA),
    .work = NAME(work),
    .groups = NAME(groups),
    .group = NAME(group),
    .spread = NAME(spread),
    .filter = NAME(filter),
    .gather = NAME(gather),
    .reals_of_half = NAME(reals_of_half),
    .half_of_reals = NAME(half_of_reals),
    .of_reals = NAME(of_reals),
    .mirror = NAME(mirror),
    .to_reals = NAME(to_reals),
};

#undef CX
#undef CV
#if LANES > 1
#undef LOW_HALVES
#undef HIGH_HALVES
#undef EVEN_ONES
#undef ODD_ONES
#undef MIX
#endif
