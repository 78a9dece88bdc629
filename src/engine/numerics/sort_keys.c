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
    int64_t n = l->plan->extent, stride = l->plan->stride, zeros = -1, nans = -1;
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

/* ---- one line ---- */

typedef struct Two {
    uint64_t at[2];
} Two;

/* out[i] = in[order[i]]; in NULL: order[i] itself. */
static void apply_order(const Line *l, int array, const uint32_t *order)
{
    int64_t n = l->plan->kept, by = l->plan->stride;
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
    Keys keys = keys_before(all, nkeys - 1);
    bool is_few = keys.n == nkeys && l->plan->kept <= l->plan->extent / 8;
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
    if (plan->narrays == 1 && plan->nkeys == 1 && plan->kept == plan->extent)
        return first.bits <= 32 ? sort_alone_32(l, first) : sort_alone_64(l, first);
    uint32_t *order = scratch(l, SCRATCH_ORDER, sizeof *order * (size_t)plan->extent);
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
    _Atomic bool has_failed;
} Lines;

static void slice_sort(void *user, int64_t slice)
{
    Lines *all = user;
    const SortPlan *plan = all->plan;
    int64_t n = plan->narrays, end = (slice + 1) * all->per_slice;
    const void **in = malloc(sizeof *in * 2 * (size_t)n);
    void **out = in ? (void **)(in + n) : NULL;
    Scratch scratches = { 0 };
    Line line = { plan, in, out, &scratches };
    bool ok = in != NULL;
    for (int64_t i = slice * all->per_slice; ok && i < plan->nlines && i < end; i++) {
        int64_t block = i / plan->stride, inner = i % plan->stride;
        for (int64_t a = 0; a < n; a++) {
            int64_t bytes = element_info[plan->elements[a]].bytes;
            int64_t from = block * plan->extent * plan->stride + inner;
            int64_t to = block * plan->kept * plan->stride + inner;
            in[a] = all->in[a] ? (const char *)all->in[a] + from * bytes : NULL;
            out[a] = (char *)all->out[a] + to * bytes;
        }
        ok = line_sort(&line, all->keys);
    }
    for (int i = 0; i < SCRATCHES; i++)
        free(scratches.at[i]);
    free(in);
    if (!ok)
        /* relaxed: slices_run returns after all slices, and orders what they did before it */
        atomic_store_explicit(&all->has_failed, true, memory_order_relaxed);
}

void sort_lines(const Frame *frame, const SortPlan *plan, const void *const *in, void *const *out)
{
    enum { ELEMENTS_PER_SLICE = 1 << 14, SLICES_PER_WORKER = 4 };
    Lines all = { .plan = plan, .in = in, .out = out };
    if (plan->nlines * plan->kept == 0)
        return;
    for (int64_t i = 0; i < plan->nkeys; i++)
        all.keys[i] = ranking_of(plan, &plan->keys[i]);
    int64_t most = (int64_t)slices_workers(frame) * SLICES_PER_WORKER;
    all.per_slice = (plan->nlines + most - 1) / most;
    while (all.per_slice < plan->nlines && all.per_slice * plan->extent < ELEMENTS_PER_SLICE)
        all.per_slice *= 2;
    slices_run(frame, (plan->nlines + all.per_slice - 1) / all.per_slice, slice_sort, &all);
    bool has_failed =
        atomic_load_explicit(&all.has_failed, memory_order_relaxed); /* see slice_sort */
    if (has_failed)
        frame_fail(frame, error_new(CODE_EXHAUSTED,
                                    "sort of %lld lines of %lld elements: no memory to sort in",
                                    (long long)plan->nlines, (long long)plan->extent));
}
