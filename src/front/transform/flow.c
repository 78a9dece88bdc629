/* flow.c - loops and branches that a C function writes: tt_while, tt_fori, tt_scan, tt_cond.
 *
 * Each is a function made of others, called like any other: the functions inside are traced for
 * the types that the iterations have, and their graphs become the regions of one operation. */
#include "front/transform/build.h"
#include "front/transform/transform.h"
#include "front/value/array.h"
#include "front/value/library.h"
#include "front/value/memory.h"
#include "front/value/report.h"
#include "ops/number.h"

#include <stdio.h>
#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

/* A loop or branch being recorded. */
typedef struct Flow {
    tt_fn f;
    const Leaves *leaves;
    int nstate; /* leaves of the first argument */
    int nrows;  /* leaves of the second, for a scan; else 0 */
    int ngiven; /* leaves that an iteration is given: all, but not how many iterations there are */
    int64_t trip_count;
    tt *in;          /* the leaves, of types that every iteration keeps */
    AxisSet *varies; /* of the leaves, the state's as every iteration may have it; or NULL */
    Graph body, other;
    int nbranches; /* of a switch, whose body is the first of them */
    Graph *branches;
} Flow;

/* Numbers of iterations that are found at run time are the last arguments: outside a trace that of a
 * tt_fori, so that one program serves every number; and the two bounds of a tt_fori_to. */
enum { TRIPS_GIVEN = -1, BOUNDS_GIVEN = -2 };

static int nhidden(tt_fn f)
{
    return f->key.trip_count < 0 ? (int)-f->key.trip_count : 0;
}

/* ---- the functions inside ---- */

/* One of them: what it is for, and what it is given. */
typedef struct InnerFn {
    tt_fn flow, f;
    const char *what;
    int nargs, counts[TT_MAX_ARGS + 1];
} InnerFn;

static bool inner_accepts(const InnerFn *p, const char *given)
{
    int wanted[TT_MAX_ARGS], n = fn_arguments(p->f, wanted);
    const char *label = p->flow->label, *name = p->f->label;
    if (!fn_has_config(label, p->f))
        return false;
    if (n >= 0 && n != p->nargs)
        return report_broken("%s: the %s %s takes %d argument%s, and is given %d: %s", label,
                             p->what, name, n, n == 1 ? "" : "s", p->nargs, given),
               false;
    for (int i = 0; i < n; i++)
        if (p->counts[i] != wanted[i])
            return report_broken("%s: argument %d of the %s %s has %d array%s, and is given %d",
                                 label, i, p->what, name, wanted[i], wanted[i] == 1 ? "" : "s",
                                 p->counts[i]),
                   false;
    return true;
}

/* Is its body given the number of the iteration? */
static bool is_numbered(FnKind kind)
{
    return kind == FN_FORI || kind == FN_STEPS;
}

/* Each function of a switch takes what follows the index. */
static bool switch_accepts(tt_fn f, int nargs, const int *counts)
{
    const tt_fn *branch = f->key.config;
    for (size_t k = 0; k < f->key.config_size / sizeof *branch; k++) {
        InnerFn p = { .flow = f, .f = branch[k], .what = "branch" };
        for (int i = 1; i < nargs; i++)
            p.counts[p.nargs++] = counts[i];
        if (!inner_accepts(&p, "what follows the index"))
            return false;
    }
    return true;
}

bool flow_accepts(tt_fn f, int nargs, const int *counts)
{
    FnKind kind = (FnKind)f->key.kind;
    if (kind == FN_SWITCH)
        return switch_accepts(f, nargs, counts);
    InnerFn p = { .flow = f, .f = f->key.inner, .what = kind == FN_COND ? "first branch" : "body" };
    char given[80]; /* no text: under no guard yet */
    int named = is_numbered(kind) || kind == FN_SCAN ? 2 : 1;
    if (is_numbered(kind))
        p.counts[p.nargs++] = 1;
    for (int i = kind == FN_COND; i < nargs - nhidden(f); i++)
        p.counts[p.nargs++] = counts[i];
    int n = snprintf(given, sizeof given, "%s",
                     kind == FN_COND     ? "what follows the branches"
                     : is_numbered(kind) ? "the iteration, the state"
                     : kind == FN_SCAN   ? "the state, a row"
                                         : "the state");
    if (kind != FN_COND && p.nargs > named)
        snprintf(given + n, sizeof given - (size_t)n, ", and %d more behind it", p.nargs - named);
    bool ok = inner_accepts(&p, given);
    p.f = f->key.other;
    p.what = kind == FN_COND ? "second branch" : "condition";
    return ok && (!p.f || inner_accepts(&p, given));
}

