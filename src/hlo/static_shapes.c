/* static_shapes.c - every extent of a program becomes a number.
 *
 * JAX exports a symbolic batch as `?`, and beside each array whose extent it cannot write down it
 * computes that extent.  Called with arrays, all of it follows from their types:
 *
 *   main(x: f32[?,3])                                       main(x: f32[8,3])
 *     b = get_dimension_size x, dim = 0        : i32          b = constant 8
 *     s = concatenate (reshape b), 3           : i32[2]       s = constant 8, 3 (known_integers.c)
 *     z = dynamic_broadcast_in_dim 0.0, s      : f32[?,3]     z = broadcast_in_dim 0.0 : f32[8,3]
 *     return (maximum x, z)                    : f32[?,3]     return (maximum x, z)    : f32[8,3]
 *
 * One walk in program order.  Operands are settled when a node is met; integers that follow from
 * shapes alone are carried along (known_integers.c); operations that take extents as values become those
 * that have them as attributes; the types of all other results come from the shape rules. */
#include "hlo/static_shapes.h"

#include <inttypes.h>

bool module_is_open(const Module *m)
{
    const Func *main = func_find(m, STR("main"));
    if (!main || !main->body)
        return false;
    const Region *body = region_at(m, main->body);
    for (int i = 0; i < body->nargs; i++)
        if (!type_is_static(type_of(m, body->args + (uint32_t)i)))
            return true;
    return false;
}

/* ---- what is known ---- */

Error *static_operand(const ShapeFixer *z, const Node *n, int i, const char *what,
                      const int64_t **out)
{
    *out = known_get(&z->known, n->in[i]);
    if (*out)
        return NULL;
    return error_new(CODE_UNIMPLEMENTED,
                     "not supported: %s (%s): %s depend on the values of arrays, and must follow "
                     "from the shapes of the program's arguments",
                     op_name(n->op), loc_name(n->loc), what);
}

Ints static_ints(const ShapeFixer *z, const Node *n, int i, const int64_t *at)
{
    return ints_copy(z->m->arena, (int)type_count(type_of(z->m, n->in[i])), at);
}

/* ---- types of results ---- */

static MUST_USE Error *still_open(const Node *n, Type t)
{
    return error_new(CODE_UNIMPLEMENTED,
                     "not supported: %s (%s): the extents of its result %s do not follow from the "
                     "shapes of the program's arguments",
                     op_name(n->op), loc_name(n->loc), type_name(t));
}

static MUST_USE Error *check_size(const Node *n, Type t)
{
    return type_is_possible(t) ? NULL
                               : error_new(CODE_EXHAUSTED, "%s (%s): %s has too many elements",
                                           op_name(n->op), loc_name(n->loc), type_name(t));
}

static MUST_USE Error *set_result(Module *m, const Node *n, int i, Type type)
{
    Value *v = value_at(m, n->out + (uint32_t)i);
    if (!type_is_static(type))
        return still_open(n, v->type);
    if (!type_fits(type, v->type))
        return error_new(CODE_INVALID, "%s (%s): the result is %s, stated as %s", op_name(n->op),
                         loc_name(n->loc), type_name(type), type_name(v->type));
    v->type = type;
    return check_size(n, type);
}

static bool has_open_result(const Module *m, const Node *n)
{
    for (int i = 0; i < n->nout; i++)
        if (!type_is_static(type_of(m, n->out + (uint32_t)i)))
            return true;
    return false;
}

/* From one width of elements to another, the last dimension being what one of them makes. */
static void static_bitcast(const Module *m, const Node *n, Type *type)
{
    Type x = type_of(m, n->in[0]);
    int64_t dims[MAX_RANK + 1];
    for (int i = 0; i < type->rank; i++)
        dims[i] = i < x.rank ? x.dims[i]
                             : element_info[x.element].bits / element_info[type->element].bits;
    *type = type_new(m->arena, type->element, type->rank, dims);
}

