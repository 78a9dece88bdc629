/* fft.c - Fourier transforms over the last dimensions of an array.
 *
 * In: reals or complex numbers; out: their transform, in the same precision.  The work is in
 * fft_body.h, once for f32 and once for f64; here are the roots of unity, which are computed in
 * f64 for both, and the steps of an operation. */
#include "engine/numerics/fft.h"

#include "base/guard.h"
#include "engine/cpu_level.h"
#include "engine/memory/thread_memory.h"
#include "engine/numerics/numerics.h"
#include "engine/slices.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FFT, IFFT, RFFT, IRFFT };

/* e^(2 pi i x / n), from sines and cosines of at most an eighth of a turn. */
static Pair exact_root(int64_t x, int64_t n, double angle)
{
    x *= 8;
    bool is_lower = x >= 4 * n;
    if (is_lower)
        x = 8 * n - x;
    bool is_left = x >= 2 * n;
    if (is_left)
        x -= 2 * n;
    bool is_steep = x >= n;
    double a = (double)(is_steep ? 2 * n - x : x) * angle, c = cos(a), s = sin(a);
    Pair p = is_steep ? (Pair){ s, c } : (Pair){ c, s };
    if (is_left)
        p = (Pair){ -p.i, p.r };
    return is_lower ? (Pair){ p.r, -p.i } : p;
}

Roots roots_new(Arena *arena, int64_t n)
{
    Roots roots = { .n = n, .shift = 1 };
    double angle = (double)(0.25L * 3.141592653589793238462643383279502884197L / (long double)n);
    int64_t count = (n + 2) / 2;
    while ((INT64_C(1) << roots.shift) * (INT64_C(1) << roots.shift) < count)
        roots.shift++;
    roots.mask = (INT64_C(1) << roots.shift) - 1;
    int64_t nhigh = (count + roots.mask) / (roots.mask + 1);
    roots.low = ARENA_ARRAY(arena, Pair, roots.mask + 1);
    roots.high = ARENA_ARRAY(arena, Pair, nhigh);
    roots.low[0] = roots.high[0] = (Pair){ 1, 0 };
    for (int64_t i = 1; i <= roots.mask; i++)
        roots.low[i] = exact_root(i, n, angle);
    for (int64_t i = 1; i < nhigh; i++)
        roots.high[i] = exact_root(i * (roots.mask + 1), n, angle);
    return roots;
}

int64_t convolution_size(int64_t n)
{
    int64_t best = 0;
    double least = 0;
    for (int64_t odd = 1; odd <= 45; odd += 2) {
        int64_t rest = odd, size = odd;
        int passes = 0;
        for (int64_t p = 3; p <= 5; p += 2)
            for (; rest % p == 0; rest /= p)
                passes++;
        int twos = 0;
        for (; size < n; size *= 2)
            twos++;
        double cost = (double)size * (passes + (twos + 2) / 3);
        if (rest == 1 && (!best || cost < least))
            best = size, least = cost;
    }
    return best;
}

int64_t bluestein_size(int64_t n)
{
    int64_t rest = n;
    for (int64_t p = 2; p < FFT_MOST && rest > 1; p++)
        while (rest % p == 0)
            rest /= p;
    if (rest <= 1)
        return 0;
    return convolution_size(2 * n - 1);
}

/* ---- an operation ---- */

/* A plan that the operation uses: one that is kept, or its own. */
typedef struct Used {
    FftKey key;
    const void *plan;
    Arena *arena; /* its own; NULL: it is kept */
} Used;

enum { MOST_USED = 8 };

typedef struct Transform {
    const Frame *frame;
    const FftAttrs *attrs;
    Tensor in, out;
    Arena *arena; /* plans, and what is large between steps; dies with the operation */
    const FftType *type;
    bool has_failed;
    int nused;
    Used used[MOST_USED];
} Transform;

static const void *plan_new(const FftKey *key, Arena *arena)
{
    return key->is_long ? fft_long_new(arena, key->type, key->n, key->is_real)
                        : key->type->plan(arena, key->n, key->is_real);
}

/* NULL: there is no memory. */
static const void *plan_for(Transform *t, int64_t n, bool is_real, bool is_long)
{
    FftKey key = { t->type, n, is_real, is_long };
    for (int i = 0; i < t->nused; i++)
        if (fft_keys_same(t->used[i].key, key))
            return t->used[i].plan;
    if (t->nused == MOST_USED)
        return plan_new(&key, t->arena);
    Used *u = &t->used[t->nused];
    *u = (Used){ .key = key, .plan = fft_plan_hold(key) };
    t->nused += u->plan != NULL; /* before memory may be missing */
    if (!u->plan) {
        Arena *arena = arena_new();
        *u = (Used){ key, plan_new(&key, arena), arena };
        t->nused++;
    }
    return u->plan;
}

