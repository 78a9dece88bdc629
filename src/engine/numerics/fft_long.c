/* fft_long.c - Fourier transforms of long lines, which lie one behind the other.
 *
 * A long line is a matrix [n1][n2] of vectors' worth of short ones (fft_lines.h): its columns are
 * transformed, each number is multiplied by a root, its rows are transformed.  So every vector is full
 * however few lines there are, and a group of columns stays in the first caches.  A length without two
 * such factors is a convolution (fft_plan.h) of a length that has them.  Reals go as half as many complex
 * numbers; an odd number of them as complex ones.
 *
 * Many lines go one to a worker; of a few, each step is spread over the workers.  A number is computed
 * alike both ways, and which of such lines is long follows from its length and from how many there are. */
#include "engine/memory/thread_memory.h"
#include "engine/numerics/fft.h"
#include "engine/slices.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { LONG = 4096 };
enum { KEPT = 16 << 20 }; /* threads keep blocks up to this many bytes */

static void *block_get(Arena *arena, ThreadMemoryUse use, size_t bytes)
{
    return bytes <= KEPT ? thread_memory_get(use, bytes) : arena_alloc(arena, bytes);
}

static int64_t vectors_of(int64_t n, int lanes)
{
    return (n + lanes - 1) / lanes;
}

/* The shorter side of a line as a matrix: at least as long as a vector, or half of one where the line would have a
 * vector of lines for itself; 0: there is none.  Of those that are not far from a square, the one whose last vectors
 * are the fullest. */
static int64_t short_side(const FftType *type, int64_t n)
{
    enum { MOST_TIMES = 4, WORTH = 32 };
    int lanes = fft_form_of(type)->lanes;
    int64_t shortest = n >= LONG ? lanes : lanes / 2, best = 0, least = 0;
    for (int64_t side = (int64_t)sqrt((double)n);
         side >= shortest && (!best || n <= MOST_TIMES * side * side); side--) {
        if (n % side)
            continue;
        int64_t other = n / side;
        int64_t work = vectors_of(other, lanes) * side + vectors_of(side, lanes) * other;
        if (!best || work + work / WORTH < least)
            best = side, least = work;
    }
    return best;
}

bool fft_is_long(const FftType *type, int64_t n, bool is_real, int64_t nlines)
{
    int64_t count = is_real && n % 2 == 0 ? n / 2 : n;
    bool is_alone = nlines * 4 <= fft_form_of(type)->lanes;
    return count >= LONG || (is_alone && short_side(type, count));
}

/* ---- a line, step by step ---- */

/* What the steps of one line share. */
typedef struct Line {
    const Frame *frame; /* NULL: this thread does it alone */
    const FftType *type;
    const FftForm *form;
    bool is_forward;
    void *between; /* as many numbers as the matrix has */
    bool has_failed;
} Line;

typedef struct Step {
    FftStepFn *fn;
    FftStep of;
    int64_t n;
} Step;

enum { STEP_EACH = 8192 };

static void step_slice(void *user, int64_t slice)
{
    const Step *s = user;
    int64_t from = slice * STEP_EACH, to = from + STEP_EACH;
    s->fn(&s->of, from, to < s->n ? to : s->n);
}

static void step_run(const Line *line, FftStepFn *fn, int64_t n, FftStep of)
{
    of.is_forward = line->is_forward;
    Step s = { fn, of, n };
    slices_run(line->frame, (n + STEP_EACH - 1) / STEP_EACH, step_slice, &s);
}

/* in may be out. */
static void matrix_run(Line *line, const FftLong *plan, bool is_forward, const void *in, void *out,
                       double scale)
{
    FftLines f = { .form = line->form, .is_forward = is_forward, .scale = 1, .in = in };
    int64_t n2 = plan->n / plan->n1;
    FftLines columns = f, rows = f;
    columns.kind = FFT_COLUMNS, columns.plan = plan->columns, columns.n = plan->n1;
    columns.nlines = columns.stride = n2, columns.out = line->between;
    columns.twiddles = plan->twiddles, columns.begins = plan->begins;
    rows.kind = FFT_ROWS, rows.plan = plan->rows, rows.n = n2, rows.scale = scale;
    rows.nlines = rows.stride = plan->n1, rows.in = line->between, rows.out = out;
    bool is_done = fft_groups_run(line->frame, &columns, columns.form) &&
                   fft_groups_run(line->frame, &rows, rows.form);
    line->has_failed |= !is_done;
}

/* room: for as many numbers as a convolution has. */
static void complex_run(Line *line, const FftLong *plan, const void *in, void *out, void *room,
                        double scale)
{
    if (plan->n1) {
        matrix_run(line, plan, line->is_forward, in, out, scale);
        return;
    }
    const FftLong *wide = plan->wide;
    const FftForm *form = line->form;
    step_run(line, form->spread, wide->n, (FftStep){ .plan = plan, .in = in, .out = room });
    matrix_run(line, wide, true, room, room, 1);
    step_run(line, form->filter, wide->n, (FftStep){ .plan = plan, .in = room, .out = room });
    matrix_run(line, wide, false, room, room, 1);
    step_run(line, form->gather, plan->n,
             (FftStep){ .plan = plan, .in = room, .out = out, .scale = scale });
}

