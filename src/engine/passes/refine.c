/* refine.c - from a file of functions to one function without questions left open.
 *
 * In goes a module as it was read; out comes the same module whose only function is main:
 *
 *   main: y = call @f(x)            main: t = mul x, x      f's body, once per call
 *         z = if p {A} else {B}           i = convert p : i32
 *         w = optimization_barrier z      z = case i {B}, {A}
 *         return w                        return z
 *
 * Calls and composites become the callee's operations, what stands for other operations is
 * written out (hlo/define), `if` becomes `case`, and what only
 * says something about values (barriers; sharding constraints where they mean nothing) goes
 * away; an asynchronous collective is done where it starts.  After it no CALL, COMPOSITE, IF or
 * BARRIER is left, CONSTRAINT only at the top of a main of several partitions, and every extent is
 * known; a program with extents left open is refused.
 *
 * Functions are made callless bottom-up, so that each body is walked once however often it is
 * called; only the copies cost, and they are counted. */
#include "base/fail.h"
#include "engine/plan.h"
#include "hlo/define/define.h"
#include "hlo/rewrite.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST_CALL = 256, MOST_NODES = 1 << 20 };

typedef struct Refiner {
    Module *m;
    Subst map;                  /* results of what is gone, and copies of what was called */
    char *state;                /* per function: 0 not seen, 1 being inlined, 2 without calls */
    int path[DEEPEST_CALL + 1]; /* functions being inlined, outermost first */
    int depth;
} Refiner;

typedef MUST_USE Error *Rewrite(Refiner *z, RegionId r, NodeId n);

/* Gives every node of r and below to `rewrite`, which appends to the emptied region what shall
 * stand there.  Operands are those of the new nodes already; inner regions come first. */
static MUST_USE Error *rebuild(Refiner *z, RegionId r, Rewrite *rewrite)
{
    Module *m = z->m;
    int n = region_at(m, r)->nnodes;
    NodeId none = 0, *old = arena_copy(m->arena, region_at(m, r)->nodes, sizeof *old * (size_t)n);
    region_set_nodes(m, r, 0, &none);
    for (int i = 0; i < n; i++) {
        Node *node = node_at(m, old[i]);
        for (int k = 0; k < node->nin; k++)
            node->in[k] = subst_get(&z->map, node->in[k]);
        for (int k = 0; k < node_at(m, old[i])->nregions; k++)
            TRY(rebuild(z, node_at(m, old[i])->regions[k], rewrite));
        TRY(rewrite(z, r, old[i]));
    }
    return NULL;
}

static void replace_results(Refiner *z, NodeId n, const ValueId *by)
{
    const Node *node = node_at(z->m, n);
    for (int i = 0; i < node->nout; i++)
        subst_set(&z->map, node->out + (uint32_t)i, by[i]);
}

/* The operations of `body` stand where n stood, its arguments being n's operands. */
static void open_up(Refiner *z, RegionId r, NodeId n, RegionId body)
{
    Module *m = z->m;
    ValueId args = region_at(m, body)->args;
    for (int i = 0; i < node_at(m, n)->nin; i++)
        subst_set(&z->map, args + (uint32_t)i, node_at(m, n)->in[i]);
    region_copy_into(m, body, r, &z->map);
    replace_results(z, n, region_return(m, body)->in);
}

/* ---- calls ---- */

static MUST_USE Error *cycle_error(const Refiner *z, int again, const Loc *from)
{
    const Module *m = z->m;
    Text text = { 0 };
    for (int i = 0; i < z->depth; i++)
        text_printf(&text, "@%.*s calls ", STR_ARG(m->funcs[z->path[i]].name));
    text_printf(&text, "@%.*s", STR_ARG(m->funcs[again].name));
    Error *error = error_new(CODE_INVALID, "func.call (%s): %s: a function may not call itself",
                             loc_name(from), text_cstr(&text));
    text_free(&text);
    return error;
}

static MUST_USE Error *check_call(const Module *m, const Node *node, const Func *f)
{
    const Region *body = region_at(m, f->body);
    const Node *last = body->nnodes ? region_return(m, f->body) : NULL;
    bool fits = last && body->nargs == node->nin && last->nin == node->nout;
    for (int i = 0; fits && i < node->nin; i++)
        fits = type_equal(type_of(m, node->in[i]), type_of(m, body->args + (uint32_t)i));
    for (int i = 0; fits && i < node->nout; i++)
        fits = type_equal(type_of(m, node->out + (uint32_t)i), type_of(m, last->in[i]));
    if (fits)
        return NULL;
    return error_new(
        CODE_INVALID, "%s: %d operands and %d results do not fit the types of @%.*s, at %s",
        op_name(node->op), node->nin, node->nout, STR_ARG(f->name), loc_name(node->loc));
}

