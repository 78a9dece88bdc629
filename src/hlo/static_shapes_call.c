/* static_shapes_call.c - custom calls that say something about shapes.
 *
 *   shape_assertion(p, n ...)                    nothing, or an error with its own message
 *   stablehlo.dynamic_top_k(x, k)                top_k x, k = 3
 *   stablehlo.dynamic_approx_top_k(x, ...)       ApproxTopK, which refine knows
 *   stablehlo.dynamic_reduce_window(x, 0, ...)   reduce_window, with the function as its region
 *   stablehlo.dynamic_rng_bit_generator(k, s)    rng_bit_generator
 *   any with indices_of_shape_operands           the same without them, results so shaped */
#include "hlo/static_shapes.h"

#include "ops/number.h"

#include <inttypes.h>
#include <string.h>

static const CustomCallAttrs *call_attrs(const Node *n)
{
    return n->attrs;
}

/* The rules of calls.def's column `shapes`: what stands in r instead of n. */
typedef MUST_USE Error *StaticCall(ShapeFixer *z, RegionId r, NodeId n);
static StaticCall static_assertion, static_top_k, static_approx, static_window, static_random;

static StaticCall *const static_calls[CALL_COUNT + 1] = {
#define static_none NULL
#define CALL(id, name, nin, nout, effect, role, shapes, ...) [CALL_##id] = static_##shapes,
#include "ops/calls.def"
};

/* StableHLO's names for what has extents as operands all begin so; those without a row are refused. */
static bool is_dynamic(Str target)
{
    static const char dynamic[] = "stablehlo.dynamic_";
    return target.n >= sizeof dynamic - 1 && memcmp(target.at, dynamic, sizeof dynamic - 1) == 0;
}

bool is_shape_call(const Node *n)
{
    return static_calls[node_call(n)] || call_attrs(n)->indices_of_shape_operands.n ||
           is_dynamic(call_attrs(n)->call_target_name);
}

static MUST_USE Error *bad_call(const Node *n, const char *takes)
{
    return error_new(CODE_INVALID, "%s @%.*s (%s): it takes %s", op_name(n->op),
                     STR_ARG(call_attrs(n)->call_target_name), loc_name(n->loc), takes);
}

/* ---- assertions ---- */

/* The message with {0}, {1} replaced by the operands behind the condition. */
static void fill_message(const ShapeFixer *z, const Node *n, Text *out)
{
    Str s = call_attrs(n)->error_message;
    for (size_t i = 0; i < s.n; i++) {
        size_t end = i + 1;
        int which = 0;
        while (s.at[i] == '{' && end < s.n && s.at[end] >= '0' && s.at[end] <= '9' && end < i + 5)
            which = which * 10 + (s.at[end++] - '0');
        const int64_t *value = NULL;
        if (s.at[i] == '{' && end > i + 1 && end < s.n && s.at[end] == '}' && 1 + which < n->nin)
            value = known_get(&z->known, n->in[1 + which]);
        if (value && type_of(z->m, n->in[1 + which]).rank == 0) {
            text_printf(out, "%" PRId64, *value);
            i = end;
        } else {
            text_add(out, s.at + i, 1);
        }
    }
}

static Error *static_assertion(ShapeFixer *z, RegionId r, NodeId id)
{
    (void)r; /* nothing stands there */
    const Node *n = node_at(z->m, id);
    const int64_t *holds;
    if (n->nin < 1 || n->nout || type_of(z->m, n->in[0]).rank)
        return bad_call(n, "a condition and integers, and gives nothing");
    TRY(static_operand(z, n, 0, "what it asserts does", &holds));
    if (*holds)
        return NULL;
    Text text = { 0 };
    fill_message(z, n, &text);
    Error *error = error_new(CODE_INVALID, "%s", text.n ? text_cstr(&text) : "a shape is wrong");
    text_free(&text);
    return error;
}

/* ---- calls that are operations ---- */

static Error *static_top_k(ShapeFixer *z, RegionId r, NodeId n)
{
    Node node = *node_at(z->m, n);
    const int64_t *k;
    if (!call_takes(CALL_DYNAMIC_TOP_K, node.nin, node.nout) || type_of(z->m, node.in[1]).rank)
        return bad_call(&node, "an array and how many of it, and gives two arrays");
    TRY(static_operand(z, &node, 1, "how many it gives does", &k));
    TopKAttrs *attrs = ARENA_NEW(z->m->arena, TopKAttrs);
    attrs->k = *k;
    Type types[] = { type_of(z->m, node.out), type_of(z->m, node.out + 1) };
    return static_replace(z, r, n,
                          node_new(z->m, OP_TOP_K, 1, node.in, 2, types, 0, NULL, attrs, node.loc));
}

static Error *static_random(ShapeFixer *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    const Attr *word = call_attrs(&node)->rng_algorithm;
    const int64_t *dims;
    if (!call_takes(CALL_DYNAMIC_RNG_BITS, node.nin, node.nout) || !word ||
        type_of(m, node.in[1]).rank != 1 ||
        type_of(m, node.in[1]).dims[0] != type_of(m, node.out + 1).rank)
        return bad_call(&node, "a state and extents, with rng_algorithm, and gives two arrays");
    TRY(static_operand(z, &node, 1, "the extents of its result", &dims));
    AttrDict dict = { 0 };
    attr_set(m->arena, &dict, STR("rng_algorithm"), word);
    const void *attrs;
    const Attr *extra;
    TRY(attrs_from_dict(m->arena, ATTRS_RNG_BITS, "rng_bit_generator", attr_dict(m->arena, &dict),
                        &attrs, &extra));
    Type stated = type_of(m, node.out + 1);
    for (int i = 0; i < stated.rank; i++)
        if (dims[i] < 0)
            return bad_call(&node, "extents of at least 0");
    Type types[] = { type_of(m, node.out), type_new(m->arena, stated.element, stated.rank, dims) };
    return static_replace(z, r, n,
                          node_new(m, OP_RNG_BITS, 1, node.in, 2, types, 0, NULL, attrs, node.loc));
}

