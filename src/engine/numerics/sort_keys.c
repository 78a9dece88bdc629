/* sort_keys.c - lines of arrays in the order of their keys.
 *
 *     elements --rank--> unsigned numbers in the same order --radix_body.h--> sorted
 *
 *     one array that is its own key     the numbers are sorted alone and turned back into elements
 *     several arrays                    records (number, position) are sorted; the positions then
 *                                       say where each element of each array comes from
 *     few of many are kept              a record enters only if it is among the first so far
 *
 * Keys of together 64 bits are one number.  Of more, the last ones are sorted by first: the sort is
 * stable, so their order stands where the keys before them are equal.  Lines are spread over the
 * workers. */
#include "engine/numerics/numerics.h"

#include "engine/slices.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool sort_has_keys(Element e)
{
    switch (element_info[e].kind) {
    case BOOLEAN: return true;
    case SIGNED:
    case UNSIGNED: return element_fills_bytes(e);
    case FLOAT: return e == F16 || e == BF16 || e == F32 || e == F64;
    default: return false;
    }
}

/* ---- from elements to numbers and back ---- */

/* How elements of one key become numbers.  All elements go the same way, without a branch, so that
 * the loops over them are vector code. */
typedef struct Ranking {
    int64_t array;
    ElementKind kind;
    int bits, bytes;
    uint64_t flip; /* all bits of a falling key, none of a rising one */
    bool one_zero, one_nan;
    int64_t infinity;  /* of floats, as the bits of an integer */
    uint64_t zero;     /* what is left of a zero's bits */
    int64_t nans_from; /* sizes above it become the one nan, which is infinity + 1 */
} Ranking;

/* Some keys of a plan that make one number together. */
typedef struct Keys {
    int n, bits;
    const Ranking *at;
} Keys;

/* A line of each array: its first element. */
typedef struct Line {
    const SortPlan *plan;
    const void **in; /* NULL: positions */
    void **out;
    struct Scratch *scratch;
    int64_t extent, kept; /* the plan's, or a piece's */
} Line;

static Ranking ranking_of(const SortPlan *plan, const SortKey *key)
{
    Element e = (Element)plan->elements[key->array];
    const ElementInfo *info = &element_info[e];
    Ranking r = { .array = key->array,
                  .kind = info->kind,
                  .bytes = info->bytes,
                  .bits = info->bytes * CHAR_BIT,
                  .one_zero = info->kind == FLOAT && key->one_zero,
                  .one_nan = info->kind == FLOAT && key->one_nan };
    r.infinity = e == F16    ? 0x7C00
                 : e == BF16 ? 0x7F80
                 : e == F32  ? 0x7F800000
                             : INT64_C(0x7FF) << 52;
    r.flip = key->is_falling ? UINT64_MAX >> (64 - r.bits) : 0;
    r.zero = r.one_zero ? 0 : UINT64_MAX;
    r.nans_from = r.one_nan ? r.infinity : INT64_MAX >> (64 - r.bits);
    return r;
}

#define INLINE static inline __attribute__((always_inline))

/* The number of an element's bits x, and the bits of a number, for unsigned type U. */
#define DEFINE_RANK(U, S)                                                                          \
    INLINE U rank_##U(ElementKind kind, const Ranking *r, U x)                                     \
    {                                                                                              \
        const U sign = (U)((U)1 << (sizeof(U) * CHAR_BIT - 1));                                    \
        if (kind == FLOAT) {                                                                       \
            S size = (S)(x & (U)~sign);                                                            \
            x = size == 0 ? (U)(x & (U)r->zero) : x;                                               \
            x = size > (S)r->nans_from ? (U)(r->infinity + 1) : x;                                 \
            x ^= (U)((U)((S)x >> (sizeof(U) * CHAR_BIT - 1)) | sign);                              \
        } else if (kind == SIGNED) {                                                               \
            x ^= sign;                                                                             \
        }                                                                                          \
        return (U)(x ^ (U)r->flip);                                                                \
    }                                                                                              \
    INLINE U unrank_##U(ElementKind kind, const Ranking *r, U x)                                   \
    {                                                                                              \
        const U sign = (U)((U)1 << (sizeof(U) * CHAR_BIT - 1));                                    \
        x ^= (U)r->flip;                                                                           \
        if (kind == FLOAT)                                                                         \
            return (U)(x ^ (U)((U) ~(U)((S)x >> (sizeof(U) * CHAR_BIT - 1)) | sign));              \
        return kind == SIGNED ? (U)(x ^ sign) : x;                                                 \
    }
