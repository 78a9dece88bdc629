/* associative.c - tt_associative_scan: all running combinations x0, x0 + x1, x0 + x1 + x2 ..., in as
 * many steps as the number of rows has binary digits.
 *
 *     rows             0    1     2      3       4    ...
 *     pairs            01         23             45            f of neighbours
 *     scanned pairs    01         0123           012345        the same again, of half as many
 *     results     0    01   012   0123   01234   012345        between them f of the last and one row more
 *
 * f is called with many rows at once. */
#include "front/transform/transform.h"
#include "front/value/report.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

/* Rows from..to, every `step`-th. */
static tt rows(tt x, int64_t from, int64_t to, int64_t step)
{
    Type t = type_at(x);
    int64_t *start = NEW(int64_t, t.rank), *limit = NEW(int64_t, t.rank),
            *by = NEW(int64_t, t.rank);
    for (int i = 0; i < t.rank; i++) {
        start[i] = i ? 0 : from;
        limit[i] = i ? t.dims[i] : to;
        by[i] = i ? 1 : step;
    }
    return build_slice(x, ints_of(t.rank, start), ints_of(t.rank, limit), ints_of(t.rank, by));
}

/* a0 b0 a1 b1 ...; a may have one row more. */
static tt interleave(tt a, tt b)
{
    Type t = type_at(b);
    int64_t n = t.dims[0], more = type_at(a).dims[0] - n;
    Type pair = type_insert(t, 1, 1);
    tt both[] = { build_reshape(more ? rows(a, 0, n, 1) : a, pair), build_reshape(b, pair) };
    int64_t *dims = arena_copy(trace_arena(), t.dims, sizeof *dims * (size_t)t.rank);
    dims[0] = 2 * n;
    tt joined = build_reshape(build_concatenate(2, both, 1), (Type){ t.element, t.rank, dims });
    tt all[] = { joined, more ? rows(a, n, n + 1, 1) : joined };
    return more ? build_concatenate(2, all, 0) : joined;
}

/* f of as many rows of a as of b: traced for their types.  False: reported. */
static bool combine(tt_fn f, int n, const tt *a, const tt *b, tt *y)
{
    Leaves l = { .nargs = 2, .counts = { n, n }, .n = 2 * n };
    tt *in = NEW(tt, 2 * n);
    Graph g;
    l.types = NEW(Type, 2 * n);
    l.is_weak = NEW(bool, 2 * n);
    for (int i = 0; i < 2 * n; i++) {
        in[i] = i < n ? a[i] : b[i - n];
        l.types[i] = type_at(in[i]);
    }
    if (tracing->outer)
        l.varies = values_vary(2 * n, in);
    Trace frame = { 0 };
    CallSite at = call_site;
    frame_push(&frame);
    bool ok = fn_graph(f->key.inner, &l, &g);
    frame_pop(&frame);
    call_site = at;
    if (ok && g.nresults != n)
        return report_broken("%s: %s gives %d arrays of two times %d: it must give as many as one "
                             "argument has",
                             f->label, f->key.inner->label, g.nresults, n),
               false;
    for (int i = 0; ok && i < n; i++) {
        Type t = type_of(g.m, region_return(g.m, g.body)->in[i]);
        if (!type_equal(t, l.types[i]))
            return report_broken(
                       "%s: %s makes %s of two arrays %s: it must keep their type, row by "
                       "row",
                       f->label, f->key.inner->label, type_text(t), type_text(l.types[i])),
                   false;
    }
    return ok && trace_inline(f->label, &g, in, y);
}

static bool scan(tt_fn f, int n, int64_t count, const tt *x, tt *y)
{
    if (count < 2)
        return memcpy(y, x, sizeof *y * (size_t)n), true;
    int64_t half = count / 2, rest = (count - 1) / 2;
    tt *a = NEW(tt, n), *b = NEW(tt, n), *odd = NEW(tt, n), *even = NEW(tt, n);
    for (int i = 0; i < n; i++) {
        a[i] = rows(x[i], 0, 2 * half, 2);
        b[i] = rows(x[i], 1, 2 * half, 2);
    }
    if (!combine(f, n, a, b, even) || !scan(f, n, half, even, odd))
        return false;
    for (int i = 0; rest && i < n; i++) {
        a[i] = rows(odd[i], 0, rest, 1);
        b[i] = rows(x[i], 2, count, 2);
    }
    if (rest && !combine(f, n, a, b, even))
        return false;
    for (int i = 0; i < n; i++) {
        tt parts[] = { rows(x[i], 0, 1, 1), even[i] };
        y[i] = interleave(rest ? build_concatenate(2, parts, 0) : parts[0], odd[i]);
    }
    return true;
}

/* How many rows all leaves have; 0: reported. */
static int64_t count_rows(tt_fn f, const Leaves *leaves)
{
    int64_t n = 0;
    for (int i = 0; i < leaves->n; i++) {
        Type t = leaves->types[i];
        if (!t.rank || !t.dims[0])
            return report_broken("%s: %s has no rows to go through", f->label,
                                 leaf_text(leaves, i)),
                   0;
        if (i && t.dims[0] != n)
            return report_broken("%s: %s has %lld rows, but %s has %lld", f->label,
                                 leaf_text(leaves, i), (long long)t.dims[0], leaf_text(leaves, 0),
                                 (long long)n),
                   0;
        n = t.dims[0];
    }
    return n;
}

bool associative_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    int64_t count = count_rows(f, leaves);
    if (!count)
        return false;
    Trace frame = { .how = f->how, .name = f->key.inner->label, .file = f->file, .line = f->line };
    tt *in = NEW(tt, leaves->n), *y = NEW(tt, leaves->n);
    frame_push(&frame);
    record_begin(leaves->n, leaves->types, leaves->is_weak, in);
    tracing->varies = leaves->varies;
    bool ok = scan(f, leaves->n, count, in, y) && record_end(f->label, leaves->n, y, out);
    if (tracing->region)
        record_drop();
    frame_pop(&frame);
    return ok;
}
