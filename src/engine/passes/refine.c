/* refine.c - from a file of functions to one function without questions left open.
 *
 * In goes a module as it was read; out comes the same module whose only function is main:
 *
 *   main: y = call @f(x)            main: t = mul x, x      f's body, once per call
 *         z = if p {A} else {B}           i = convert p : i32
 *         return z                        z = case i {B}, {A}
 *                                         return z
 *
 * Calls and composites become the callee's operations (hlo/inline.c), extents that the program
 * leaves open become numbers (hlo/static_shapes.c), what stands for other operations is written out
 * (hlo/define), `if` becomes `case`, operands become as wide as what combines them, and what only
 * says something about values (sharding constraints where they mean nothing) goes away;
 * an asynchronous collective is done where it starts.  After it no CALL, COMPOSITE or IF
 * is left, CONSTRAINT only in a main of several partitions and in its loops and branches, and extents
 * are known. */
#include "engine/passes/passes.h"

#include "base/fail.h"
#include "hlo/define/define.h"
#include "hlo/rewrite.h"
#include "hlo/static_shapes.h"

typedef struct Refiner {
    Module *m;
    Subst map; /* results of what is gone */
} Refiner;

/* The rules of calls.def's column `rewrite`: what stands at the end of r instead of n. */
typedef MUST_USE Error *RewriteCall(Refiner *z, RegionId r, NodeId n);
static RewriteCall rewrite_ragged, rewrite_approx_top_k, rewrite_top_k, rewrite_unordered;