DEFINE_RANK(uint8_t, int8_t)
DEFINE_RANK(uint16_t, int16_t)
DEFINE_RANK(uint32_t, int32_t)
DEFINE_RANK(uint64_t, int64_t)

INLINE uint64_t key_bits_at(int bytes, const void *line, int64_t at)
{
    switch (bytes) {
    case 1: return ((const uint8_t *)line)[at];
    case 2: return ((const uint16_t *)line)[at];
    case 4: return ((const uint32_t *)line)[at];
    default: return ((const uint64_t *)line)[at];
    }
}

INLINE void key_bits_set(int bytes, void *line, int64_t at, uint64_t bits)
{
    switch (bytes) {
    case 1: ((uint8_t *)line)[at] = (uint8_t)bits; break;
    case 2: ((uint16_t *)line)[at] = (uint16_t)bits; break;
    case 4: ((uint32_t *)line)[at] = (uint32_t)bits; break;
    default: ((uint64_t *)line)[at] = bits; break;
    }
}

/* DO(kind, type of the bits), so that the loop in it is compiled for each. */
#define FOR_EACH_FORM(r, DO)                                                                       \
    switch ((r).bytes + ((r).kind == FLOAT ? 16 : (r).kind == SIGNED ? 32 : 0)) {                  \
    case 1: DO(UNSIGNED, uint8_t); break;                                                          \
    case 2: DO(UNSIGNED, uint16_t); break;                                                         \
    case 4: DO(UNSIGNED, uint32_t); break;                                                         \
    case 8: DO(UNSIGNED, uint64_t); break;                                                         \
    case 18: DO(FLOAT, uint16_t); break;                                                           \
    case 20: DO(FLOAT, uint32_t); break;                                                           \
    case 24: DO(FLOAT, uint64_t); break;                                                           \
    case 33: DO(SIGNED, uint8_t); break;                                                           \
    case 34: DO(SIGNED, uint16_t); break;                                                          \
    case 36: DO(SIGNED, uint32_t); break;                                                          \
    case 40: DO(SIGNED, uint64_t); break;                                                          \
    }

/* Elements that became one number (-0 and 0, nans) lie together in the sorted line; they are
 * written anew, in the order they had. */
static void restore_merged(Line *l, Ranking r)
{
    uint64_t sign = UINT64_C(1) << (r.bits - 1);
    int64_t n = l->extent, stride = l->plan->stride, zeros = -1, nans = -1;
    for (int64_t i = 0; i < n && (zeros < 0 || nans < 0); i++) {
        int64_t size = (int64_t)(key_bits_at(r.bytes, l->out[0], i * stride) & ~sign);
        zeros = zeros < 0 && size == 0 ? i : zeros;
        nans = nans < 0 && size > r.infinity ? i : nans;
    }
    for (int64_t i = 0; i < n && (zeros >= 0 || nans >= 0); i++) {
        uint64_t x = key_bits_at(r.bytes, l->in[0], i * stride);
        int64_t size = (int64_t)(x & ~sign);
        if (r.one_zero && size == 0)
            key_bits_set(r.bytes, l->out[0], zeros++ * stride, x);
        else if (r.one_nan && size > r.infinity)
            key_bits_set(r.bytes, l->out[0], nans++ * stride, x);
    }
}

/* ---- memory to sort in ---- */

/* A thread keeps its own from line to line, and gives it back when its lines are done. */
enum { SCRATCH_RECORDS, SCRATCH_ORDER, SCRATCHES };
typedef struct Scratch {
    void *at[SCRATCHES];
    size_t bytes[SCRATCHES];
} Scratch;