/* Operands: n arrays, n initial values; then window, strides, dilations of base and window, and
 * paddings. */
static Error *static_window(ShapeFixer *z, RegionId r, NodeId n)
{
    enum { LISTS = 5 };
    Module *m = z->m;
    Node node = *node_at(m, n);
    const Attr *called = call_attrs(&node)->called_computations;
    bool is_named = called && called->kind == ATTR_ARRAY && called->n == 1 &&
                    called->items[0]->kind == ATTR_STRING;
    const Func *f = is_named ? func_find(m, called->items[0]->string) : NULL;
    int first = node.nin - LISTS;
    if (!f || !f->body || first < 2 || first % 2)
        return bad_call(&node, "arrays, initial values and five lists, and names its reducer");
    const int64_t *at[LISTS];
    Ints lists[LISTS];
    for (int i = 0; i < LISTS; i++) {
        TRY(static_operand(z, &node, first + i, "its windows", &at[i]));
        lists[i] = static_ints(z, &node, first + i, at[i]);
    }
    if (lists[4].n % 2)
        return bad_call(&node, "paddings in pairs");
    WindowAttrs *attrs = ARENA_NEW(m->arena, WindowAttrs);
    *attrs = (WindowAttrs){ .window_dimensions = lists[0],
                            .window_strides = lists[1],
                            .base_dilations = lists[2],
                            .window_dilations = lists[3],
                            .padding = { lists[4].n / 2, 2, lists[4].at } };
    Subst map = subst_new(m);
    RegionId reducer = region_copy(m, f->body, 0, &map);
    subst_free(&map);
    Type *types = ARENA_ARRAY(m->arena, Type, node.nout + 1);
    for (int i = 0; i < node.nout; i++)
        types[i] = type_of(m, node.out + (uint32_t)i);
    return static_replace(z, r, n,
                          node_new(m, OP_REDUCE_WINDOW, first, node.in, node.nout, types, 1,
                                   &reducer, attrs, node.loc));
}

/* ---- results shaped by operands ---- */

/* One list of extents per result stands behind the other operands. */
static MUST_USE Error *shaped_by_operands(ShapeFixer *z, RegionId r, NodeId n, const char *target)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    Ints shapes = call_attrs(&node)->indices_of_shape_operands;
    int nin = node.nin - shapes.n;
    if (nin < 0 || shapes.n != node.nout)
        return bad_call(&node, "one list of extents for each result");
    Type *types = ARENA_ARRAY(m->arena, Type, node.nout + 1);
    for (int i = 0; i < node.nout; i++) {
        types[i] = type_of(m, node.out + (uint32_t)i);
        Type list = shapes.at[i] == nin + i ? type_of(m, node.in[nin + i]) : type_scalar(I1);
        if (list.rank != 1 || list.dims[0] != types[i].rank || types[i].element == TUPLE)
            return bad_call(&node, "the lists of extents last, in the order of the results");
        const int64_t *dims;
        TRY(static_operand(z, &node, nin + i, "the extents of its results", &dims));
        for (int d = 0; d < types[i].rank; d++)
            if (dims[d] < 0)
                return bad_call(&node, "extents of at least 0");
        types[i] = type_new(m->arena, types[i].element, types[i].rank, dims);
    }
    CustomCallAttrs *attrs = arena_copy(m->arena, node.attrs, sizeof *attrs);
    attrs->indices_of_shape_operands = (Ints){ 0 };
    if (target)
        attrs->call_target_name = str_of(target);
    NodeId new =
        node_new(m, OP_CUSTOM_CALL, nin, node.in, node.nout, types, 0, NULL, attrs, node.loc);
    node_at(m, new)->extra = node.extra;
    return static_replace(z, r, n, new);
}

/* The operand that says how many is in the results' extents too. */
static Error *static_approx(ShapeFixer *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    Node *node = node_at(m, n);
    Ints shapes = call_attrs(node)->indices_of_shape_operands;
    int k = node->nin - shapes.n - 1;
    if (k < 0)
        return bad_call(node, "arrays, as many scalars, and how many");
    CustomCallAttrs *attrs = arena_copy(m->arena, node->attrs, sizeof *attrs);
    int64_t moved[MAX_RANK];
    if (shapes.n > MAX_RANK)
        return bad_call(node, "one list of extents for each result");
    for (int i = 0; i < shapes.n; i++)
        moved[i] = shapes.at[i] - 1;
    attrs->indices_of_shape_operands = ints_copy(m->arena, shapes.n, moved);
    node->attrs = attrs;
    memmove(node->in + k, node->in + k + 1, sizeof *node->in * (size_t)(node->nin - k - 1));
    node->nin--;
    return shaped_by_operands(z, r, n, call_info[CALL_APPROX_TOP_K].name);
}

Error *static_call(ShapeFixer *z, RegionId r, NodeId n, bool *done)
{
    const Node *node = node_at(z->m, n);
    *done = is_shape_call(node);
    if (!*done)
        return NULL;
    StaticCall *rule = static_calls[node_call(node)];
    if (rule)
        return rule(z, r, n);
    if (call_attrs(node)->indices_of_shape_operands.n)
        return shaped_by_operands(z, r, n, NULL);
    return error_new(CODE_UNIMPLEMENTED, "not supported: custom_call @%.*s (%s)",
                     STR_ARG(call_attrs(node)->call_target_name), loc_name(node->loc));
}