static RewriteCall *const rewrites[CALL_COUNT + 1] = {
#define rewrite_none NULL
#define CALL(id, name, nin, nout, effect, role, shapes, rewrite, ...)                              \
    [CALL_##id] = rewrite_##rewrite,
#include "ops/calls.def"
};

/* ---- marks, and two ways of saying one thing ---- */

static bool is_same_type(const Module *m, const Node *node)
{
    return node->nin >= 1 && node->nout == 1 &&
           type_equal(type_of(m, node->in[0]), type_of(m, node->out));
}

/* Custom calls that hand their operand on.  In a program of several partitions some are the GSPMD
 * way to write shardings, which place reads at the top of main. */
static bool is_identity_call(const Module *m, const Node *node, bool may_place)
{
    CallId call = node_call(node);
    if (call == CALL_COUNT || !is_same_type(m, node))
        return false;
    CallRole role = call_info[call].role;
    return role == ROLE_HINT || (role == ROLE_PLACE && !may_place);
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
    node_open(z->m, r, n, body, &z->map);
    return NULL;
}

/* Order among operations with effects is that of the program, so a token carries nothing. */
static void drop_token(Refiner *z, RegionId r, NodeId n)
{
    Dense token = { type_scalar(TOKEN), true, "" };
    ValueId constant = build_constant(z->m, r, token, node_at(z->m, n)->loc);
    node_replace(z->m, n, &constant, &z->map);
}

/* A custom call whose backend_config holds a collective's attributes becomes that collective. */
static Error *rewrite_ragged(Refiner *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    const Attr *config = ((const CustomCallAttrs *)node.attrs)->backend_config, *extra;
    const void *attrs;
    if (!call_takes(CALL_RAGGED_ALL_TO_ALL, node.nin, node.nout) || !config ||
        config->kind != ATTR_DICT)
        return error_new(CODE_INVALID,
                         "ragged_all_to_all takes six operands and gives one result, "
                         "with replica_groups in its backend_config, at %s",
                         loc_name(node.loc));
    Error *error = attrs_from_dict(m->arena, ATTRS_ALL_REDUCE,
                                   call_info[CALL_RAGGED_ALL_TO_ALL].name, config, &attrs, &extra);
    if (error)
        return error_in(error, "%s", loc_name(node.loc));
    Type type = type_of(m, node.out);
    NodeId ragged = node_new(m, OP_RAGGED, node.nin, node.in, 1, &type, 0, NULL, attrs, node.loc);
    region_append(m, r, ragged);
    node_replace(z->m, n, &node_at(m, ragged)->out, &z->map);
    return node_check(m, ragged);
}

/* The one function that a custom call names, or NULL. */
static Func *called_by(const Module *m, const Node *node)
{
    const Attr *called = ((const CustomCallAttrs *)node->attrs)->called_computations;
    bool is_named = called && called->kind == ATTR_ARRAY && called->n == 1 &&
                    called->items[0]->kind == ATTR_STRING;
    return is_named ? func_find(m, called->items[0]->string) : NULL;
}

/* Does the comparator of a TopK or ApproxTopK put the greater first, or the lesser?  It compares its first two
 * arguments, of which the first is the one that stands ahead. */
static bool comparator_direction(const Module *m, RegionId body, bool *largest)
{
    const Node *last = region_return(m, body);
    ValueId first = region_at(m, body)->args;
    NodeId by = region_at(m, body)->nargs >= 2 && last->nin == 1 ? value_def(m, last->in[0]) : 0;
    if (!by || node_at(m, by)->op != OP_COMPARE)
        return false;
    const ValueId *in = node_at(m, by)->in;
    int64_t direction = ((const CompareAttrs *)node_at(m, by)->attrs)->comparison_direction;
    bool is_swapped = in[0] == first + 1 && in[1] == first;
    *largest = (direction == GT) != is_swapped;
    return (direction == GT || direction == LT) &&
           (is_swapped || (in[0] == first && in[1] == first + 1));
}

/* A comparator that says no more than x > y leaves open where NaN goes, and which zero goes first: the total order
 * is one of those that it allows, and can be told by keys. */
static void order_totally(Module *m, RegionId comparator)
{
    bool largest;
    if (!comparator_direction(m, comparator, &largest))
        return;
    Node *by = node_at(m, value_def(m, region_return(m, comparator)->in[0]));
    if (element_info[type_of(m, by->in[0]).element].kind != FLOAT)
        return;
    CompareAttrs *attrs = arena_copy(m->arena, by->attrs, sizeof *attrs);
    attrs->compare_type = COMPARE_TOTALORDER;
    by->attrs = attrs;
}

/* The comparator that an ApproxTopK of `pairs` arrays names. */
static MUST_USE Error *approx_comparator(Refiner *z, const Node *node, int pairs, RegionId *out)
{
    Func *f = called_by(z->m, node);
    if (f && f->body)
        TRY(untuple(z->m, f));
    if (!f || !f->body || region_at(z->m, f->body)->nargs != 2 * pairs)
        return error_new(CODE_INVALID, "ApproxTopK names one comparator of %d scalars, at %s",
                         2 * pairs, loc_name(node->loc));
    Subst map = subst_new(z->m);
    *out = region_copy(z->m, f->body, 0, &map);
    subst_free(&map);
    TRY(write_out(z->m, *out));
    order_totally(z->m, *out);
    return NULL;
}

/* Operands: arrays, then what each begins with; the exact answer is a good approximation.
 *     v, i = ApproxTopK(x, iota, -inf, -1)   ->   v, i = slice(sort(x, iota)) */
static Error *rewrite_approx_top_k(Refiner *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    int pairs = node.nin / 2;
    const Attr *own = ((const CustomCallAttrs *)node.attrs)->backend_config;
    const Attr *config =
        own && own->kind == ATTR_DICT ? own : attr_get(node.extra, "mhlo.backend_config");
    bool has_config = config && config->kind == ATTR_DICT;
    const Attr *dim = has_config ? attr_get(config, "reduction_dim") : NULL;
    if (pairs < 1 || node.nin != 2 * pairs || node.nout != pairs || !dim || dim->kind != ATTR_INT ||
        dim->integer < 0 || dim->integer >= type_of(m, node.in[0]).rank)
        return error_new(CODE_INVALID,
                         "ApproxTopK takes arrays, as many scalars, and a "
                         "reduction_dim in its backend_config, at %s",
                         loc_name(node.loc));
    RegionId comparator;
    TRY(approx_comparator(z, &node, pairs, &comparator));
    SortAttrs *attrs = ARENA_NEW(m->arena, SortAttrs);
    *attrs = (SortAttrs){ .dimension = dim->integer, .is_stable = true };
    Type *types = ARENA_ARRAY(m->arena, Type, pairs);
    for (int i = 0; i < pairs; i++)
        types[i] = type_of(m, node.in[i]);
    NodeId sort =
        node_new(m, OP_SORT, pairs, node.in, pairs, types, 1, &comparator, attrs, node.loc);
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
    node_replace(z->m, n, results, &z->map);
    return NULL;
}

/* ---- TopK ---- */

/* By mhlo.attributes = {k, largest} or by the comparator; of neither, the largest of as many as the
 * result holds. */
static MUST_USE Error *top_k_form(const Module *m, const Node *node, int64_t *k, bool *largest)
{
    Type out = node->nout == 2 ? type_of(m, node->out) : type_scalar(F32);
    if (node->nin != 1 || out.rank < 1)
        return error_new(CODE_INVALID, "TopK takes one array and gives two, at %s",
                         loc_name(node->loc));
    const Attr *own = attr_get(node->extra, "mhlo.attributes");
    const Attr *said = own && own->kind == ATTR_DICT ? attr_get(own, "k") : NULL;
    const Attr *side = own && own->kind == ATTR_DICT ? attr_get(own, "largest") : NULL;
    const Func *f = called_by(m, node);
    *k = said && said->kind == ATTR_INT ? said->integer : out.dims[out.rank - 1];
    *largest = !side || side->kind != ATTR_BOOL || side->integer;
    if (f && (!f->body || !comparator_direction(m, f->body, largest)))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: a TopK by @%.*s, which does not compare its first two "
                         "arguments by GT or LT, at %s",
                         STR_ARG(f->name), loc_name(node->loc));
    return NULL;
}

/* A value whose order is the reverse of x's, without rounding: the least element of x is the greatest
 * of it.  Reversed twice it is x. */
static ValueId reverse_order(Module *m, RegionId r, ValueId x, const Loc *loc)
{
    Type t = type_of(m, x);
    return build_node(m, r, element_info[t.element].kind == FLOAT ? OP_NEG : OP_NOT, 1, &x, t, NULL,
                      loc);
}