/* Plans of its own were freed with the guard, if it was left; one that a guard around knows is not kept. */
static void plans_give_back(Transform *t, bool is_left)
{
    for (int i = 0; i < t->nused; i++) {
        const Used *u = &t->used[i];
        if (!u->arena)
            fft_plan_release(u->key);
        else if (!is_left && u->plan && !guard_here())
            fft_plan_offer(u->key, u->plan, u->arena);
        else if (!is_left)
            arena_free(u->arena);
    }
}

enum { KEPT = 16 << 20 }; /* threads keep blocks up to this many bytes */

/* What lies between two steps.  NULL: there is no memory. */
static void *memory_between(Transform *t, ThreadMemoryUse use, size_t bytes)
{
    void *at = bytes <= KEPT ? thread_memory_get(use, bytes) : arena_alloc(t->arena, bytes);
    t->has_failed |= !at;
    return at;
}

const FftForm *fft_form_of(const FftType *type)
{
    switch (cpu_vector_bytes()) {
    case 64: return type->by_64;
    case 32: return type->by_32;
    default: return type->by_16;
    }
}

typedef struct Groups {
    const FftLines *lines;
    int64_t n, per_slice;
    const FftForm *last;     /* the last group's, which may have fewer lines */
    _Atomic bool has_failed; /* there was no memory to work in */
} Groups;

static size_t work_bytes(const FftLines *f)
{
    return ((size_t)f->form->work(f) * f->form->vector + 63) / 64 * 64;
}

static void transform_groups(void *user, int64_t slice)
{
    Groups *g = user;
    int64_t end = (slice + 1) * g->per_slice;
    size_t bytes = work_bytes(g->lines);
    bool is_kept = bytes <= KEPT;
    void *work = is_kept ? thread_memory_get(THREAD_MEMORY_ORDER, bytes) : aligned_alloc(64, bytes);
    for (int64_t i = slice * g->per_slice; work && i < end && i < g->n; i++)
        if (i == g->n - 1)
            g->last->group(g->lines, i * g->lines->form->lanes / g->last->lanes, work);
        else
            g->lines->form->group(g->lines, i, work);
    if (!work)
        /* relaxed: slices_run orders what slices did before what follows it */
        atomic_store_explicit(&g->has_failed, true, memory_order_relaxed);
    if (!is_kept)
        free(work);
}

/* By which the last group of lines is transformed: the narrower one of the forms that join products to sums, if it has
 * the lanes, which gives the same bits. */
static const FftForm *last_form(const FftType *type, const FftLines *f)
{
    int64_t rest = f->nlines % f->form->lanes;
    bool are_together = f->stride == 1 || f->stride == f->nlines;
    bool is_enough = f->form == type->by_64 && rest && rest <= type->by_32->lanes;
    return is_enough && are_together ? type->by_32 : f->form;
}

/* Lines of so many numbers in all are sooner done than another worker has woken. */
enum { LEAST_SHARED = 8192 };

bool fft_groups_run(const Frame *frame, const FftLines *f, const FftForm *last)
{
    enum { SLICES_PER_WORKER = 4, LEAST_EACH = 4096 };
    if (f->n * f->nlines < LEAST_SHARED)
        frame = NULL;
    Groups g = { .lines = f, .n = f->form->groups(f), .last = last };
    /* Workers should end together: a slice is no longer than it must be to be worth its start. */
    int64_t most = (int64_t)slices_workers(frame) * SLICES_PER_WORKER;
    int64_t worth = LEAST_EACH / (f->n * f->form->lanes) + 1;
    g.per_slice = g.n / most > worth ? g.n / most : worth;
    slices_run(frame, (g.n + g.per_slice - 1) / g.per_slice, transform_groups, &g);
    return !atomic_load_explicit(&g.has_failed, memory_order_relaxed); /* see transform_groups */
}

/* Lines so long that a group would not fit the caches go one by one; so do long ones that leave most
 * of a group empty. */
static void transform_lines(Transform *t, FftLines f)
{
    enum { MOST_WORK = 64 << 20, MOST_EMPTY = 256 << 10 };
    f.form = fft_form_of(t->type);
    bool is_empty = f.nlines * 4 <= f.form->lanes;
    if (work_bytes(&f) > (is_empty ? MOST_EMPTY : MOST_WORK))
        f.form = t->type->alone;
    t->has_failed |= !fft_groups_run(t->frame, &f, last_form(t->type, &f));
}

