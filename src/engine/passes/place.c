/* place.c - from a program for many partitions to the program of one device. */
#include "engine/plan.h"
#include "hlo/rewrite.h"

#include <stdlib.h>

/* ---- donation ---- */

static const Attr *param_attr(const Attr *const *attrs, int i, const char *key)
{
    return attrs ? attr_get(attrs[i], key) : NULL;
}

/* Arguments whose memory the caller gives away, and the results that wish to have it. */
static void match_donations(Plan *p, const Func *main, int nargs, int nresults)
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

static void place_whole(Plan *p)
{
    Module *m = p->m;
    const Region *body = region_at(m, p->main);
    const Node *last = region_return(m, p->main);
    for (int i = 0; i < body->nargs; i++)
        p->args[i] = whole_param(m, type_of(m, body->args + (uint32_t)i));
    for (int i = 0; i < last->nin; i++)
        p->results[i] = whole_param(m, type_of(m, last->in[i]));
}

Error *place(Plan *p)
{
    Module *m = p->m;
    int nargs = region_at(m, p->main)->nargs, nresults = region_return(m, p->main)->nin;
    p->args = ARENA_ARRAY(m->arena, Param, nargs + 1);
    p->results = ARENA_ARRAY(m->arena, Param, nresults + 1);
    if (m->npartitions > 1)
        return error_new(CODE_UNIMPLEMENTED, "not supported: a program for %d partitions",
                         m->npartitions);
    place_whole(p);
    match_donations(p, func_find(m, STR("main")), nargs, nresults);
    return NULL;
}