/* A number becomes an array: what it meets in an iteration must not change its type. */
static Type canonical_type(const Leaves *leaves, int i)
{
    return type_with(leaves->types[i],
                     element_canonical(leaves->types[i].element, leaves->is_weak[i]));
}

/* What is absent of the arguments from `argument` on, but for the hidden ones; behind those that l has. */
static void inner_slots(Leaves *l, const Leaves *all, int argument, int hidden)
{
    if (!all->absent)
        return;
    int from = argument ? all->slots[0] : 0, n = l->n, to = leaves_slots(all) - hidden;
    bool *absent = NEW(bool, n + to - from);
    memcpy(absent + n, all->absent + from, sizeof *absent * (size_t)(to - from));
    l->absent = absent;
    for (int i = 0; i < l->nargs; i++)
        l->slots[i] = l->counts[i];
    for (int i = argument, k = l->nargs; i < all->nargs - hidden; i++)
        l->slots[k++] = all->slots[i];
}

/* Leaves from..: with `first` in front if that is not NULL, rows of the scanned ones. */
static Leaves inner_leaves(const Flow *w, int from, const Type *first)
{
    const Leaves *all = w->leaves;
    int argument = from ? 1 : 0; /* from: the condition of a branch is left out */
    Leaves l = { .types = NEW(Type, all->n + 1), .is_weak = NEW(bool, all->n + 1) };
    AxisSet *varies = w->varies ? NEW(AxisSet, all->n + 1) : NULL;
    l.varies = varies;
    if (first) {
        l.types[l.n++] = *first;
        l.counts[l.nargs++] = 1;
    }
    inner_slots(&l, all, argument, nhidden(w->f));
    for (; argument < all->nargs - nhidden(w->f); argument++)
        l.counts[l.nargs++] = all->counts[argument];
    for (int i = from; i < w->ngiven; i++) {
        bool is_row = i >= w->nstate && i < w->nstate + w->nrows;
        Type t = canonical_type(all, i);
        if (varies)
            varies[l.n] = w->varies[i];
        l.types[l.n++] = is_row ? type_remove(t, 0) : t;
    }
    return l;
}

static Type result_type(const Graph *g, int i)
{
    return type_of(g->m, region_return(g->m, g->body)->in[i]);
}

/* The state at the end of an iteration is what the next one takes. */
static bool keeps_state(const Flow *w)
{
    const char *label = w->f->label;
    if (w->body.nresults < w->nstate ||
        (!w->nrows && w->f->key.kind != FN_STEPS && w->body.nresults != w->nstate))
        return report_broken("%s: the state has %d array%s, but an iteration gives %d", label,
                             w->nstate, w->nstate == 1 ? "" : "s", w->body.nresults),
               false;
    int nslots = w->leaves->absent ? w->leaves->slots[0] : w->nstate;
    for (int i = 0; i < nslots && i < graph_slots(&w->body); i++) {
        bool had = !w->leaves->absent || !w->leaves->absent[i];
        if (had != !(w->body.absent && w->body.absent[i]))
            return report_broken("%s: array %d of the state is %s, but an iteration %s", label, i,
                                 had ? "there" : "absent", had ? "leaves it out" : "makes one"),
                   false;
    }
    for (int i = 0; i < w->nstate; i++) {
        Type had = canonical_type(w->leaves, i), has = result_type(&w->body, i);
        bool gives = w->body.is_weak[i] && type_same_shape(had, has) &&
                     weak_yields(has.element, had.element);
        if (!type_equal(had, has) && !gives)
            return report_broken(
                       "%s: array %d of the state is %s, but an iteration makes it %s: it must "
                       "keep its type",
                       label, i, type_text(had), type_text(has)),
                   false;
    }
    return true;
}

