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

/* Has a line runs at all, and where in the operand would that of its row 0 begin, in bytes?  A line's rows differ only
 * by the last index. */
static bool line_find(const PlainCopy *c, int64_t line, int64_t *from)
{
    const PlainCopyDim *last = &c->dims[c->rank - 1];
    int64_t at = c->begin - last->low * last->step;
    for (int64_t d = c->rank - 2; d >= 0; d--) {
        const PlainCopyDim *dim = &c->dims[d];
        int64_t i = line % dim->extent - dim->low;
        if (i < 0 || i >= dim->count)
            return false;
        at += i * dim->step;
        line /= dim->extent;
    }
    *from = at;
    return true;
}

static void fill(char *out, int64_t with, int64_t n)
{
    if (n > 0)
        memset(out, (int)with, (size_t)n);
}

/* The runs of n rows, the first of which begins at `from`.  Short ones are not worth the call of a function each. */
static void copy_runs(const PlainCopy *c, char *out, const char *from, int64_t n, int64_t step)
{
    enum { PIECE = 64, SHORT = 8 * PIECE };
    size_t run = (size_t)c->run;
    int64_t pitch = c->before + c->run + c->behind;
    for (int64_t i = 0; i < n; i++, out += pitch, from += step) {
        fill(out, c->fill, c->before);
        char *to = out + c->before;
        if (run < PIECE || run > SHORT) {
            memcpy(to, from, run);
        } else {
            for (size_t at = 0; at + PIECE < run; at += PIECE)
                memcpy(to + at, from + at, PIECE);
            memcpy(to + run - PIECE, from + run - PIECE, PIECE);
        }
        fill(to + run, c->fill, c->behind);
    }
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* The rows first .. end of a line. */
static void copy_line(const Rows *r, int64_t line, int64_t first, int64_t end)
{
    const PlainCopy *c = r->copy;
    const PlainCopyDim *last = &c->dims[c->rank - 1];
    int64_t pitch = c->before + c->run + c->behind, from = 0;
    bool has_runs = line_find(c, line, &from);
    int64_t low = has_runs ? clamp(last->low, first, end) : end;
    int64_t high = has_runs ? clamp(last->low + last->count, low, end) : end;
    char *out = r->out + (line * last->extent + first) * pitch;
    fill(out, c->fill, (low - first) * pitch);
    if (low < high)
        copy_runs(c, out + (low - first) * pitch, r->in + from + low * last->step, high - low,
                  last->step);
    fill(out + (high - first) * pitch, c->fill, (end - high) * pitch);
}

static void rows_slice(void *user, int64_t slice)
{
    const Rows *r = user;
    int64_t row = slice * r->each, end = row + r->each < r->n ? row + r->each : r->n;
    int64_t extent = r->copy->dims[r->copy->rank - 1].extent;
    while (row < end) {
        int64_t first = row % extent, rest = end - row;
        int64_t n = extent - first < rest ? extent - first : rest;
        copy_line(r, row / extent, first, first + n);
        row += n;
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