static MUST_USE Error *inline_func(Refiner *z, int which, const Loc *from);

static MUST_USE Error *inline_call(Refiner *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    const Node *node = node_at(m, n);
    if (node->op != OP_CALL && node->op != OP_COMPOSITE) {
        region_append(m, r, n);
        return NULL;
    }
    const Loc *loc = node->loc;
    Str callee = node->op == OP_CALL ? ((const CallAttrs *)node->attrs)->callee
                                     : ((const CompositeAttrs *)node->attrs)->decomposition;
    const Func *f = func_find(m, callee);
    if (!f || !f->body)
        return error_new(CODE_INVALID, "%s: no function @%.*s, at %s", op_name(node->op),
                         STR_ARG(callee), loc_name(loc));
    TRY(inline_func(z, (int)(f - m->funcs), loc));
    TRY(check_call(m, node_at(m, n), f));
    open_up(z, r, n, f->body);
    if (m->nnodes > MOST_NODES)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: more than %d operations once calls are replaced by "
                         "what they call, at the call of @%.*s, %s",
                         MOST_NODES, STR_ARG(callee), loc_name(loc));
    return NULL;
}

static MUST_USE Error *inline_func(Refiner *z, int which, const Loc *from)
{
    if (z->state[which] == 2)
        return NULL;
    if (z->state[which] == 1)
        return cycle_error(z, which, from);
    if (z->depth == DEEPEST_CALL)
        return error_new(CODE_UNIMPLEMENTED, "not supported: calls more than %d deep, at %s",
                         DEEPEST_CALL, loc_name(from));
    z->state[which] = 1;
    z->path[z->depth++] = which;
    TRY(rebuild(z, z->m->funcs[which].body, inline_call));
    z->depth--;
    z->state[which] = 2;
    return NULL;
}

/* ---- marks, and two ways of saying one thing ---- */

static bool is_same_type(const Module *m, const Node *node)
{
    return node->nin == 1 && node->nout == 1 &&
           type_equal(type_of(m, node->in[0]), type_of(m, node->out));
}

/* Custom calls that hand their operand on.  In a program of several partitions the first
 * three are the GSPMD way to write shardings, which place reads at the top of main. */