/* ---- while ---- */

static bool is_condition(const Flow *w)
{
    bool is_one = w->other.nresults == 1;
    Type t = is_one ? result_type(&w->other, 0) : type_scalar(I1);
    if (is_one && t.rank == 0 && t.element == I1)
        return true;
    return report_broken("%s: the condition %s must give one boolean, and gives %s", w->f->label,
                         w->f->key.other->label, is_one ? type_text(t) : "several arrays"),
           false;
}

/* What g makes of what is carried; what follows the state stands around the loop. */
static bool loop_region(const Flow *w, const Graph *g, Graph *out)
{
    int n = w->nstate;
    tt *leaf = NEW(tt, w->leaves->n), *y = NEW(tt, g->nresults);
    Type *types = NEW(Type, n);
    Trace frame = { .loc = tracing->loc };
    for (int i = 0; i < n; i++)
        types[i] = type_at(w->in[i]);
    memcpy(leaf, w->in, sizeof *leaf * (size_t)w->leaves->n);
    frame_push(&frame);
    record_begin(n, types, NULL, leaf);
    trace_inline(w->f->label, g, leaf, y);
    for (int i = 0; g == &w->body && i < n; i++)
        y[i] = build_convert(y[i], types[i].element);
    bool ok = record_end(w->f->label, g->nresults, y, out);
    frame_pop(&frame);
    return ok;
}

static bool run_while(Flow *w, tt *y)
{
    Graph regions[2];
    Type *types = NEW(Type, w->nstate);
    for (int i = 0; i < w->nstate; i++)
        types[i] = type_at(w->in[i]);
    return loop_region(w, &w->other, &regions[0]) && loop_region(w, &w->body, &regions[1]) &&
           trace_apply_regions(w->f->label, OP_WHILE, w->nstate, w->in, NULL, 2, regions, w->nstate,
                               types, y);
}

/* ---- fori and scan ---- */

/* What the body is told: the number of the iteration, from the first bound on. */
static tt number_of(const Flow *w, tt iteration)
{
    if (w->trip_count == BOUNDS_GIVEN)
        return build2(OP_ADD, iteration, build_convert(w->in[w->ngiven], I32));
    int32_t first = w->f->key.first;
    return first ? build2(OP_ADD, iteration, build_number(type_scalar(I32), first)) : iteration;
}

static void record_iteration(tt iteration, const tt *in, tt *out, void *user)
{
    const Flow *w = user;
    int k = 0, n = w->ngiven;
    tt *leaf = NEW(tt, n + 1), *y = NEW(tt, w->body.nresults);
    tt row = iteration;
    if (w->f->key.is_backward)
        row =
            build2(OP_SUB, build_number(type_scalar(I32), (double)(w->trip_count - 1)), iteration);
    if (!w->nrows)
        leaf[k++] = number_of(w, iteration);
    for (int i = 0; i < n; i++) {
        bool is_row = i >= w->nstate && i < w->nstate + w->nrows;
        leaf[k++] = i < w->nstate ? in[i] : is_row ? build_row(w->in[i], row) : w->in[i];
    }
    trace_inline(w->f->label, &w->body, leaf, y);
    for (int i = 0; i < w->body.nresults; i++)
        out[i] = i < w->nstate ? build_convert(y[i], type_at(in[i]).element)
                               : build_set_row(in[i], row, y[i]);
}

static bool run_counted(Flow *w, tt *y)
{
    tt *init = NEW(tt, w->body.nresults);
    memcpy(init, w->in, sizeof *init * (size_t)w->nstate);
    for (int i = w->nstate; i < w->body.nresults; i++)
        init[i] = build_zeros(type_insert(result_type(&w->body, i), 0, w->trip_count));
    tt last = nhidden(w->f) ? w->in[w->leaves->n - 1] : NO_VALUE;
    if (w->trip_count == BOUNDS_GIVEN)
        last = build2(OP_SUB, build_convert(last, I32), build_convert(w->in[w->ngiven], I32));
    if (is_value(last))
        return loop_dynamic(last, w->body.nresults, init, record_iteration, w, y);
    return loop_counted(w->trip_count, w->body.nresults, init, record_iteration, w, y);
}

