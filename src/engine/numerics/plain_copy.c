/* plain_copy.c - a slice or a padded copy of an array, ready-made.
 *
 *     result:  fill | fill fill fill        rows, counted by the dimensions before the last that is cut or
 *              fill | a    b    c           padded; a row has a run of the operand, with the fill before and
 *              fill | d    e    f           behind it, or it is all fill
 *
 * A convolution has its input padded first, and no two of these differ but in their extents. */
#include "engine/numerics/numerics.h"

#include "engine/slices.h"

#include <string.h>

typedef struct Rows {
    const PlainCopy *copy;
    int64_t n, each; /* each: of a slice */
    const char *in;
    char *out;
} Rows;

/* Where in the operand the run of a row begins, in bytes; -1: the row has none. */
static int64_t run_of(const PlainCopy *c, int64_t row)
{
    int64_t at = c->begin;
    for (int64_t d = c->rank - 1; d >= 0; d--) {
        const PlainCopyDim *dim = &c->dims[d];
        int64_t i = row % dim->extent - dim->low;
        if (i < 0 || i >= dim->count)
            return -1;
        at += i * dim->step;
        row /= dim->extent;
    }
    return at;
}

static void rows_slice(void *user, int64_t slice)
{
    const Rows *r = user;
    const PlainCopy *c = r->copy;
    size_t before = (size_t)c->before, run = (size_t)c->run, behind = (size_t)c->behind;
    int64_t end = (slice + 1) * r->each < r->n ? (slice + 1) * r->each : r->n;
    for (int64_t row = slice * r->each; row < end; row++) {
        char *out = r->out + (size_t)row * (before + run + behind);
        int64_t from = run_of(c, row);
        if (from < 0) {
            memset(out, (int)c->fill, before + run + behind);
            continue;
        }
        memset(out, (int)c->fill, before);
        memcpy(out + before, r->in + from, run);
        memset(out + before + run, (int)c->fill, behind);
    }
}

void plain_copy(const Frame *f, const PlainCopy *c, const void *in, void *out)
{
    enum { BYTES_OF_SLICE = 1 << 18, MOST_SLICES = 64 };
    Rows r = { .copy = c, .n = 1, .in = in, .out = out };
    for (int64_t d = 0; d < c->rank; d++)
        r.n *= c->dims[d].extent;
    int64_t slices = r.n * (c->before + c->run + c->behind) / BYTES_OF_SLICE;
    slices = slices < MOST_SLICES ? slices : MOST_SLICES;
    slices = slices < r.n ? slices : r.n;
    r.each = slices > 1 ? (r.n + slices - 1) / slices : r.n;
    slices_run(f, (r.n + r.each - 1) / r.each, rows_slice, &r);
}