/* NULL: there is none. */
static void *scratch(Line *l, int which, size_t bytes)
{
    Scratch *s = l->scratch;
    if (s->bytes[which] < bytes) {
        free(s->at[which]);
        s->at[which] = malloc(bytes);
        s->bytes[which] = s->at[which] ? bytes : 0;
    }
    return s->at[which];
}

/* ---- numbers of at most 32 bits, and of 64 ---- */

enum {
    BLOCK = 256,  /* numbers that are made at once, in the first cache */
    GROUP = 16,   /* that are looked at together: of most none is among the first */
    FEW_KEPT = 64 /* so many are kept in order one by one */
};

#define K uint32_t
#define RECORD uint64_t
#define RECORD_OF(k, p) ((uint64_t)(k) << 32 | (p))
#define NUMBER_BITS(r) (r)
#define NUMBER_IN(r) ((uint32_t)((r) >> 32))
#define POSITION_IN(r) ((uint32_t)(r))
#define LOW 32
#define NAME(f) f##_32
#include "engine/numerics/sort_body.h"

typedef struct WideRecord {
    uint64_t number;
    uint32_t position;
} WideRecord;

#define K uint64_t
#define RECORD WideRecord
#define RECORD_OF(k, p) ((WideRecord){ (k), (p) })
#define NUMBER_BITS(r) ((r).number)
#define NUMBER_IN(r) ((r).number)
#define POSITION_IN(r) ((r).position)
#define LOW 0
#define NAME(f) f##_64
#include "engine/numerics/sort_body.h"

/* The first few of a short line: the least of all, then the least of those beyond it, and so on.  No step depends on
 * how an earlier one came out, which machines cannot foresee. */
static void select_least(const Line *l, Keys keys, uint32_t *order)
{
    uint32_t numbers[BLOCK];
    uint64_t bound = 0;
    int64_t n = next_block_32(l, keys, 0, numbers);
    for (int64_t k = 0; k < l->kept; k++) {
        uint64_t least = UINT64_MAX;
        for (int64_t i = 0; i < n; i++) {
            uint64_t x = (uint64_t)numbers[i] << 32 | (uint64_t)i;
            uint64_t y = x < bound ? UINT64_MAX : x;
            least = y < least ? y : least;
        }
        order[k] = (uint32_t)least;
        bound = least + 1;
    }
}

/* ---- one line ---- */

typedef struct Two {
    uint64_t at[2];
} Two;

/* out[i] = in[order[i]]; in NULL: order[i] itself. */
static void apply_order(const Line *l, int array, const uint32_t *order)
{
    int64_t n = l->kept, by = l->plan->stride;
    int bytes = element_info[l->plan->elements[array]].bytes;
    const void *in = l->in[array];
    void *out = l->out[array];
#define MOVE(T)                                                                                    \
    for (int64_t i = 0; i < n; i++)                                                                \
    ((T *)out)[i * by] = ((const T *)in)[order[i] * by]
    if (!in)
        for (int64_t i = 0; i < n; i++)
            key_bits_set(bytes, out, i * by, order[i]);
    else
        switch (bytes) {
        case 1: MOVE(uint8_t); break;
        case 2: MOVE(uint16_t); break;
        case 4: MOVE(uint32_t); break;
        case 8: MOVE(uint64_t); break;
        default: MOVE(Two); break;
        }
#undef MOVE
}

/* The keys from `last` back that make one number together. */
static Keys keys_before(const Ranking *all, int last)
{
    Keys keys = { 0 };
    while (keys.n <= last && keys.bits + all[last - keys.n].bits <= 64)
        keys.bits += all[last - keys.n++].bits;
    keys.at = all + last - keys.n + 1;
    return keys;
}