/* A rule that is asked so tells what it would otherwise compare. */
static MUST_USE Error *static_results(Module *m, NodeId id)
{
    const Node *n = node_at(m, id);
    if (!has_open_result(m, n))
        return NULL;
    Type *types = ARENA_ARRAY(m->arena, Type, n->nout);
    TRY(node_types(m, id, types));
    for (int i = 0; i < n->nout; i++) {
        if (n->op == OP_BITCAST)
            static_bitcast(m, n, &types[i]);
        TRY(set_result(m, n, i, types[i]));
    }
    return NULL;
}

Error *static_append(ShapeFixer *z, RegionId r, NodeId n)
{
    TRY(static_results(z->m, n));
    TRY(node_check(z->m, n));
    region_append(z->m, r, n);
    known_node(&z->known, z->m, n);
    return NULL;
}

Error *static_replace(ShapeFixer *z, RegionId r, NodeId n, NodeId new)
{
    Module *m = z->m;
    TRY(static_append(z, r, new));
    for (int i = 0; i < node_at(m, n)->nout; i++)
        TRY(set_result(m, node_at(m, n), i, type_of(m, node_at(m, new)->out + (uint32_t)i)));
    ValueId first = node_at(m, new)->out;
    for (int i = 0; i < node_at(m, n)->nout; i++)
        subst_set(&z->map, node_at(m, n)->out + (uint32_t)i, first + (uint32_t)i);
    return NULL;
}

/* ---- extents as values become attributes ---- */

static MUST_USE Error *replace_by(ShapeFixer *z, RegionId r, NodeId n, OpId op, int nin,
                                  const ValueId *in, Type type, const void *attrs)
{
    return static_replace(
        z, r, n, node_new(z->m, op, nin, in, 1, &type, 0, NULL, attrs, node_at(z->m, n)->loc));
}

static MUST_USE Error *static_size(ShapeFixer *z, RegionId r, NodeId n)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    int32_t *size = ARENA_NEW(m->arena, int32_t);
    *size = (int32_t)type_of(m, node.in[0]).dims[((const DimensionAttrs *)node.attrs)->dimension];
    ConstantAttrs *attrs = ARENA_NEW(m->arena, ConstantAttrs);
    attrs->value = (Dense){ type_scalar(I32), true, size };
    return replace_by(z, r, n, OP_CONSTANT, 0, NULL, type_scalar(I32), attrs);
}

/* The type that the last operand gives extents for; one stated whole needs none. */
static MUST_USE Error *type_by_extents(const ShapeFixer *z, const Node *n, Type *out)
{
    *out = type_of(z->m, n->out);
    if (type_is_static(*out) && !known_get(&z->known, n->in[n->nin - 1]))
        return NULL;
    const int64_t *dims;
    TRY(static_operand(z, n, n->nin - 1, "the extents of its result", &dims));
    for (int i = 0; i < out->rank; i++)
        if (dims[i] < 0)
            return error_new(CODE_INVALID, "%s (%s): extent %d of its result is %" PRId64,
                             op_name(n->op), loc_name(n->loc), i, dims[i]);
    *out = type_new(z->m->arena, out->element, out->rank, dims);
    return check_size(n, *out);
}

static MUST_USE Error *static_extents(ShapeFixer *z, RegionId r, NodeId n, OpId op)
{
    Node node = *node_at(z->m, n);
    Type type;
    TRY(type_by_extents(z, &node, &type));
    return replace_by(z, r, n, op, node.nin - 1, node.in, type, node.attrs);
}

static MUST_USE Error *static_pad(ShapeFixer *z, RegionId r, NodeId n)
{
    Node node = *node_at(z->m, n);
    const int64_t *at[3];
    for (int i = 0; i < 3; i++)
        TRY(static_operand(z, &node, 2 + i, "its paddings", &at[i]));
    PadAttrs *attrs = ARENA_NEW(z->m->arena, PadAttrs);
    *attrs = (PadAttrs){ .edge_padding_low = static_ints(z, &node, 2, at[0]),
                         .edge_padding_high = static_ints(z, &node, 3, at[1]),
                         .interior_padding = static_ints(z, &node, 4, at[2]) };
    return replace_by(z, r, n, OP_PAD, 2, node.in, type_of(z->m, node.out), attrs);
}