static bool count_rows(Flow *w)
{
    const Leaves *l = w->leaves;
    w->nrows = l->nargs > 1 ? l->counts[1] : 0;
    for (int i = w->nstate; i < w->nstate + w->nrows; i++) {
        Type t = l->types[i];
        if (!t.rank || !t.dims[0])
            return report_broken("%s: %s has no rows to go through", w->f->label, leaf_text(l, i)),
                   false;
        if (w->trip_count && t.dims[0] != w->trip_count)
            return report_broken("%s: %s has %lld rows, but %s has %lld", w->f->label,
                                 leaf_text(l, i), (long long)t.dims[0], leaf_text(l, w->nstate),
                                 (long long)w->trip_count),
                   false;
        w->trip_count = t.dims[0];
    }
    if (!w->nrows)
        report_broken(
            "%s: there is nothing to go through: the second argument is the array, or the "
            "tree of arrays, whose rows are taken one after the other",
            w->f->label);
    return w->nrows > 0;
}

/* ---- cond ---- */

static bool is_choice(const Flow *w)
{
    const char *label = w->f->label;
    if (w->leaves->types[0].rank)
        return report_broken("%s: the condition is %s, and must be one number; tt_where chooses "
                             "element by element",
                             label, type_text(w->leaves->types[0])),
               false;
    if (w->body.nresults != w->other.nresults)
        return report_broken("%s: one branch gives %d arrays, the other %d", label,
                             w->body.nresults, w->other.nresults),
               false;
    if (!slots_equal(&w->body, &w->other))
        return report_broken("%s: the branches leave out different arrays", label), false;
    for (int i = 0; i < w->body.nresults; i++)
        if (!type_equal(result_type(&w->body, i), result_type(&w->other, i)))
            return report_broken(
                       "%s: array %d is %s from one branch and %s from the other: they must "
                       "be of one type",
                       label, i, type_text(result_type(&w->body, i)),
                       type_text(result_type(&w->other, i))),
                   false;
    return true;
}

static bool branch_region(const Flow *w, const Graph *g, Graph *out)
{
    tt *y = NEW(tt, g->nresults);
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(0, NULL, NULL, y);
    trace_inline(w->f->label, g, w->in + 1, y);
    bool ok = record_end(w->f->label, g->nresults, y, out);
    frame_pop(&frame);
    return ok;
}

static bool run_cond(Flow *w, tt *y)
{
    Graph regions[2];
    Type *types = NEW(Type, w->body.nresults), t = type_at(w->in[0]);
    tt condition = t.element == I1 ? w->in[0] : build_compare(NE, w->in[0], build_zeros(t));
    for (int i = 0; i < w->body.nresults; i++)
        types[i] = result_type(&w->body, i);
    return branch_region(w, &w->body, &regions[0]) && branch_region(w, &w->other, &regions[1]) &&
           trace_apply_regions(w->f->label, OP_IF, 1, &condition, NULL, 2, regions,
                               w->body.nresults, types, y);
}

/* ---- graphs ---- */

/* The functions inside, traced. */
static bool trace_functions(Flow *w)
{
    const FnKey *key = &w->f->key;
    Type iteration = type_scalar(I32);
    Leaves l =
        inner_leaves(w, key->kind == FN_COND, is_numbered((FnKind)key->kind) ? &iteration : NULL);
    return fn_graph(key->inner, &l, &w->body) &&
           (!key->other || fn_graph(key->other, &l, &w->other));
}

/* Does an iteration make the state differ between devices along more axes than it did?  Then it
 * does so from the start. */
static bool state_varies_more(Flow *w)
{
    const FnKey *key = &w->f->key;
    Type iteration = type_scalar(I32);
    Leaves l = inner_leaves(w, false, is_numbered((FnKind)key->kind) ? &iteration : NULL);
    const AxisSet *made = results_vary(&w->body, l.varies);
    bool grows = false;
    for (int i = 0; i < w->nstate && i < w->body.nresults; i++) {
        grows |= (made[i] & ~w->varies[i]) != 0;
        w->varies[i] |= made[i];
    }
    return grows;
}