static bool is_identity_call(const Module *m, const Node *node, bool may_place)
{
    static const char *const marks[] = { "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                         "annotate_device_placement", "LayoutConstraint" };
    enum { NMARKS = sizeof marks / sizeof *marks, NSHARDING = 3 };
    if (node->op != OP_CUSTOM_CALL || !is_same_type(m, node))
        return false;
    Str target = ((const CustomCallAttrs *)node->attrs)->call_target_name;
    for (int i = may_place ? NSHARDING : 0; i < NMARKS; i++)
        if (str_is(target, marks[i]))
            return true;
    return false;
}

static void if_to_case(Refiner *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    Node old = *node_at(m, n);
    ValueId index = build_node(m, r, OP_CONVERT, 1, old.in, type_scalar(I32), NULL, old.loc);
    RegionId regions[] = { old.regions[1], old.regions[0] }; /* false is 0 */
    Type *types = ARENA_ARRAY(m->arena, Type, old.nout + 1);
    for (int i = 0; i < old.nout; i++)
        types[i] = type_of(m, old.out + (uint32_t)i);
    NodeId new = node_new(m, OP_CASE, 1, &index, old.nout, types, 2, regions, old.attrs, old.loc);
    region_append(m, r, new);
    for (int i = 0; i < old.nout; i++)
        subst_set(&z->map, old.out + (uint32_t)i, node_at(m, new)->out + (uint32_t)i);
}

/* On one device a manual computation's pieces are the whole. */
static MUST_USE Error *open_manual(Refiner *z, RegionId r, NodeId n)
{
    const Module *m = z->m;
    const Node *node = node_at(m, n);
    RegionId body = node->regions[0];
    const Node *last = region_return(m, body);
    bool fits = region_at(m, body)->nargs == node->nin && last->nin == node->nout;
    for (int i = 0; fits && i < node->nin; i++)
        fits =
            type_equal(type_of(m, node->in[i]), type_of(m, region_at(m, body)->args + (uint32_t)i));
    for (int i = 0; fits && i < node->nout; i++)
        fits = type_equal(type_of(m, node->out + (uint32_t)i), type_of(m, last->in[i]));
    if (!fits)
        return error_new(CODE_INVALID,
                         "%s cuts its operands, but the program is for one partition, at %s",
                         op_name(node->op), loc_name(node->loc));
    open_up(z, r, n, body);
    return NULL;
}

/* Order among operations with effects is that of the program, so a token carries nothing. */
static void drop_token(Refiner *z, RegionId r, NodeId n)
{
    Dense token = { type_scalar(TOKEN), true, "" };
    ValueId constant = build_constant(z->m, r, token, node_at(z->m, n)->loc);
    replace_results(z, n, &constant);
}

/* A custom call whose backend_config holds a collective's attributes becomes that collective. */
static MUST_USE Error *ragged_from_call(Refiner *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    const Attr *config = ((const CustomCallAttrs *)node.attrs)->backend_config, *extra;
    const void *attrs;
    if (node.nin != 6 || node.nout != 1 || !config || config->kind != ATTR_DICT)
        return error_new(CODE_INVALID, "ragged_all_to_all takes six operands and gives one result, "
                         "with replica_groups in its backend_config, at %s", loc_name(node.loc));
    Error *error = attrs_from_dict(m->arena, ATTRS_ALL_REDUCE, "ragged_all_to_all", config, &attrs,
                                   &extra);
    if (error)
        return error_in(error, "%s", loc_name(node.loc));
    Type type = type_of(m, node.out);
    NodeId meet = node_new(m, OP_RAGGED, node.nin, node.in, 1, &type, 0, NULL, attrs, node.loc);
    region_append(m, r, meet);
    replace_results(z, n, &node_at(m, meet)->out);
    return node_check(m, meet);
}

static bool is_ragged_call(const Node *node)
{
    return node->op == OP_CUSTOM_CALL &&
           str_is(((const CustomCallAttrs *)node->attrs)->call_target_name, "ragged_all_to_all");
}

static bool is_approx_call(const Node *node)
{
    return node->op == OP_CUSTOM_CALL &&
           str_is(((const CustomCallAttrs *)node->attrs)->call_target_name, "ApproxTopK");
}

/* The comparator that an ApproxTopK of `pairs` arrays names, without calls in it. */
static MUST_USE Error *approx_comparator(Refiner *z, const Node *node, int pairs, RegionId *out)
{
    const Attr *called = ((const CustomCallAttrs *)node->attrs)->called_computations;
    bool is_named = called && called->kind == ATTR_ARRAY && called->n == 1 &&
                    called->items[0]->kind == ATTR_STRING;
    const Func *f = is_named ? func_find(z->m, called->items[0]->string) : NULL;
    if (!f || !f->body || region_at(z->m, f->body)->nargs != 2 * pairs)
        return error_new(CODE_INVALID, "ApproxTopK names one comparator of %d scalars, at %s",
                         2 * pairs, loc_name(node->loc));
    TRY(inline_func(z, (int)(f - z->m->funcs), node->loc));
    Subst map = subst_new(z->m);
    *out = region_copy(z->m, f->body, 0, &map);
    subst_free(&map);
    return NULL;
}

/* Operands: arrays, then what each begins with; the exact answer is a good approximation.
 *     v, i = ApproxTopK(x, iota, -inf, -1)   ->   v, i = slice(sort(x, iota)) */
static MUST_USE Error *sort_for_approx(Refiner *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    int pairs = node.nin / 2;
    const Attr *own = ((const CustomCallAttrs *)node.attrs)->backend_config;
    const Attr *config = own && own->kind == ATTR_DICT ? own
                                                       : attr_get(node.extra, "mhlo.backend_config");
    bool has_config = config && config->kind == ATTR_DICT;
    const Attr *dim = has_config ? attr_get(config, "reduction_dim") : NULL;
    if (pairs < 1 || node.nin != 2 * pairs || node.nout != pairs || !dim || dim->kind != ATTR_INT ||
        dim->integer < 0 || dim->integer >= type_of(m, node.in[0]).rank)
        return error_new(CODE_INVALID, "ApproxTopK takes arrays, as many scalars, and a "
                         "reduction_dim in its backend_config, at %s", loc_name(node.loc));
    RegionId comparator;
    TRY(approx_comparator(z, &node, pairs, &comparator));
    SortAttrs *attrs = ARENA_NEW(m->arena, SortAttrs);
    *attrs = (SortAttrs){ .dimension = dim->integer, .is_stable = true };
    Type *types = ARENA_ARRAY(m->arena, Type, pairs);
    for (int i = 0; i < pairs; i++)
        types[i] = type_of(m, node.in[i]);
    NodeId sort = node_new(m, OP_SORT, pairs, node.in, pairs, types, 1, &comparator, attrs, node.loc);
    region_append(m, r, sort);
    TRY(node_check(m, sort));
    ValueId *results = ARENA_ARRAY(m->arena, ValueId, pairs);
    for (int i = 0; i < pairs; i++) {
        Type to = type_of(m, node.out + (uint32_t)i);
        int64_t start[MAX_RANK] = { 0 }, stride[MAX_RANK];
        for (int d = 0; d < to.rank; d++)
            stride[d] = 1;
        SliceAttrs *slice = ARENA_NEW(m->arena, SliceAttrs);
        *slice = (SliceAttrs){ .start_indices = ints_copy(m->arena, to.rank, start),
                               .limit_indices = ints_copy(m->arena, to.rank, to.dims),
                               .strides = ints_copy(m->arena, to.rank, stride) };
        ValueId sorted = node_at(m, sort)->out + (uint32_t)i;
        results[i] = build_node(m, r, OP_SLICE, 1, &sorted, to, slice, node.loc);
        TRY(node_check(m, value_def(m, results[i])));
    }
    replace_results(z, n, results);
    return NULL;
}

static MUST_USE Error *tidy(Refiner *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    const Node *node = node_at(m, n);
    bool may_place = m->npartitions > 1 && region_at(m, r)->parent == 0;
    if (node->op == OP_BARRIER || node->op == OP_ASYNC_DONE ||
        (node->op == OP_CONSTRAINT && !may_place) || is_identity_call(m, node, may_place))
        replace_results(z, n, node->in);
    else if (node->op == OP_IF)
        if_to_case(z, r, n);
    else if (node->op == OP_CREATE_TOKEN || node->op == OP_AFTER_ALL)
        drop_token(z, r, n);
    else if (node->op == OP_ASYNC_START)
        open_up(z, r, n, node->regions[0]); /* devices step aside by themselves: nothing to start */
    else if (is_ragged_call(node))
        return ragged_from_call(z, r, n);
    else if (is_approx_call(node))
        return sort_for_approx(z, r, n);
    else if (node->op == OP_MANUAL && m->npartitions == 1)
        return open_manual(z, r, n);
    else
        region_append(m, r, n);
    return NULL;
}

/* ---- shapes ---- */

static MUST_USE Error *check_static(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nargs; i++) {
        Type t = type_of(m, region->args + (uint32_t)i);
        if (!type_is_static(t))
            return error_new(CODE_UNIMPLEMENTED,
                             "not supported: dynamic shape %s of argument %d of %s, at %s",
                             type_name(t), i,
                             region->parent ? op_name(node_at(m, region->parent)->op) : "@main",
                             loc_name(region->parent ? node_at(m, region->parent)->loc
                                                     : func_find(m, STR("main"))->loc));
    }
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        for (int k = 0; k < node->nout; k++) {
            Type t = type_of(m, node->out + (uint32_t)k);
            if (!type_is_static(t))
                return error_new(CODE_UNIMPLEMENTED,
                                 "not supported: dynamic shape %s of a result of %s, at %s",
                                 type_name(t), op_name(node->op), loc_name(node->loc));
        }
        for (int k = 0; k < node->nregions; k++)
            TRY(check_static(m, node->regions[k]));
    }
    return NULL;
}

