/* params.c - what main takes and gives: types of wholes and shards, tilings, donated memory.
 *
 * In go main's attributes and the compile options; out come Params.  An argument
 * that the program leaves open, and that the caller lets us place, lies as its first user that
 * cares would have it: a manual computation or a constraint.  Memory that the caller gives
 * away (tf.aliasing_output names the result, jax.buffer_donor leaves the choice) is matched
 * with results; whether it can be taken over is for assign to say.  An argument that no result
 * fits stays the caller's. */
#include "engine/passes/place/place.h"

/* ---- donation ---- */

static const Attr *param_attr(const Attr *const *attrs, int i, const char *key)
{
    return attrs ? attr_get(attrs[i], key) : NULL;
}

void match_donations(const Func *main, int nargs, Param *args, int nresults, Param *results)
{
    for (int k = 0; k < nresults; k++)
        results[k].alias = -1;
    for (int i = 0; i < nargs; i++) {
        const Attr *alias = param_attr(main->arg_attrs, i, "tf.aliasing_output");
        if (!alias || alias->kind != ATTR_INT || alias->integer < 0 || alias->integer >= nresults)
            continue;
        args[i].may_donate = true;
        results[alias->integer].alias = i;
    }
    for (int i = 0; i < nargs; i++) {
        const Attr *donor = param_attr(main->arg_attrs, i, "jax.buffer_donor");
        if (!donor || donor->kind != ATTR_BOOL || !donor->integer || args[i].may_donate)
            continue;
        size_t bytes = type_bytes(args[i].local);
        for (int k = 0; k < nresults && !args[i].may_donate; k++)
            if (results[k].alias < 0 && type_bytes(results[k].local) == bytes) {
                results[k].alias = i;
                args[i].may_donate = true;
            }
    }
}

/* ---- kinds of memory ---- */

static MUST_USE Error *read_memory_kind(const Attr *const *attrs, const char *what, int i,
                                        Param *param)
{
    const Attr *named = param_attr(attrs, i, "mhlo.memory_kind");
    if (!named || named->kind != ATTR_STRING)
        return NULL;
    for (int k = 0; k < MEMORY_KINDS; k++)
        if (str_is(named->string, memory_kind_names[k])) {
            param->kind = (MemoryKind)k;
            return NULL;
        }
    return error_new(
        CODE_INVALID,
        "%s %d of @main: there is no memory \"%.*s\"; there are device, pinned_host and "
        "unpinned_host",
        what, i, STR_ARG(named->string));
}

Error *read_memory_kinds(const Func *main, int nargs, Param *args, int nresults, Param *results)
{
    for (int i = 0; i < nargs; i++)
        TRY(read_memory_kind(main->arg_attrs, "argument", i, &args[i]));
    for (int i = 0; i < nresults; i++)
        TRY(read_memory_kind(main->result_attrs, "result", i, &results[i]));
    return NULL;
}

/* ---- one partition ---- */

static const Param *whole_params(const Module *m, int n, const ValueId *values, ValueId first)
{
    Param *params = ARENA_ARRAY(m->arena, Param, n + 1);
    for (int i = 0; i < n; i++) {
        Type t = type_of(m, values ? values[i] : first + (ValueId)i);
        params[i] = (Param){
            .whole = t, .local = t, .tiling = tiling_replicated(m->arena, t.rank, 1), .alias = -1
        };
    }
    return params;
}

Params params_whole(const Module *m, RegionId r)
{
    const Region *body = region_at(m, r);
    const Node *last = region_return(m, r);
    return (Params){ body->nargs, last->nin, whole_params(m, body->nargs, NULL, body->args),
                     whole_params(m, last->nin, last->in, 0) };
}

/* ---- how the users of a value would have it lie ---- */

/* By whole value. */
typedef struct Preferences {
    const Placer *z;
    Tiling *at; /* z->preferred */
} Preferences;

static bool has_preference(const Preferences *w, ValueId v)
{
    return w->at[v].rank >= 0;
}

static MUST_USE Error *collect_preferences(Preferences *w, RegionId r);

/* No argument comes as partial sums unless the program says so. */
static MUST_USE Error *prefer_of_manual(Preferences *w, const Node *node, int i)
{
    Tiling t;
    TRY(manual_tiling(w->z, node, true, i, &t));
    w->at[node->in[i]] = tiling_summed(t);
    return NULL;
}