/* half: for the line's complex numbers, and behind them the room of complex_run. */
static void real_run(Line *line, const FftLong *plan, const void *in, void *out, void *half,
                     double scale)
{
    void *room = (char *)half + (size_t)plan->n * line->type->number;
    const FftForm *form = line->form;
    int64_t n = plan->n;
    FftStep of = { .plan = plan, .in = in, .out = half };
    if (plan->halves && line->is_forward) {
        complex_run(line, plan, in, half, room, 1);
        of.in = half, of.out = out;
        step_run(line, form->reals_of_half, n / 2 + 1, of);
    } else if (plan->halves) {
        step_run(line, form->half_of_reals, n / 2 + 1, of);
        complex_run(line, plan, half, out, room, scale);
    } else if (line->is_forward) {
        step_run(line, form->of_reals, n, of);
        complex_run(line, plan, half, half, room, 1);
        memcpy(out, half, (size_t)(n / 2 + 1) * line->type->number);
    } else {
        step_run(line, form->mirror, n, of);
        complex_run(line, plan, half, half, room, scale);
        of.in = half, of.out = out;
        step_run(line, form->to_reals, n, of);
    }
}

/* ---- plans ---- */

static FftLong *matrix_new(Arena *arena, const FftType *type, int64_t n, int64_t n1)
{
    FftLong *plan = ARENA_NEW(arena, FftLong);
    int lanes = fft_form_of(type)->lanes;
    Roots roots = roots_new(arena, n);
    *plan = (FftLong){ .n = n,
                       .n1 = n1,
                       .columns = type->plan(arena, n1, false),
                       .rows = type->plan(arena, n / n1, false),
                       .twiddles = type->twiddles(arena, &roots, n1, lanes),
                       .begins = type->begins(arena, &roots, n1, lanes) };
    return plan;
}

const FftLong *fft_long_new(Arena *arena, const FftType *type, int64_t n, bool is_real)
{
    bool is_half = is_real && n % 2 == 0;
    int64_t count = is_half ? n / 2 : n, n1 = short_side(type, count);
    FftLong *plan;
    if (n1)
        plan = matrix_new(arena, type, count, n1);
    else {
        int64_t m = convolution_size(2 * count - 1);
        plan = ARENA_NEW(arena, FftLong);
        *plan = (FftLong){ .n = count, .wide = matrix_new(arena, type, m, short_side(type, m)) };
        type->chirps(arena, plan);
        Line line = { .type = type,
                      .form = fft_form_of(type),
                      .between = block_get(arena, THREAD_MEMORY_LEFT, (size_t)m * type->number) };
        if (line.between)
            matrix_run(&line, plan->wide, true, plan->filter, plan->filter, 1);
        if (!line.between || line.has_failed)
            return NULL;
    }
    if (is_half)
        plan->halves = type->halves(arena, n);
    return plan;
}

/* ---- lines ---- */

typedef struct LongLines {
    const FftLines *lines;
    const FftLong *plan;
    Line line;
    size_t in, out;       /* bytes from line to line */
    size_t between, room; /* bytes */
    _Atomic bool has_failed;
} LongLines;

static void one_line(const LongLines *l, Line *line, int64_t i, void *room)
{
    const FftLines *f = l->lines;
    const char *in = (const char *)f->in + l->in * (size_t)i;
    char *out = (char *)f->out + l->out * (size_t)i;
    if (f->kind == FFT_COMPLEX)
        complex_run(line, l->plan, in, out, room, f->scale);
    else
        real_run(line, l->plan, in, out, room, f->scale);
}

static void line_slice(void *user, int64_t i)
{
    LongLines *l = user;
    Line line = l->line;
    void *room = thread_memory_get(THREAD_MEMORY_RIGHT, l->room);
    line.frame = NULL;
    line.between = thread_memory_get(THREAD_MEMORY_LEFT, l->between);
    if (room && line.between)
        one_line(l, &line, i, room);
    if (!room || !line.between || line.has_failed)
        /* relaxed: slices_run orders what slices did before what follows it */
        atomic_store_explicit(&l->has_failed, true, memory_order_relaxed);
}

bool fft_long_run(const Frame *frame, Arena *arena, const FftType *type, const FftLong *plan,
                  const FftLines *f)
{
    bool is_complex = f->kind == FFT_COMPLEX;
    size_t number = type->number, numbers = (size_t)plan->n * number;
    size_t reals = (size_t)f->n * number / 2, some = (size_t)(f->n / 2 + 1) * number;
    size_t wide = plan->wide ? (size_t)plan->wide->n * number : 0;
    LongLines l = { .lines = f,
                    .plan = plan,
                    .line = { .frame = frame,
                              .type = type,
                              .form = fft_form_of(type),
                              .is_forward = f->is_forward },
                    .in = is_complex      ? numbers
                          : f->is_forward ? reals
                                          : some,
                    .out = is_complex      ? numbers
                           : f->is_forward ? some
                                           : reals,
                    .between = wide ? wide : numbers,
                    .room = wide + (is_complex ? 0 : numbers) };
    int workers = slices_workers(frame);
    bool is_small = l.between <= KEPT && l.room <= KEPT;
    if (is_small && (f->nlines % workers == 0 || f->nlines >= 3 * workers)) {
        slices_run(frame, f->nlines, line_slice, &l);
        return !atomic_load_explicit(&l.has_failed, memory_order_relaxed); /* see line_slice */
    }
    l.line.between = block_get(arena, THREAD_MEMORY_LEFT, l.between);
    void *room = block_get(arena, THREAD_MEMORY_RIGHT, l.room);
    if (!l.line.between || !room)
        return false;
    for (int64_t i = 0; i < f->nlines; i++)
        one_line(&l, &l.line, i, room);
    return !l.line.has_failed;
}