/* ---- the pass ---- */

static MUST_USE Error *no_main(const Module *m)
{
    Text names = { 0 };
    for (int i = 0; i < m->nfuncs && i < 8; i++)
        text_printf(&names, "%s@%.*s", i ? ", " : "", STR_ARG(m->funcs[i].name));
    Error *error =
        m->nfuncs ? error_new(CODE_INVALID, "no function @main; there are %s", text_cstr(&names))
                  : error_new(CODE_INVALID, "no function @main; there are none");
    text_free(&names);
    return error;
}

static MUST_USE Error *refine_main(Refiner *z, Func *main)
{
    TRY(inline_func(z, (int)(main - z->m->funcs), main->loc));
    TRY(untuple(z->m, main));
    TRY(write_out(z->m, main->body));
    TRY(rebuild(z, main->body, tidy));
    TRY(captures_sink(z->m, main->body));
    return check_static(z->m, main->body);
}

Error *refine(Plan *p)
{
    Module *m = p->m;
    Func *main = func_find(m, STR("main"));
    if (!main || !main->body)
        return no_main(m);
    Refiner z = { .m = m, .map = subst_new(m), .state = calloc((size_t)m->nfuncs, 1) };
    if (!z.state)
        fail("no memory for %d functions", m->nfuncs);
    Error *error = refine_main(&z, main);
    subst_free(&z.map);
    free(z.state);
    if (error)
        return error;
    m->funcs[0] = *main;
    m->nfuncs = 1;
    p->main = m->funcs[0].body;
    return NULL;
}