static Error *rewrite_top_k(Refiner *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    TopKAttrs *attrs = ARENA_NEW(m->arena, TopKAttrs);
    bool largest = true;
    TRY(top_k_form(m, &node, &attrs->k, &largest));
    ValueId x = largest ? node.in[0] : reverse_order(m, r, node.in[0], node.loc);
    Type types[] = { type_of(m, node.out), type_of(m, node.out + 1) };
    NodeId top = node_new(m, OP_TOP_K, 1, &x, 2, types, 0, NULL, attrs, node.loc);
    region_append(m, r, top);
    TRY(node_check(m, top));
    ValueId results[] = { node_at(m, top)->out, node_at(m, top)->out + 1 };
    if (!largest)
        results[0] = reverse_order(m, r, results[0], node.loc);
    node_replace(m, n, results, &z->map);
    return NULL;
}

/* Which of two operations comes first is how another scheduler overlaps them.  Devices here step aside
 * while they wait, and no value depends on it. */
static Error *rewrite_unordered(Refiner *z, RegionId r, NodeId n)
{
    (void)z, (void)r, (void)n;
    return NULL;
}

/* The result with whose elements operand k is combined; -1: none. */
static int combined_into(const Node *node, int k)
{
    switch (node->op) {
    case OP_REDUCE:
    case OP_REDUCE_WINDOW: return k % node->nout;
    case OP_SCATTER: return k == node->nout ? -1 : k % (node->nout + 1); /* the indices */
    case OP_SELECT_SCATTER: return k == 0 ? -1 : 0; /* its elements are compared as they are */
    case OP_ALL_REDUCE:
    case OP_REDUCE_SCATTER: return k;
    default: return -1;
    }
}

/* A region may combine f64 where operands are f32; from here on they are f64 too. */
static void promote(Module *m, RegionId r, NodeId n)
{
    for (int k = 0; k < node_at(m, n)->nin; k++) {
        const Node *node = node_at(m, n);
        int result = combined_into(node, k);
        Type t = type_of(m, node->in[k]);
        Element e = result < 0 ? t.element : type_of(m, node->out + (uint32_t)result).element;
        if (t.element == e)
            continue;
        ValueId wide = build_node(m, r, OP_CONVERT, 1, &node->in[k], (Type){ e, t.rank, t.dims },
                                  NULL, node->loc);
        node_at(m, n)->in[k] = wide;
    }
}

/* Does r stand in main, or in loops and branches of it alone?  What is said there about how values lie
 * is for place to read. */
static bool is_placed(const Module *m, RegionId r)
{
    for (NodeId n; m->npartitions > 1; r = node_at(m, n)->region) {
        n = region_at(m, r)->parent;
        if (!n)
            return true;
        if (node_flow(node_at(m, n)) != FLOW_LOOP && node_flow(node_at(m, n)) != FLOW_BRANCH)
            return false;
    }
    return false;
}

static MUST_USE Error *tidy(Module *m, RegionId r, NodeId n, void *user)
{
    Refiner *z = user;
    const Node *node = node_at(m, n);
    bool may_place = is_placed(m, r);
    if (node->op == OP_ASYNC_DONE || (node->op == OP_CONSTRAINT && !may_place) ||
        is_identity_call(m, node, may_place))
        node_replace(z->m, n, node->in, &z->map);
    else if (node->op == OP_IF)
        if_to_case(z, r, n);
    else if (node->op == OP_CREATE_TOKEN || node->op == OP_AFTER_ALL)
        drop_token(z, r, n);
    else if (node->op == OP_ASYNC_START)
        /* devices step aside by themselves: nothing to start */
        node_open(m, r, n, node->regions[0], &z->map);
    else if (rewrites[node_call(node)])
        return rewrites[node_call(node)](z, r, n);
    else if (node->op == OP_MANUAL && m->npartitions == 1)
        return open_manual(z, r, n);
    else {
        promote(m, r, n);
        region_append(m, r, n);
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
    TRY(untuple(z->m, main));
    TRY(write_out(z->m, main->body));
    return region_rewrite(z->m, main->body, &z->map, tidy, z);
}

/* What no pass behind this one knows. */
static void check_refined(Module *m, NodeId n, void *user)
{
    (void)user;
    OpId op = node_at(m, n)->op;
    require(op != OP_IF && op_info[op].flow != FLOW_CALL && op_info[op].kind != KIND_SHORT);
}

Error *pass_refine(Module *m)
{
    Func *main = func_find(m, STR("main"));
    if (!main || !main->body)
        return no_main(m);
    TRY(module_make_static(m, region_at(m, main->body)->nargs, NULL));
    main = func_find(m, STR("main"));
    Refiner z = { .m = m, .map = subst_new(m) };
    Error *error = refine_main(&z, main);
    subst_free(&z.map);
    if (error)
        return error;
    funcs_set(m, 1, main);
    region_walk(m, module_main(m), check_refined, NULL);
    return NULL;
}