static MUST_USE Error *static_gather(ShapeFixer *z, RegionId r, NodeId n)
{
    Node node = *node_at(z->m, n);
    const DynamicGatherAttrs *a = node.attrs;
    const int64_t *sizes;
    TRY(static_operand(z, &node, 2, "its slice sizes", &sizes));
    GatherAttrs *attrs = ARENA_NEW(z->m->arena, GatherAttrs);
    *attrs = (GatherAttrs){ .offset_dims = a->offset_dims,
                            .collapsed_slice_dims = a->collapsed_slice_dims,
                            .operand_batching_dims = a->operand_batching_dims,
                            .start_indices_batching_dims = a->start_indices_batching_dims,
                            .start_index_map = a->start_index_map,
                            .index_vector_dim = a->index_vector_dim,
                            .slice_sizes = static_ints(z, &node, 2, sizes),
                            .indices_are_sorted = a->indices_are_sorted };
    return replace_by(z, r, n, OP_GATHER, 2, node.in, type_of(z->m, node.out), attrs);
}

static MUST_USE Error *static_conv(ShapeFixer *z, RegionId r, NodeId n)
{
    Node node = *node_at(z->m, n);
    const int64_t *pad;
    TRY(static_operand(z, &node, 2, "its paddings", &pad));
    ConvolutionAttrs *attrs = arena_copy(z->m->arena, node.attrs, sizeof *attrs);
    Ints flat = static_ints(z, &node, 2, pad);
    attrs->padding = (Matrix){ flat.n / 2, 2, flat.at };
    return replace_by(z, r, n, OP_CONVOLUTION, 2, node.in, type_of(z->m, node.out), attrs);
}

/* ---- slices ---- */

/* limit = start + sizes: the sizes, though where it starts is data; NULL otherwise. */
static const int64_t *moving_sizes(const ShapeFixer *z, const Node *n)
{
    NodeId def = value_def(z->m, n->in[2]);
    const Node *limit = def ? node_at(z->m, def) : NULL;
    const int64_t *strides = known_get(&z->known, n->in[3]);
    if (!limit || limit->op != OP_ADD || !strides)
        return NULL;
    for (int i = 0; i < type_of(z->m, n->in[0]).rank; i++)
        if (strides[i] != 1)
            return NULL;
    for (int i = 0; i < 2; i++)
        if (limit->in[i] == n->in[1])
            return known_get(&z->known, limit->in[1 - i]);
    return NULL;
}

/* Element i of a list, as a scalar. */
static MUST_USE Error *element_of(ShapeFixer *z, RegionId r, ValueId list, int i, const Loc *loc,
                                  ValueId *out)
{
    Module *m = z->m;
    static const NoAttrs none;
    int64_t from = i, to = i + 1, one = 1;
    SliceAttrs *attrs = ARENA_NEW(m->arena, SliceAttrs);
    *attrs = (SliceAttrs){ .start_indices = ints_copy(m->arena, 1, &from),
                           .limit_indices = ints_copy(m->arena, 1, &to),
                           .strides = ints_copy(m->arena, 1, &one) };
    Type single = type_new(m->arena, type_of(m, list).element, 1, &one);
    NodeId slice = node_new(m, OP_SLICE, 1, &list, 1, &single, 0, NULL, attrs, loc);
    TRY(static_append(z, r, slice));
    Type scalar = type_scalar(single.element);
    ValueId in = node_at(m, slice)->out;
    NodeId reshape = node_new(m, OP_RESHAPE, 1, &in, 1, &scalar, 0, NULL, &none, loc);
    TRY(static_append(z, r, reshape));
    *out = node_at(m, reshape)->out;
    return NULL;
}