static void long_lines(Transform *t, const FftLines *f)
{
    const FftLong *plan = plan_for(t, f->n, f->kind != FFT_COMPLEX, true);
    t->has_failed |= !plan || !fft_long_run(t->frame, t->arena, t->type, plan, f);
}

static void complex_lines(Transform *t, FftLines f)
{
    if (f.stride == 1 && fft_is_long(t->type, f.n, false, f.nlines)) {
        long_lines(t, &f);
        return;
    }
    f.plan = plan_for(t, f.n, false, false);
    transform_lines(t, f);
}

/* Lines of reals, to the first half of their transform or back. */
static void real_lines(Transform *t, FftLines f)
{
    f.kind = f.is_forward ? FFT_REAL : FFT_TO_REAL;
    if (fft_is_long(t->type, f.n, true, f.nlines)) {
        long_lines(t, &f);
        return;
    }
    f.plan = plan_for(t, f.n, !bluestein_size(f.n), false);
    transform_lines(t, f);
}

/* How many numbers to leave out behind each row between the transforms of its columns and its own.  The numbers of a
 * column that are a multiple of 4096 bytes apart share the same places of the caches, which have no room for all. */
static int64_t gap_between(const Transform *t, int64_t rows, int64_t n)
{
    enum { ALIKE = 4096, MANY = 64, GAP = 128 };
    bool is_crowded = rows >= MANY && (size_t)n * t->type->number % ALIKE == 0;
    return is_crowded && !fft_is_long(t->type, n, false, rows) ? GAP / (int64_t)t->type->number : 0;
}

/* The dimensions of the complex numbers: the result's, or the operand's where the result is real.
 * The last axis goes first where it begins with reals, and last where it ends with them. */
static void transform(void *user)
{
    Transform *t = user;
    int type = (int)t->attrs->fft_type, naxes = t->attrs->fft_length.n, rank = t->in.type.rank;
    const int64_t *dims = type == IRFFT ? t->in.type.dims : t->out.type.dims;
    int64_t n = (type == RFFT ? t->in : t->out).type.dims[rank - 1], count = 1, points = 1;
    t->arena = arena_new();
    for (int d = 0; d < rank; d++)
        count *= dims[d];
    for (int d = rank - naxes; d < rank; d++)
        points *= d == rank - 1 ? n : dims[d];
    if (count == 0 || points == 0)
        return;
    bool is_forward = type == FFT || type == RFFT;
    FftLines f = { .in = t->in.data,
                   .out = t->out.data,
                   .stride = 1,
                   .n = n,
                   .scale = 1,
                   .nlines = count / dims[rank - 1],
                   .is_forward = is_forward };
    double scale = is_forward ? 1 : 1.0 / (double)points;
    if (type == RFFT) {
        real_lines(t, f);
        f.in = f.out;
    } else if (type == IRFFT && naxes > 1) {
        f.out = memory_between(t, THREAD_MEMORY_SUMS, t->type->number * (size_t)count);
        if (!f.out)
            return;
    }
    int last = type == RFFT || type == IRFFT ? rank - 1 : rank;
    int64_t gap = 0;
    void *end = f.out;
    for (int d = rank - naxes; d < last; d++, f.in = f.out) {
        FftLines axis = f;
        axis.kind = FFT_COMPLEX, axis.n = dims[d], axis.nlines = count / dims[d];
        for (int i = d + 1; i < rank; i++)
            axis.stride *= dims[i];
        axis.scale = type == IFFT && d == rank - naxes ? scale : 1;
        axis.gap_in = gap;
        axis.gap_out = gap = d == rank - 2 && last == rank ? gap_between(t, dims[d], n) : 0;
        size_t bytes = (size_t)(count / dims[rank - 1] * (n + gap)) * t->type->number;
        axis.out = f.out = gap ? memory_between(t, THREAD_MEMORY_SUMS, bytes) : end;
        if (!f.out)
            return;
        complex_lines(t, axis);
    }
    if (type == IRFFT) {
        f.out = t->out.data, f.scale = scale;
        real_lines(t, f);
    }
}

Error *routine_fft(const Frame *frame, const Node *n, const Tensor *in, Tensor *out)
{
    Transform t = { .frame = frame,
                    .attrs = n->attrs,
                    .in = *in,
                    .out = *out,
                    .type = element_part(in->type.element) == F32 ? &f32_fft : &f64_fft };
    Error *left = guard_run("a Fourier transform", transform, &t);
    plans_give_back(&t, left);
    TRY(left);
    arena_free(t.arena);
    return t.has_failed ? error_new(CODE_EXHAUSTED, "fft of %s, at %s: no memory to work in",
                                    type_name(in->type), loc_name(n->loc))
                        : NULL;
}
