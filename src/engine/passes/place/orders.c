/* orders.c - arguments and results that do not lie row-major.
 *
 * In goes the program of one device, on row-major arrays, and in main's attributes (mhlo.layout_mode)
 * how the client wants them; out comes a main that takes and gives the same memory read as row-major
 * arrays, and transposes between:
 *
 *   main(x : f32[4,2] {0,1})               main(p : f32[2,4])
 *     y = exp x                              x = transpose p
 *     return y                               y = exp x
 *
 * A result that is left to the engine ("auto") and is a transpose lies as what it is a transpose of. */
#include "engine/passes/place/place.h"

static MUST_USE Error *read_order(const Attr *attrs, const char *what, int i, Param *p,
                                  bool *is_auto)
{
    const Attr *mode = attr_get(attrs, "mhlo.layout_mode");
    *is_auto = false;
    if (!mode || mode->kind != ATTR_STRING)
        return NULL;
    Error *error = order_parse(mode->string, p->local.rank, &p->order, is_auto);
    return error ? error_in(error, "%s %d of @main", what, i) : NULL;
}

static Type physical_type(Arena *arena, Param p, int64_t *which)
{
    int64_t *dims = ARENA_ARRAY(arena, int64_t, p.local.rank + 1);
    order_physical(p.order, p.local, dims, which);
    return (Type){ p.local.element, p.local.rank, dims };
}

static ValueId transpose(Module *m, RegionId into, ValueId v, Type out, const int64_t *permutation)
{
    TransposeAttrs *attrs = ARENA_ARRAY(m->arena, TransposeAttrs, 1);
    attrs->permutation.n = out.rank;
    attrs->permutation.at = arena_copy(m->arena, permutation, sizeof(int64_t) * (size_t)out.rank);
    return build_node(m, into, OP_TRANSPOSE, 1, &v, out, attrs, NULL);
}

/* The argument as the program knows it. */
static ValueId row_major_argument(Module *m, RegionId into, ValueId v, Param p)
{
    int64_t which[MAX_RANK], back[MAX_RANK];
    if (!p.order)
        return v;
    order_physical(p.order, p.local, back, which);
    for (int i = 0; i < p.local.rank; i++)
        back[which[i]] = i;
    return transpose(m, into, v, p.local, back);
}

/* If v is a transpose: that array, which lies as v would in the order *out. */
static ValueId untransposed(const Module *m, ValueId v, Order *out)
{
    NodeId def = value_at(m, v)->node;
    const Node *node = def ? node_at(m, def) : NULL;
    if (!node || node->op != OP_TRANSPOSE)
        return v;
    const TransposeAttrs *attrs = node->attrs;
    int rank = type_of(m, v).rank;
    int64_t minor_to_major[MAX_RANK];
    for (int i = 0; i < rank; i++)
        minor_to_major[rank - 1 - attrs->permutation.at[i]] = i;
    return order_of(rank, minor_to_major, out) ? node->in[0] : v;
}

static ValueId ordered_result(Module *m, RegionId into, ValueId v, bool is_auto, Param *p)
{
    int64_t which[MAX_RANK];
    if (is_auto)
        return untransposed(m, v, &p->order);
    return p->order ? transpose(m, into, v, physical_type(m->arena, *p, which), which) : v;
}

static void rebuild_main(Module *m, Func *main, const Param *args, Param *results,
                         const bool *is_auto)
{
    Region old = *region_at(m, main->body);
    Type *types = ARENA_ARRAY(m->arena, Type, old.nargs + 1);
    int64_t which[MAX_RANK];
    for (int i = 0; i < old.nargs; i++)
        types[i] = physical_type(m->arena, args[i], which);
    RegionId into = region_new(m, 0, old.nargs, types);
    Subst map = subst_new(m);
    for (int i = 0; i < old.nargs; i++)
        subst_set(&map, old.args + (uint32_t)i,
                  row_major_argument(m, into, region_at(m, into)->args + (uint32_t)i, args[i]));
    region_copy_into(m, main->body, into, &map);
    Node end = *region_return(m, main->body);
    ValueId *values = ARENA_ARRAY(m->arena, ValueId, end.nin + 1);
    Type *given = ARENA_ARRAY(m->arena, Type, end.nin + 1);
    for (int i = 0; i < end.nin; i++) {
        values[i] = ordered_result(m, into, subst_get(&map, end.in[i]), is_auto[i], &results[i]);
        given[i] = type_of(m, values[i]);
    }
    build_return(m, into, end.nin, values, end.loc);
    subst_free(&map);
    main->body = into;
    main->results = given;
    remove_dead(m, into);
}

Error *order_params(Module *m, Func *main, int nargs, Param *args, int nresults, Param *results)
{
    bool *is_auto = ARENA_ARRAY(m->arena, bool, nresults + 1), any = false, ignored;
    for (int i = 0; i < nargs; i++) {
        const Attr *attrs = main->arg_attrs ? main->arg_attrs[i] : NULL;
        TRY(read_order(attrs, "argument", i, &args[i], &ignored));
        any |= args[i].order != 0;
    }
    for (int i = 0; i < nresults; i++) {
        const Attr *attrs = main->result_attrs ? main->result_attrs[i] : NULL;
        TRY(read_order(attrs, "result", i, &results[i], &is_auto[i]));
        any |= is_auto[i] || results[i].order;
    }
    if (any)
        rebuild_main(m, main, args, results, is_auto);
    return NULL;
}