static bool line_order(Line *l, const Ranking *all, int nkeys, uint32_t *order)
{
    enum { FEW_STEPS = 128 };
    Keys keys = keys_before(all, nkeys - 1);
    bool is_few = keys.n == nkeys && l->kept <= l->extent / 8;
    if (keys.n == nkeys && keys.bits <= 32 && l->extent <= BLOCK &&
        l->kept * l->extent <= FEW_STEPS) {
        select_least(l, keys, order);
        return true;
    }
    if (is_few)
        return keys.bits <= 32 ? select_order_32(l, keys, order) : select_order_64(l, keys, order);
    for (int last = nkeys - 1; last >= 0; last -= keys.n) {
        keys = keys_before(all, last);
        bool is_first = last == nkeys - 1;
        if (!(keys.bits <= 32 ? sort_order_32(l, keys, order, is_first)
                              : sort_order_64(l, keys, order, is_first)))
            return false;
    }
    return true;
}

static bool line_sort(Line *l, const Ranking *all)
{
    const SortPlan *plan = l->plan;
    Keys first = { 1, all[0].bits, all };
    if (plan->narrays == 1 && plan->nkeys == 1 && l->kept == l->extent)
        return first.bits <= 32 ? sort_alone_32(l, first) : sort_alone_64(l, first);
    uint32_t *order = scratch(l, SCRATCH_ORDER, sizeof *order * (size_t)l->extent);
    if (!order || !line_order(l, all, (int)plan->nkeys, order))
        return false;
    for (int i = 0; i < plan->narrays; i++)
        apply_order(l, i, order);
    return true;
}

/* ---- all lines ---- */

typedef struct Lines {
    const SortPlan *plan;
    const void *const *in;
    void *const *out;
    Ranking keys[SORT_MOST_KEYS];
    int64_t per_slice;
    int64_t npieces;      /* of a line, of which the first few are wanted */
    uint32_t *candidates; /* [lines, npieces, kept] */
    _Atomic bool has_failed;
} Lines;

/* NULL in l->in: no memory. */
static Line line_new(const Lines *all, Scratch *scratches)
{
    const SortPlan *plan = all->plan;
    const void **in = malloc(sizeof *in * 2 * (size_t)plan->narrays);
    void **out = in ? (void **)(in + plan->narrays) : NULL;
    return (Line){ plan, in, out, scratches, plan->extent, plan->kept };
}

static void line_free(Line *l)
{
    for (int i = 0; i < SCRATCHES; i++)
        free(l->scratch->at[i]);
    free(l->in);
}

/* Points it to line i, from its element `from` on. */
static void line_seek(const Lines *all, Line *l, int64_t i, int64_t from)
{
    const SortPlan *plan = all->plan;
    int64_t block = i / plan->stride, inner = i % plan->stride;
    int64_t in = (block * plan->extent + from) * plan->stride + inner;
    int64_t out = block * plan->kept * plan->stride + inner;
    for (int64_t a = 0; a < plan->narrays; a++) {
        int64_t bytes = element_info[plan->elements[a]].bytes;
        l->in[a] = all->in[a] ? (const char *)all->in[a] + in * bytes : NULL;
        l->out[a] = (char *)all->out[a] + out * bytes;
    }
}

static void note(Lines *all, bool ok)
{
    if (!ok)
        /* relaxed: slices_run returns after all slices, and orders what they did before it */
        atomic_store_explicit(&all->has_failed, true, memory_order_relaxed);
}

static void slice_sort(void *user, int64_t slice)
{
    Lines *all = user;
    int64_t end = (slice + 1) * all->per_slice;
    Scratch scratches = { 0 };
    Line line = line_new(all, &scratches);
    bool ok = line.in != NULL;
    for (int64_t i = slice * all->per_slice; ok && i < all->plan->nlines && i < end; i++) {
        line_seek(all, &line, i, 0);
        ok = line_sort(&line, all->keys);
    }
    line_free(&line);
    note(all, ok);
}

/* ---- the first few of long lines: those of each piece, and of these ---- */