/* Is leaf i one integer?  False: reported. */
static bool is_integer(tt_fn f, const Leaves *leaves, int i, const char *what)
{
    ElementKind kind = element_info[leaves->types[i].element].kind;
    if (!leaves->types[i].rank && (kind == SIGNED || kind == UNSIGNED))
        return true;
    report_broken("%s: %s is %s, and must be one integer", f->label, what,
                  type_text(leaves->types[i]));
    return false;
}

/* ---- switch ---- */

/* The functions traced, all giving the same types.  False: reported. */
static bool trace_branches(Flow *w)
{
    const tt_fn *f = w->f->key.config;
    int n = w->nbranches = (int)(w->f->key.config_size / sizeof(tt_fn));
    Graph *branch = w->branches = NEW(Graph, n);
    Leaves l = inner_leaves(w, 1, NULL);
    for (int k = 0; k < n; k++) {
        if (!fn_graph(f[k], &l, &branch[k]))
            return false;
        bool same = branch[k].nresults == branch[0].nresults && slots_equal(&branch[k], &branch[0]);
        for (int i = 0; same && i < branch[0].nresults; i++)
            same = type_equal(result_type(&branch[k], i), result_type(&branch[0], i));
        if (!same)
            return report_broken("%s: branch %d, %s, does not give what branch 0 gives: they must "
                                 "be of one type",
                                 w->f->label, k, f[k]->label),
                   false;
    }
    w->body = branch[0];
    return true;
}

static bool run_switch(const Flow *w, tt *y)
{
    const Graph *branch = w->branches;
    int n = w->nbranches, nresults = branch[0].nresults;
    Graph *regions = NEW(Graph, n);
    Type *types = NEW(Type, nresults), one = type_scalar(I32);
    tt limits[] = { build_zeros(one), build_convert(w->in[0], I32), build_number(one, n - 1) };
    tt index = build_op(OP_CLAMP, 3, limits, NULL, one);
    for (int i = 0; i < nresults; i++)
        types[i] = result_type(&branch[0], i);
    for (int k = 0; k < n; k++)
        if (!branch_region(w, &branch[k], &regions[k]))
            return false;
    return trace_apply_regions(w->f->label, OP_CASE, 1, &index, NULL, n, regions, nresults, types,
                               y);
}

/* ---- all of them ---- */

/* The graphs of the functions inside, and that they fit together.  A gradient in a loop's body
 * depends on how the state differs: the body is traced until that is known. */
static bool trace_inside(Flow *w)
{
    const FnKey *key = &w->f->key;
    if (key->kind == FN_SWITCH)
        return trace_branches(w);
    bool again = w->varies && key->kind != FN_COND;
    unsigned asked = session->asked;
    w->trip_count = key->trip_count;
    if (key->kind == FN_SCAN && !count_rows(w))
        return false;
    do {
        if (!trace_functions(w))
            return false;
    } while (again && session->asked != asked && state_varies_more(w));
    if (key->kind == FN_COND)
        return is_choice(w);
    return keeps_state(w) && (key->kind != FN_WHILE || is_condition(w));
}

bool flow_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    bool is_switch = f->key.kind == FN_SWITCH;
    int n = leaves->n;
    if ((is_switch && !is_integer(f, leaves, 0, "the index")) ||
        (nhidden(f) == 2 && (!is_integer(f, leaves, n - 2, "the first bound") ||
                             !is_integer(f, leaves, n - 1, "the second bound"))))
        return false;
    Flow w = { .f = f,
               .leaves = leaves,
               .nstate = is_switch ? 1 : leaves->counts[0],
               .ngiven = leaves->n - nhidden(f) };
    Trace frame = { .how = f->how,
                    .name = f->key.inner->label,
                    .file = f->file,
                    .line = f->line,
                    .is_flow = true };
    frame_push(&frame);
    if (leaves->varies)
        w.varies =
            arena_copy(trace_arena(), leaves->varies, sizeof *leaves->varies * (size_t)leaves->n);
    bool ok = trace_inside(&w);
    if (ok) {
        tt *y = NEW(tt, w.body.nresults);
        w.in = NEW(tt, leaves->n);
        record_begin(leaves->n, leaves->types, leaves->is_weak, w.in);
        for (int i = 0; i < leaves->n; i++)
            w.in[i] = build_convert(w.in[i], canonical_type(leaves, i).element);
        ok = (f->key.kind == FN_WHILE  ? run_while(&w, y)
              : f->key.kind == FN_COND ? run_cond(&w, y)
              : is_switch              ? run_switch(&w, y)
                                       : run_counted(&w, y)) &&
             record_end(f->label, w.body.nresults, y, out);
        if (ok)
            slots_like(out, &w.body);
        if (tracing->region)
            record_drop();
    }
    frame_pop(&frame);
    return ok;
}

