/* params.c - what main takes and gives: types of wholes and pieces, tilings, donated memory.
 *
 * In go main's attributes and the compile options; out come the plan's Params.  An argument
 * that the program leaves open, and that the caller lets us place, lies as its first user that
 * cares would have it: a manual computation or a constraint.  Memory that the caller gives
 * away (tf.aliasing_output names the result, jax.buffer_donor leaves the choice) is matched
 * with results; whether it can be taken over is for assign to say. */
#include "engine/passes/place.h"

/* ---- donation ---- */

static const Attr *param_attr(const Attr *const *attrs, int i, const char *key)
{
    return attrs ? attr_get(attrs[i], key) : NULL;
}

void match_donations(Plan *p, const Func *main, int nargs, int nresults)
{
    for (int k = 0; k < nresults; k++)
        p->results[k].alias = -1;
    for (int i = 0; i < nargs; i++) {
        const Attr *wish = param_attr(main->arg_attrs, i, "tf.aliasing_output");
        if (!wish || wish->kind != ATTR_INT || wish->integer < 0 || wish->integer >= nresults)
            continue;
        p->args[i].may_donate = true;
        p->results[wish->integer].alias = i;
    }
    for (int i = 0; i < nargs; i++) {
        const Attr *donor = param_attr(main->arg_attrs, i, "jax.buffer_donor");
        if (!donor || donor->kind != ATTR_BOOL || !donor->integer || p->args[i].may_donate)
            continue;
        p->args[i].may_donate = true;
        for (int k = 0; k < nresults; k++)
            if (p->results[k].alias < 0 && type_equal(p->results[k].local, p->args[i].local)) {
                p->results[k].alias = i;
                break;
            }
    }
}

/* ---- one partition ---- */

static Param whole_param(Module *m, Type t)
{
    return (Param){ .whole = t, .local = t, .tiling = tiling_replicated(m->arena, t.rank, 1) };
}

void place_whole(Plan *p)
{
    Module *m = p->m;
    const Region *body = region_at(m, p->main);
    const Node *last = region_return(m, p->main);
    for (int i = 0; i < body->nargs; i++)
        p->args[i] = whole_param(m, type_of(m, body->args + (uint32_t)i));
    for (int i = 0; i < last->nin; i++)
        p->results[i] = whole_param(m, type_of(m, last->in[i]));
}

/* ---- many partitions ---- */

/* How the first one to care about v would have it. */
static MUST_USE Error *wished_tiling(const Placer *z, ValueId v, Tiling *out)
{
    const Module *m = z->m;
    const Region *body = region_at(m, z->plan->main);
    for (int i = 0; i < body->nnodes; i++) {
        const Node *node = node_at(m, body->nodes[i]);
        for (int k = 0; k < node->nin; k++) {
            if (node->in[k] != v)
                continue;
            if (node->op == OP_MANUAL)
                return manual_tiling(z, node, true, k, out);
            if (is_mark(node))
                return mark_tiling(z, node, out);
        }
    }
    return NULL;
}

Error *make_param(const Placer *z, const char *what, int i, Type whole, Tiling t, Param *out)
{
    *out = (Param){ .whole = whole, .tiling = t, .alias = -1 };
    Error *error = tiling_local(z->m->arena, t, whole, &out->local);
    return error ? error_in(error, "%s %d of @main", what, i) : NULL;
}

Error *place_args(Placer *z, const Func *main)
{
    Module *m = z->m;
    const CompileOptions *o = z->plan->o;
    for (int i = 0; i < region_at(m, main->body)->nargs; i++) {
        ValueId v = region_at(m, main->body)->args + (uint32_t)i;
        Type whole = type_of(m, v);
        Tiling t;
        bool is_said;
        Error *error = stated_tiling(z, main->arg_attrs ? main->arg_attrs[i] : NULL, whole.rank,
                                     &t, &is_said);
        if (error)
            return error_in(error, "argument %d of @main", i);
        if (!is_said && o && o->free_args && i < o->nfree_args && o->free_args[i])
            TRY(wished_tiling(z, v, &t));
        TRY(make_param(z, "argument", i, whole, t, &z->plan->args[i]));
    }
    return NULL;
}

Error *place_results(Placer *z, const Func *main, Tiling *want, bool *open)
{
    const CompileOptions *o = z->plan->o;
    for (int i = 0; i < main->nresults; i++) {
        bool is_said;
        Error *error = stated_tiling(z, main->result_attrs ? main->result_attrs[i] : NULL,
                                     main->results[i].rank, &want[i], &is_said);
        if (error)
            return error_in(error, "result %d of @main", i);
        TRY(make_param(z, "result", i, main->results[i], want[i], &z->plan->results[i]));
        open[i] = !is_said && o && o->free_results && i < o->nfree_results && o->free_results[i];
    }
    return NULL;
}