static MUST_USE Error *static_moving_slice(ShapeFixer *z, RegionId r, NodeId n,
                                           const int64_t *sizes)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    int rank = type_of(m, node.in[0]).rank;
    ValueId in[MAX_RANK + 1] = { node.in[0] };
    for (int i = 0; i < rank; i++)
        TRY(element_of(z, r, node.in[1], i, node.loc, &in[1 + i]));
    DynamicSliceAttrs *attrs = ARENA_NEW(m->arena, DynamicSliceAttrs);
    attrs->slice_sizes = ints_copy(m->arena, rank, sizes);
    return replace_by(z, r, n, OP_DYNAMIC_SLICE, rank + 1, in, type_of(m, node.out), attrs);
}

static MUST_USE Error *static_slice(ShapeFixer *z, RegionId r, NodeId n)
{
    Node node = *node_at(z->m, n);
    const int64_t *at[3], *sizes = known_get(&z->known, node.in[1]) ? NULL : moving_sizes(z, &node);
    if (sizes)
        return static_moving_slice(z, r, n, sizes);
    for (int i = 0; i < 3; i++)
        TRY(static_operand(z, &node, 1 + i, "the bounds of its slice", &at[i]));
    SliceAttrs *attrs = ARENA_NEW(z->m->arena, SliceAttrs);
    *attrs = (SliceAttrs){ .start_indices = static_ints(z, &node, 1, at[0]),
                           .limit_indices = static_ints(z, &node, 2, at[1]),
                           .strides = static_ints(z, &node, 3, at[2]) };
    return replace_by(z, r, n, OP_SLICE, 1, node.in, type_of(z->m, node.out), attrs);
}

/* ---- regions ---- */

static MUST_USE Error *static_region(ShapeFixer *z, RegionId r);

/* What a loop hands round unchanged is known inside if it is before. */
static void enter_loop(ShapeFixer *z, const Node *n)
{
    Module *m = z->m;
    ValueId body = region_at(m, n->regions[1])->args;
    for (int i = 0; i < n->nin; i++) {
        bool stays = region_return(m, n->regions[1])->in[i] == body + (uint32_t)i;
        for (int k = 0; k < 2; k++) {
            ValueId arg = region_at(m, n->regions[k])->args + (uint32_t)i;
            value_at(m, arg)->type = type_of(m, n->in[i]);
            if (stays && known_get(&z->known, n->in[i]))
                known_set(&z->known, arg, known_get(&z->known, n->in[i]));
        }
    }
}

static MUST_USE Error *static_inside(ShapeFixer *z, NodeId n)
{
    Module *m = z->m;
    if (node_flow(node_at(m, n)) == FLOW_LOOP)
        enter_loop(z, node_at(m, n));
    for (int k = 0; k < node_at(m, n)->nregions; k++)
        TRY(static_region(z, node_at(m, n)->regions[k]));
    const Node *node = node_at(m, n);
    if (!has_open_result(m, node))
        return NULL;
    if (node_flow(node) == FLOW_LOOP)
        for (int i = 0; i < node->nout; i++)
            TRY(set_result(m, node, i, type_of(m, node->in[i])));
    if (node_flow(node) == FLOW_BRANCH)
        for (int i = 0; i < node->nout; i++)
            TRY(set_result(m, node, i, type_of(m, region_return(m, node->regions[0])->in[i])));
    return NULL;
}

static bool has_extents_as_values(OpId op)
{
    return op >= OP_DIMENSION_SIZE && op <= OP_REAL_SLICE;
}

static MUST_USE Error *static_node(ShapeFixer *z, RegionId r, NodeId n)
{
    if (has_extents_as_values(node_at(z->m, n)->op))
        TRY(node_check(z->m, n)); /* lists of open length have one now */
    switch (node_at(z->m, n)->op) {
    case OP_DIMENSION_SIZE: return static_size(z, r, n);
    case OP_DYNAMIC_BROADCAST: return static_extents(z, r, n, OP_BROADCAST);
    case OP_DYNAMIC_RESHAPE: return static_extents(z, r, n, OP_RESHAPE);
    case OP_DYNAMIC_IOTA: return static_extents(z, r, n, OP_IOTA);
    case OP_DYNAMIC_PAD: return static_pad(z, r, n);
    case OP_DYNAMIC_GATHER: return static_gather(z, r, n);
    case OP_DYNAMIC_CONV: return static_conv(z, r, n);
    case OP_REAL_SLICE: return static_slice(z, r, n);
    case OP_CUSTOM_CALL: {
        bool done;
        TRY(static_call(z, r, n, &done));
        return done ? NULL : static_append(z, r, n);
    }
    default: TRY(static_inside(z, n)); return static_append(z, r, n);
    }
}