/* ---- the interface ---- */

static const tt *call_key(FnKey key, const char *how, const tt_tree *args, int nargs, int nresults)
{
    FnKind kind = (FnKind)key.kind;
    tt_fn inner = key.inner, other = key.other;
    bool is_whole = fn_is_given(inner, how) &&
                    (is_numbered(kind) || kind == FN_SCAN || fn_is_given(other, how));
    tt_fn f = is_whole ? fn_intern(&key, how, NULL) : NULL;
    return tt_call_n(f, args, nargs, nresults);
}

static const tt *call(FnKind kind, const char *how, tt_fn inner, tt_fn other, int64_t trip_count,
                      const tt_tree *args, int nargs, int nresults)
{
    FnKey key = { .kind = kind, .inner = inner, .other = other, .trip_count = trip_count };
    return call_key(key, how, args, nargs, nresults);
}

const tt *tt_while_n(tt_fn condition, tt_fn body, const tt_tree *args, int nargs)
{
    PUBLIC;
    return call(FN_WHILE, "while", body, condition, 0, args, nargs, args[0].n);
}

const tt *tt_fori_n(int64_t trip_count, tt_fn body, const tt_tree *args, int nargs)
{
    PUBLIC;
    bool fits = trip_count >= 0 && trip_count <= INT32_MAX && nargs < TT_MAX_ARGS;
    if (nargs >= TT_MAX_ARGS)
        report_broken("tt_fori: %d arguments and the iteration: a body takes at most %d", nargs,
                      TT_MAX_ARGS);
    else if (!fits)
        report_broken("tt_fori: %lld iterations: from 0 to %d are possible", (long long)trip_count,
                      INT32_MAX);
    if (!fits || tracing)
        return call(FN_FORI, "fori", fits ? body : NULL, NULL, trip_count, args, nargs, args[0].n);
    tt_tree all[TT_MAX_ARGS];
    int32_t number = (int32_t)trip_count;
    Array *array = array_from_host(type_scalar(I32), &number, layout_home());
    tt given = array ? value_of_array(array, false) : NO_VALUE;
    memcpy(all, args, sizeof *args * (size_t)nargs);
    all[nargs] = (tt_tree){ &given, 1 };
    return call(FN_FORI, "fori", body, NULL, TRIPS_GIVEN, all, nargs + 1, args[0].n);
}

/* The integer that x is known to be while a function is traced.  False: that is not known. */
static bool known_bound(tt x, int64_t *out)
{
    Held held;
    if (!value_pin(x, "tt_fori_to", &held))
        return false;
    ElementKind kind = element_info[held.type.element].kind;
    bool known = held.array && held.array->has_small && !held.type.rank &&
                 (kind == SIGNED || kind == UNSIGNED);
    if (known)
        *out = number_int(held.type.element, held.array->small);
    value_unpin(x);
    return known;
}

const tt *tt_fori_to_n(tt from, tt to, tt_fn body, const tt_tree *args, int nargs)
{
    PUBLIC;
    int64_t first = 0, end = 0;
    tt_tree all[TT_MAX_ARGS + 2];
    if (nargs > TT_MAX_ARGS - 2)
        return report_broken(
                   "tt_fori_to: %d arguments, the iteration and two bounds: at most %d are "
                   "possible in all",
                   nargs, TT_MAX_ARGS + 1),
               tt_call_n(NULL, args, 0, args[0].n);
    FnKey key = { .kind = FN_FORI, .inner = body, .trip_count = BOUNDS_GIVEN };
    bool fits = tracing && known_bound(from, &first) && known_bound(to, &end) &&
                first >= INT32_MIN && end <= INT32_MAX;
    if (fits) {
        key.trip_count = end > first ? end - first : 0;
        key.first = (int32_t)first;
        return call_key(key, "fori", args, nargs, args[0].n);
    }
    memcpy(all, args, sizeof *args * (size_t)nargs);
    all[nargs] = (tt_tree){ &from, 1 };
    all[nargs + 1] = (tt_tree){ &to, 1 };
    return call_key(key, "fori", all, nargs + 2, args[0].n);
}

