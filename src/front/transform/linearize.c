/* linearize.c - tt_linearize: a function at one point, in two: what is done there once, and the linear map
 * that is done for every direction.
 *
 *     linearize(f)(x)               the results of f, then what is kept: x, and what the rest needs of f there
 *     linear(f)(kept, dx)           the tangents of the results
 *
 * Both trace f with tangents and cut that in two (partial_eval.c), in the same way, since the types are the same;
 * the first is the one part, the second the other. */
#include "front/transform/transform.h"
#include "front/value/report.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

/* f with tangents of its floats, cut in two. */
typedef struct Halves {
    Leaves leaves; /* of f */
    int nresults, ntangents;
    PartialEval parts;
} Halves;

/* In the innermost frame, which is not recording.  False: reported. */
static bool cut(tt_fn f, Halves *h)
{
    int n = h->leaves.n;
    bool *active = NEW(bool, n), *wanted;
    Graph g, jg;
    if (!fn_graph(f->key.inner, &h->leaves, &g))
        return false;
    for (int i = 0; i < n; i++) {
        int within, argument = leaf_argument(&h->leaves, i, &within);
        active[i] = (f->key.wrt >> argument & 1) && has_tangent(h->leaves.types[i]);
        h->ntangents += active[i];
    }
    if (!h->ntangents)
        return report_broken("%s: no array that .wrt names is of floats", f->label), false;
    wanted = NEW(bool, g.nresults);
    memset(wanted, true, sizeof *wanted * (size_t)g.nresults);
    h->nresults = g.nresults;
    return jvp_transform(&g, active, wanted, NULL, &jg) &&
           partial_eval(&jg, h->ntangents, g.nresults, &h->parts);
}

/* ---- what is done once ---- */

static bool known_graph(tt_fn f, const Leaves *given, Graph *out)
{
    Halves h = { .leaves = leaves_canonical(given) };
    if (!cut(f, &h))
        return false;
    const Graph *known = &h.parts.known;
    int n = given->n, nkept = known->nresults - h.nresults;
    tt *in = NEW(tt, n), *y = NEW(tt, known->nresults + n);
    record_begin(n, given->types, given->is_weak, in);
    for (int i = 0; i < n; i++)
        in[i] = build_convert(in[i], h.leaves.types[i].element);
    bool ok = trace_inline(f->label, known, in, y);
    memmove(y + h.nresults + n, y + h.nresults, sizeof *y * (size_t)nkept);
    memcpy(y + h.nresults, in, sizeof *in * (size_t)n);
    ok = ok && record_end(f->label, known->nresults + n, y, out);
    if (tracing->region)
        record_drop();
    return ok;
}

/* ---- what is done for every direction ---- */

/* The arguments of f, whose leaves are the first of what is kept.  False: reported. */
static bool point_leaves(tt_fn f, const Leaves *given, Leaves *out)
{
    const int *counts = f->key.config;
    int nargs = (int)(f->key.config_size / sizeof *counts);
    *out = *given;
    out->n = 0;
    out->nargs = nargs;
    out->arg_types = NULL;
    for (int i = 0; i < nargs; i++)
        out->n += out->counts[i] = counts[i];
    if (given->nargs >= 2 && given->counts[0] >= out->n)
        return true;
    return report_broken(
               "%s: it takes what tt_linearize kept, then a tangent for each argument that .wrt "
               "names",
               f->label),
           false;
}

static Type leaf_type(const Graph *g, int i)
{
    return type_of(g->m, region_at(g->m, g->body)->args + (uint32_t)i);
}

/* The rest's leaves: what it needs, from what is kept, then the tangents. */
static bool run_rest(tt_fn f, const Leaves *given, const Halves *h, const tt *in, tt *dy)
{
    const PartialEval *p = &h->parts;
    int n = 0, next = h->leaves.n, at = given->counts[0], argument = 0;
    tt *leaf = NEW(tt, p->rest.nleaves);
    for (; n < p->nneeded; n++)
        leaf[n] = p->leaf[n] >= 0 ? in[p->leaf[n]] : in[next++];
    for (int i = 0, within; i < h->leaves.n; i++) {
        argument = leaf_argument(&h->leaves, i, &within);
        if (!(f->key.wrt >> argument & 1))
            continue;
        Type want = h->leaves.types[i];
        if (at == given->n || !type_equal(given->types[at], want))
            return report_broken("%s: the tangent of %s is %s; it must be of the same type",
                                 f->label, leaf_text(&h->leaves, i),
                                 at < given->n ? type_text(given->types[at]) : "not there"),
                   false;
        if (has_tangent(want))
            leaf[n++] = in[at];
        at++;
    }
    for (int i = 0; i < p->rest.nleaves; i++)
        if (!type_equal(type_at(leaf[i]), leaf_type(&p->rest, i)))
            return report_broken("%s: what is given is not what tt_linearize kept", f->label),
                   false;
    return trace_inline(f->label, &p->rest, leaf, dy);
}

static bool linear_graph(tt_fn f, const Leaves *given, Graph *out)
{
    Halves h = { 0 };
    if (!point_leaves(f, given, &h.leaves) || !cut(f, &h))
        return false;
    int nkept = h.parts.known.nresults - h.nresults;
    if (given->counts[0] != h.leaves.n + nkept)
        return report_broken("%s: what is given is not what tt_linearize kept: %d arrays, not %d",
                             f->label, given->counts[0], h.leaves.n + nkept),
               false;
    tt *in = NEW(tt, given->n), *dy = NEW(tt, h.nresults);
    record_begin(given->n, given->types, given->is_weak, in);
    bool ok = run_rest(f, given, &h, in, dy) && record_end(f->label, h.nresults, dy, out);
    if (tracing->region)
        record_drop();
    return ok;
}

bool linearize_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    Trace frame = { .how = f->how, .name = f->key.inner->label, .file = f->file, .line = f->line };
    frame_push(&frame);
    bool ok =
        f->key.kind == FN_LINEARIZE ? known_graph(f, leaves, out) : linear_graph(f, leaves, out);
    frame_pop(&frame);
    return ok;
}
