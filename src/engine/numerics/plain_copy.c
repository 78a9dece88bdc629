/* plain_copy.c - a slice or a padded copy of an array, and arrays joined to one, ready-made.
 *
 *     result:  fill | fill fill fill        rows, counted by the dimensions before the last that is cut or
 *              fill | a    b    c           padded; a row has a run of the operand, with the fill before and
 *              fill | d    e    f           behind it, or it is all fill
 *
 * A convolution has its input padded first, and no two of these differ but in their extents. */
#include "engine/numerics/numerics.h"

#include "engine/slices.h"

#include <string.h>

enum { BYTES_OF_SLICE = 1 << 18, MOST_SLICES = 64 };

/* How many of n runs, of so many bytes in all, are a slice's: slices are about BYTES_OF_SLICE. */
static int64_t runs_each(int64_t n, int64_t bytes)
{
    int64_t slices = bytes / BYTES_OF_SLICE;
    slices = slices < MOST_SLICES ? slices : MOST_SLICES;
    slices = slices < n ? slices : n;
    return slices > 1 ? (n + slices - 1) / slices : n;
}

/* ---- rows of one array ---- */

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
    Rows r = { .copy = c, .n = 1, .in = in, .out = out };
    for (int64_t d = 0; d < c->rank; d++)
        r.n *= c->dims[d].extent;
    r.each = runs_each(r.n, r.n * (c->before + c->run + c->behind));
    slices_run(f, (r.n + r.each - 1) / r.each, rows_slice, &r);
}

/* ---- rows of several arrays, side by side ---- */

typedef struct Join {
    const PlainJoin *join;
    int64_t n, each;
    const void *const *in;
    char *out;
} Join;

/* Run number i is operand i % n's of row i / n. */
static void join_slice(void *user, int64_t slice)
{
    const Join *j = user;
    const PlainJoin *join = j->join;
    int64_t first = slice * j->each, end = first + j->each < j->n ? first + j->each : j->n;
    int64_t row = first / join->n, operand = first % join->n, pitch = 0, before = 0;
    for (int64_t i = 0; i < join->n; i++) {
        pitch += join->runs[i];
        before += i < operand ? join->runs[i] : 0;
    }
    char *out = j->out + row * pitch + before;
    for (int64_t i = first; i < end; i++) {
        int64_t run = join->runs[operand];
        memcpy(out, (const char *)j->in[operand] + row * run, (size_t)run);
        out += run;
        row += operand + 1 == join->n;
        operand = operand + 1 == join->n ? 0 : operand + 1;
    }
}

void plain_join(const Frame *f, const PlainJoin *join, const void *const *in, void *out)
{
    Join j = { .join = join, .n = join->n * join->rows, .in = in, .out = out };
    int64_t bytes = 0;
    for (int64_t i = 0; i < join->n; i++)
        bytes += join->rows * join->runs[i];
    j.each = runs_each(j.n, bytes);
    slices_run(f, (j.n + j.each - 1) / j.each, join_slice, &j);
}