static MUST_USE Error *prefer_of_mark(Preferences *w, const Node *node)
{
    Tiling t;
    if (is_alike(node)) { /* it hands on what others say */
        if (has_preference(w, node->out))
            w->at[node->in[0]] = w->at[node->out];
        return NULL;
    }
    TRY(mark_tiling(w->z, node, &t));
    w->at[node->in[0]] = tiling_summed(t);
    return NULL;
}

/* Values of one shape lie the same way, so they take the preference of the result. */
static void prefer_through_map(Preferences *w, const Node *node)
{
    if (op_info[node->op].kind != KIND_MAP || !has_preference(w, node->out))
        return;
    for (int i = 0; i < node->nin; i++)
        if (type_of(w->z->m, node->in[i]).rank == w->at[node->out].rank)
            w->at[node->in[i]] = w->at[node->out];
}

static MUST_USE Error *prefer_through_loop(Preferences *w, const Node *node)
{
    const Module *m = w->z->m;
    RegionId body = node->regions[1];
    const Node *last = region_return(m, body);
    for (int i = 0; i < node->nout; i++)
        if (has_preference(w, node->out + (uint32_t)i))
            w->at[last->in[i]] = w->at[node->out + (uint32_t)i];
    TRY(collect_preferences(w, body));
    for (int i = 0; i < node->nin; i++) {
        ValueId arg = region_at(m, body)->args + (uint32_t)i;
        if (has_preference(w, arg))
            w->at[node->in[i]] = w->at[arg];
    }
    return NULL;
}

/* Backwards, so that the first user has the last word. */
static MUST_USE Error *collect_preferences(Preferences *w, RegionId r)
{
    const Module *m = w->z->m;
    for (int i = region_at(m, r)->nnodes - 2; i >= 0; i--) {
        const Node *node = node_at(m, region_at(m, r)->nodes[i]);
        for (int k = 0; node->op == OP_MANUAL && k < node->nin; k++)
            TRY(prefer_of_manual(w, node, k));
        for (int k = 0; node_flow(node) == FLOW_BRANCH && k < node->nregions; k++)
            TRY(collect_preferences(w, node->regions[k]));
        if (is_mark(node))
            TRY(prefer_of_mark(w, node));
        else if (node_flow(node) == FLOW_LOOP)
            TRY(prefer_through_loop(w, node));
        else
            prefer_through_map(w, node);
    }
    return NULL;
}

static MUST_USE Error *preferences_of_main(Preferences *w)
{
    for (uint32_t v = 0; v < w->z->nwhole; v++)
        w->at[v].rank = -1;
    return collect_preferences(w, w->z->main);
}

/* ---- main ---- */

Error *make_param(const Placer *z, const char *what, int i, Type whole, Tiling t, Param *out)
{
    *out = (Param){ .whole = whole, .tiling = tiling_copy(z->m->arena, t), .alias = -1 };
    Error *error = tiling_local(z->m->arena, t, whole, &out->local);
    return error ? error_in(error, "%s %d of @main", what, i) : NULL;
}

Error *place_args(Placer *z, const Func *main)
{
    Module *m = z->m;
    const CompileOptions *o = z->o;
    z->preferred = ARENA_ARRAY(z->scratch, Tiling, z->nwhole);
    Preferences preferred = { z, z->preferred };
    TRY(preferences_of_main(&preferred));
    for (int i = 0; i < region_at(m, main->body)->nargs; i++) {
        ValueId v = region_at(m, main->body)->args + (uint32_t)i;
        Type whole = type_of(m, v);
        Tiling t;
        bool is_said;
        const Attr *attrs = main->arg_attrs ? main->arg_attrs[i] : NULL;
        Error *error = declared_tiling(z, attrs, whole.rank, &t, &is_said);
        if (error)
            return error_in(error, "argument %d of @main", i);
        if (!is_said && o && o->free_args && i < o->nfree_args && o->free_args[i])
            t = has_preference(&preferred, v) ? preferred.at[v] : t;
        TRY(make_param(z, "argument", i, whole, t, &z->args[i]));
    }
    return NULL;
}

Error *place_results(Placer *z, const Func *main, Tiling *want, bool *open)
{
    const CompileOptions *o = z->o;
    for (int i = 0; i < main->nresults; i++) {
        bool is_said;
        Error *error = declared_tiling(z, main->result_attrs ? main->result_attrs[i] : NULL,
                                       main->results[i].rank, &want[i], &is_said);
        if (error)
            return error_in(error, "result %d of @main", i);
        TRY(make_param(z, "result", i, main->results[i], want[i], &z->results[i]));
        open[i] = !is_said && o && o->free_results && i < o->nfree_results && o->free_results[i];
    }
    return NULL;
}