static void slice_select(void *user, int64_t slice)
{
    Lines *all = user;
    int64_t extent = all->plan->extent, kept = all->plan->kept;
    int64_t i = slice / all->npieces, piece = slice % all->npieces;
    int64_t from = extent * piece / all->npieces, to = extent * (piece + 1) / all->npieces;
    uint32_t *order = all->candidates + slice * kept;
    Scratch scratches = { 0 };
    Line line = line_new(all, &scratches);
    line.extent = to - from;
    bool ok = line.in != NULL;
    if (ok)
        line_seek(all, &line, i, from);
    ok = ok && line_order(&line, all->keys, (int)all->plan->nkeys, order);
    for (int64_t k = 0; ok && k < kept; k++)
        order[k] += (uint32_t)from;
    line_free(&line);
    note(all, ok);
}

/* Pieces stand in order, and so do equals of each: a stable sort of all their first is enough. */
static bool join_pieces(const Lines *all)
{
    int nkeys = (int)all->plan->nkeys;
    Keys keys = keys_before(all->keys, nkeys - 1);
    Scratch scratches = { 0 };
    Line line = line_new(all, &scratches);
    line.extent = all->npieces * all->plan->kept;
    bool ok = line.in != NULL;
    for (int64_t i = 0; ok && i < all->plan->nlines; i++) {
        uint32_t *order = all->candidates + i * line.extent;
        line_seek(all, &line, i, 0);
        ok = keys.bits <= 32 ? sort_order_32(&line, keys, order, false)
                             : sort_order_64(&line, keys, order, false);
        for (int64_t a = 0; ok && a < all->plan->narrays; a++)
            apply_order(&line, (int)a, order);
    }
    line_free(&line);
    return ok;
}

/* Into how many pieces lines are cut; 1: they are not. */
static int64_t pieces_of(const Lines *all)
{
    enum { FEW_LINES = 8, LEAST_PIECE = 1 << 15, MOST_PIECES = 16 };
    const SortPlan *plan = all->plan;
    int64_t n = plan->extent / LEAST_PIECE;
    n = n < MOST_PIECES ? n : MOST_PIECES;
    bool is_one_number = keys_before(all->keys, (int)plan->nkeys - 1).n == plan->nkeys;
    return n > 1 && plan->nlines < FEW_LINES && is_one_number && plan->kept <= plan->extent / n / 8
               ? n
               : 1;
}

static void sort_slices(const Frame *frame, Lines *all)
{
    enum { ELEMENTS_PER_SLICE = 1 << 14, SLICES_PER_WORKER = 4 };
    const SortPlan *plan = all->plan;
    all->npieces = pieces_of(all);
    if (all->npieces > 1) {
        all->candidates =
            malloc(sizeof *all->candidates * (size_t)(plan->nlines * all->npieces * plan->kept));
        note(all, all->candidates);
        if (all->candidates)
            slices_run(frame, plan->nlines * all->npieces, slice_select, all);
        bool ok = !atomic_load_explicit(&all->has_failed, memory_order_relaxed); /* see note */
        note(all, ok && join_pieces(all));
        free(all->candidates);
        return;
    }
    int64_t most = (int64_t)slices_workers(frame) * SLICES_PER_WORKER;
    all->per_slice = (plan->nlines + most - 1) / most;
    while (all->per_slice < plan->nlines && all->per_slice * plan->extent < ELEMENTS_PER_SLICE)
        all->per_slice *= 2;
    slices_run(frame, (plan->nlines + all->per_slice - 1) / all->per_slice, slice_sort, all);
}

void sort_lines(const Frame *frame, const SortPlan *plan, const void *const *in, void *const *out)
{
    Lines all = { .plan = plan, .in = in, .out = out };
    if (plan->nlines * plan->kept == 0)
        return;
    for (int64_t i = 0; i < plan->nkeys; i++)
        all.keys[i] = ranking_of(plan, &plan->keys[i]);
    sort_slices(frame, &all);
    bool has_failed = atomic_load_explicit(&all.has_failed, memory_order_relaxed); /* see note */
    if (has_failed)
        frame_fail(frame, error_new(CODE_EXHAUSTED,
                                    "sort of %lld lines of %lld elements: no memory to sort in",
                                    (long long)plan->nlines, (long long)plan->extent));
}