static MUST_USE Error *static_region(ShapeFixer *z, RegionId r)
{
    Module *m = z->m;
    int n;
    NodeId *old = region_take_nodes(m, r, &n);
    for (int i = 0; i < region_at(m, r)->nargs; i++)
        if (!type_is_static(type_of(m, region_at(m, r)->args + (uint32_t)i)))
            return error_new(CODE_UNIMPLEMENTED,
                             "not supported: argument %d of a region of %s is %s, at %s", i,
                             op_name(node_at(m, region_at(m, r)->parent)->op),
                             type_name(type_of(m, region_at(m, r)->args + (uint32_t)i)),
                             loc_name(node_at(m, region_at(m, r)->parent)->loc));
    for (int i = 0; i < n; i++) {
        Node *node = node_at(m, old[i]);
        for (int k = 0; k < node->nin; k++)
            node->in[k] = subst_get(&z->map, node->in[k]);
        TRY(static_node(z, r, old[i]));
    }
    return NULL;
}

/* ---- the pass ---- */

static MUST_USE Error *set_arguments(Module *m, const Func *main, int nargs, const Type *args)
{
    const Region *body = region_at(m, main->body);
    if (args && nargs != body->nargs)
        return error_new(CODE_INVALID, "@main (%s) takes %d arguments, not %d", loc_name(main->loc),
                         body->nargs, nargs);
    for (int i = 0; i < body->nargs; i++) {
        Type *stated = &value_at(m, body->args + (uint32_t)i)->type;
        if (args && !type_fits(args[i], *stated))
            return error_new(CODE_INVALID, "argument %d of @main (%s) is %s, and must be %s", i,
                             loc_name(main->loc), type_name(args[i]), type_name(*stated));
        if (args)
            *stated = type_new(m->arena, args[i].element, args[i].rank, args[i].dims);
        if (!type_is_static(*stated))
            return error_new(CODE_INVALID,
                             "argument %d of @main (%s) is %s: its open extents are known once the "
                             "program is called with arrays, as by 'tutti run' with an --input of "
                             "a .npy file, or by tt_load",
                             i, loc_name(main->loc), type_name(*stated));
    }
    return NULL;
}

static void set_results(Module *m, Func *main)
{
    const Node *last = region_return(m, main->body);
    Type *results = ARENA_ARRAY(m->arena, Type, last->nin + 1);
    for (int i = 0; i < last->nin; i++)
        results[i] = type_of(m, last->in[i]);
    main->results = results;
}

/* Nothing to settle: what nearly every program is. */
static bool is_settled(const Module *m)
{
    for (uint32_t i = 1; i < m->nvalues; i++)
        if (!type_is_static(m->values[i].type))
            return false;
    for (uint32_t i = 1; i < m->nnodes; i++) {
        const Node *n = &m->nodes[i];
        if (has_extents_as_values(n->op) || (n->op == OP_CUSTOM_CALL && is_shape_call(n)))
            return false;
    }
    return true;
}

Error *module_make_static(Module *m, int nargs, const Type *args)
{
    TRY(module_inline(m));
    Func *main = func_find(m, STR("main"));
    if (!main || !main->body)
        return error_new(CODE_INVALID, "there is no function @main");
    TRY(set_arguments(m, main, nargs, args));
    if (is_settled(m))
        return NULL;
    ShapeFixer z = { .m = m, .known = { .arena = m->arena }, .map = subst_new(m) };
    Error *error = static_region(&z, main->body);
    subst_free(&z.map);
    if (!error)
        set_results(m, main);
    return error;
}
