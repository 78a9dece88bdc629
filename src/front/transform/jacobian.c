/* jacobian.c - tt_jacfwd and tt_jacrev: all derivatives of all results, by directions.
 *
 *     jacfwd(f)(x)     vmap(jvp(f))(x, one direction for each element of x)
 *     jacrev(f)(x)     vmap(vjp(f))(x, one direction for each element of the results)
 *
 * The directions of all arrays together are the rows of a unit matrix, each array having its columns.
 * What comes out has an axis of directions in front; each array of it is cut into the parts that belong
 * to one array, and of them the directions become the axes of that array: last where directions are of
 * arguments, first where they are of results. */
#include "front/transform/transform.h"
#include "front/value/report.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

/* The arrays that directions are of. */
typedef struct Directions {
    int n;
    Type *types;
    int64_t total; /* elements of all */
} Directions;

static void add_direction(Directions *d, Type t)
{
    d->types[d->n++] = t;
    d->total += type_count(t);
}

/* Row r is 1 at element r - offset, else 0: those of an array whose elements are numbered from offset on. */
static tt unit_rows(Type t, int64_t total, int64_t offset)
{
    Type flat = { I32, 2, (const int64_t[]){ total, type_count(t) } };
    Type number = type_new(trace_arena(), I32, 2, flat.dims);
    tt column = build2(OP_ADD, build_iota(number, 1), build_number(number, (double)offset));
    tt is_one = build_compare(EQ, build_iota(number, 0), column);
    return build_reshape(build_convert(is_one, t.element), type_insert(t, 0, total));
}

/* vmap(jvp(inner)) or vmap(vjp(inner)): directions are the arguments from nargs on.  NULL: reported. */
static tt_fn mapped(tt_fn f, FnKind kind, int nargs, int64_t total)
{
    FnKey of = { .kind = kind, .inner = f->key.inner, .wrt = f->key.wrt };
    FnKey key = { .kind = FN_VMAP, .axis_size = (int32_t)total };
    key.inner = fn_intern(&of, kind == FN_JVP ? "jvp" : "vjp", NULL);
    for (int i = 0; i < nargs; i++)
        key.in_axes[i] = TT_NONE;
    return key.inner ? fn_intern(&key, "vmap", NULL) : NULL;
}

/* leaves, then directions: `counts` arrays of them in each of nmore arguments.  False: reported. */
static bool with_directions(tt_fn f, const Leaves *leaves, int nmore, const int *counts,
                            const Directions *d, Leaves *out)
{
    *out = *leaves;
    if (leaves->nargs + nmore > TT_MAX_ARGS || d->total > INT32_MAX)
        return report_broken(
                   "%s: %d arguments and %d of directions, %lld of them: at most %d and %d "
                   "are possible",
                   f->label, leaves->nargs, nmore, (long long)d->total, TT_MAX_ARGS, INT32_MAX),
               false;
    if (!d->total)
        return report_broken("%s: there is nothing to differentiate: no array has elements",
                             f->label),
               false;
    out->types = NEW(Type, leaves->n + d->n);
    out->is_weak = NEW(bool, leaves->n + d->n);
    AxisSet *varies = leaves->varies ? NEW(AxisSet, leaves->n + d->n) : NULL;
    memcpy(out->types, leaves->types, sizeof *out->types * (size_t)leaves->n);
    memcpy(out->is_weak, leaves->is_weak, sizeof *out->is_weak * (size_t)leaves->n);
    if (varies)
        memcpy(varies, leaves->varies, sizeof *varies * (size_t)leaves->n);
    out->varies = varies;
    for (int i = 0; i < nmore; i++)
        out->counts[out->nargs++] = counts[i];
    for (int i = 0; i < d->n; i++)
        out->types[out->n++] = type_insert(d->types[i], 0, d->total);
    return true;
}

/* Of y, rows of directions, the part of array k: its axes last, or first. */
static tt part_of(tt y, const Directions *d, int k, bool is_last)
{
    Type t = type_at(y), of = d->types[k];
    int64_t offset = 0, size = type_count(of);
    for (int i = 0; i < k; i++)
        offset += type_count(d->types[i]);
    int64_t *start = NEW(int64_t, t.rank), *limit = NEW(int64_t, t.rank),
            *step = NEW(int64_t, t.rank);
    for (int i = 0; i < t.rank; i++) {
        start[i] = i ? 0 : offset;
        limit[i] = i ? t.dims[i] : offset + size;
        step[i] = 1;
    }
    tt part = build_slice(y, ints_of(t.rank, start), ints_of(t.rank, limit), ints_of(t.rank, step));
    if (is_last)
        part = build_move_axis(part, 0, t.rank - 1);
    Type to = type_remove(t, 0);
    for (int i = 0; i < of.rank; i++)
        to = type_insert(to, is_last ? to.rank : i, of.dims[i]);
    return build_reshape(part, to);
}