const tt *tt_scan_n(tt_fn body, const tt_tree *args, int nargs, int nresults)
{
    PUBLIC;
    return call(FN_SCAN, "scan", body, NULL, 0, args, nargs, nresults);
}

const tt *tt_associative_scan_n(tt_fn f, tt_tree tree)
{
    PUBLIC;
    int counts[TT_MAX_ARGS],
        n = fn_is_given(f, "tt_associative_scan") ? fn_arguments(f, counts) : -1;
    if (n >= 0 && (n != 2 || counts[0] != tree.n || counts[1] != tree.n)) {
        report_broken(
            "tt_associative_scan: %s must take two trees of %d array%s: rows, and the rows "
            "behind them",
            f->label, tree.n, tree.n == 1 ? "" : "s");
        return tt_call_n(NULL, &tree, 1, tree.n);
    }
    FnKey key = { .kind = FN_ASSOCIATIVE, .inner = f };
    tt_fn whole = f ? fn_intern(&key, "associative_scan", NULL) : NULL;
    return tt_call_n(whole, &tree, 1, tree.n);
}

const tt *tt_scan_back_n(tt_fn body, const tt_tree *args, int nargs, int nresults)
{
    PUBLIC;
    FnKey key = { .kind = FN_SCAN, .inner = body, .is_backward = 1 };
    return call_key(key, "scan_back", args, nargs, nresults);
}

const tt *tt_steps_n(int64_t trip_count, tt_fn body, const tt_tree *args, int nargs, int nresults)
{
    PUBLIC;
    bool fits = trip_count >= 0 && trip_count <= INT32_MAX && nargs < TT_MAX_ARGS;
    if (!fits)
        report_broken("tt_steps: %lld iterations with %d arguments: from 0 to %d are possible, of "
                      "fewer than %d",
                      (long long)trip_count, nargs, INT32_MAX, TT_MAX_ARGS);
    return call(FN_STEPS, "steps", fits ? body : NULL, NULL, trip_count, args, nargs, nresults);
}

const tt *tt_cond_n(tt condition, tt_fn yes, tt_fn no, const tt_tree *args, int nargs, int nresults)
{
    PUBLIC;
    tt_tree all[TT_MAX_ARGS] = { { &condition, 1 } };
    bool fits = nargs < TT_MAX_ARGS;
    if (fits)
        memcpy(all + 1, args, sizeof *args * (size_t)nargs);
    else
        report_broken("tt_cond: %d arguments and the condition: at most %d are possible in all",
                      nargs, TT_MAX_ARGS);
    return call(FN_COND, "cond", fits ? yes : NULL, no, 0, all, nargs + 1, nresults);
}

const tt *tt_switch_n(tt index, const tt_fn *f, int n, const tt_tree *args, int nargs, int nresults)
{
    PUBLIC;
    tt_tree all[TT_MAX_ARGS] = { { &index, 1 } };
    bool fits = n > 0 && nargs < TT_MAX_ARGS;
    for (int k = 0; fits && k < n; k++)
        fits = f[k] != NULL;
    if (!fits) {
        report_broken("tt_switch: %d functions of %d arguments: at least one, each given, of at "
                      "most %d",
                      n, nargs, TT_MAX_ARGS - 1);
        return tt_call_n(NULL, NULL, 0, nresults);
    }
    memcpy(all + 1, args, sizeof *args * (size_t)nargs);
    FnKey key = { .kind = FN_SWITCH, .inner = f[0], .config_size = sizeof *f * (size_t)n };
    key.config = intern_bytes(f, key.config_size);
    tt_fn whole = key.config ? fn_intern(&key, "switch", NULL) : NULL;
    return tt_call_n(whole, all, nargs + 1, nresults);
}