/* Calls g, a map over directions, and arranges what it gives from `first` on: for each result of f its
 * derivatives by each array of arguments. */
static bool record(tt_fn f, const Leaves *given, const Leaves *leaves, const Graph *g,
                   const Directions *d, int first, bool by_arguments, Graph *out)
{
    int nrows = g->nresults - first, n = 0;
    tt *in = NEW(tt, leaves->n + d->n), *y = NEW(tt, g->nresults), *all = NEW(tt, nrows * d->n);
    int64_t offset = 0;
    record_begin(given->n, given->types, given->is_weak, in);
    for (int i = 0; i < given->n; i++)
        in[i] = build_convert(in[i], leaves->types[i].element);
    for (int i = 0; i < d->n; i++) {
        in[leaves->n + i] = unit_rows(d->types[i], d->total, offset);
        offset += type_count(d->types[i]);
    }
    bool ok = trace_inline(f->label, g, in, y);
    for (int i = 0; ok && by_arguments && i < nrows; i++)
        for (int k = 0; k < d->n; k++)
            all[n++] = part_of(y[first + i], d, k, true);
    for (int k = 0; ok && !by_arguments && k < d->n; k++)
        for (int i = 0; i < nrows; i++)
            all[n++] = part_of(y[first + i], d, k, false);
    ok = ok && record_end(f->label, n, all, out);
    if (tracing->region)
        record_drop();
    return ok;
}

/* Every result must vary smoothly.  False: reported. */
static bool are_floats(tt_fn f, int n, const Type *types)
{
    for (int i = 0; i < n; i++)
        if (element_info[types[i].element].kind != FLOAT)
            return report_broken("%s: result %d is %s: only floats have derivatives", f->label, i,
                                 type_text(types[i])),
                   false;
    return true;
}

static bool forward_graph(tt_fn f, const Leaves *given, const Leaves *leaves, Graph *out)
{
    Directions d = { .types = NEW(Type, leaves->n) };
    int counts[TT_MAX_ARGS], nmore = 0;
    Leaves all;
    Graph g;
    for (int i = 0; i < leaves->nargs; i++)
        if (f->key.wrt >> i & 1)
            counts[nmore++] = leaves->counts[i];
    for (int i = 0; i < leaves->n; i++) {
        int within;
        if (f->key.wrt >> leaf_argument(leaves, i, &within) & 1)
            add_direction(&d, leaves->types[i]);
    }
    if (!with_directions(f, leaves, nmore, counts, &d, &all))
        return false;
    tt_fn rows = mapped(f, FN_JVP, leaves->nargs, d.total);
    if (!rows || !fn_graph(rows, &all, &g))
        return false;
    Type *types = NEW(Type, g.nresults);
    for (int i = 0; i < g.nresults; i++)
        types[i] = type_of(g.m, region_return(g.m, g.body)->in[i]);
    return are_floats(f, g.nresults / 2, types) &&
           record(f, given, leaves, &g, &d, g.nresults / 2, true, out);
}

static bool reverse_graph(tt_fn f, const Leaves *given, const Leaves *leaves, Graph *out)
{
    Leaves all;
    Graph inner, g;
    if (!fn_graph(f->key.inner, leaves, &inner)) /* for the types of its results */
        return false;
    Directions d = { .types = NEW(Type, inner.nresults) };
    for (int i = 0; i < inner.nresults; i++)
        add_direction(&d, type_of(inner.m, region_return(inner.m, inner.body)->in[i]));
    if (!are_floats(f, d.n, d.types) || !with_directions(f, leaves, 1, &d.n, &d, &all))
        return false;
    tt_fn rows = mapped(f, FN_VJP, leaves->nargs, d.total);
    return rows && fn_graph(rows, &all, &g) &&
           record(f, given, leaves, &g, &d, inner.nresults, false, out);
}

bool jacobian_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    Leaves inner = leaves_canonical(leaves);
    Trace frame = { .how = f->how, .name = f->key.inner->label, .file = f->file, .line = f->line };
    frame_push(&frame);
    bool ok = f->key.kind == FN_JACFWD ? forward_graph(f, leaves, &inner, out)
                                       : reverse_graph(f, leaves, &inner, out);
    frame_pop(&frame);
    return ok;
}
