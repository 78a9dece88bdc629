/* declared_shardings.c - what a program says about how its values lie, as tilings.
 *
 * In go the places where it may be said: attributes of arguments and results, sharding
 * constraints, the operands and results of manual computations, each in Shardy's notation or
 * in that of mhlo.sharding.  Out come tilings that are known to divide the arrays. */
#include "engine/passes/place/place.h"

#include "pjrt/extension.h"

#include <string.h>

bool is_call_by_each(const Node *node)
{
    static const char prefix[] = TUTTI_EACH_CALL;
    if (node->op != OP_CUSTOM_CALL)
        return false;
    Str target = ((const CustomCallAttrs *)node->attrs)->call_target_name;
    return target.n >= strlen(prefix) && !memcmp(target.at, prefix, strlen(prefix));
}

bool is_mark(const Node *node)
{
    return node->op == OP_CONSTRAINT || node_call(node) == CALL_SHARDING || is_alike(node);
}

bool is_alike(const Node *node)
{
    CallId call = node_call(node);
    return call == CALL_ALIKE_EARLIER || call == CALL_ALIKE_LATER;
}

/* Dimensions that the constraint leaves open lie as those of what it is put on, if that is known. */
static Tiling leave_open(const Placer *z, const Node *node, const Sharding *s, Tiling declared)
{
    Tiling has = z->hints[node->in[0]];
    Type type = type_of(z->m, node->out);
    if (!has.tiles || has.rank != type.rank || type.rank != s->rank)
        return declared;
    Pick picks[MAX_RANK];
    bool dropped;
    for (int d = 0; d < type.rank; d++)
        picks[d] = s->dims[d].is_open && declared.tiles[d] == 1 ? (Pick){ &has, d, 1 }
                                                                : (Pick){ &declared, d, 0 };
    Tiling t = tiling_pick(z->m->arena, type, z->ndevices, picks, true, &dropped);
    t.nparts = declared.nparts;
    t.part_of = declared.part_of;
    return t;
}

/* Two values lie alike.  What users say of them goes before how they are computed, and the later member
 * of a group before the earlier, as with XLA; cuts that do not contradict these are added. */
static Tiling alike_hint(const Placer *z, const Node *node)
{
    bool is_earlier = node_call(node) == CALL_ALIKE_EARLIER;
    ValueId earlier = node->in[!is_earlier], later = node->in[is_earlier];
    const Tiling *said[] = { &z->preferred[later], &z->preferred[earlier], &z->hints[later],
                             &z->hints[earlier] };
    Type type = type_of(z->m, node->out);
    Pick picks[MAX_RANK] = { 0 };
    bool dropped;
    for (int k = 0; k < 4; k++)
        for (int d = 0; said[k]->tiles && said[k]->rank == type.rank && d < type.rank; d++) {
            const Tiling *has = picks[d].from;
            if (!has && said[k]->tiles[d] > 1)
                picks[d] = (Pick){ said[k], d, k };
            else if (has && is_finer_cut(said[k], d, has, d))
                picks[d].from = said[k];
        }
    return tiling_pick(z->m->arena, type, z->ndevices, picks, true, &dropped);
}

Error *mark_hint(const Placer *z, const Node *node, Tiling *out)
{
    int rank = type_of(z->m, node->out).rank;
    Error *error;
    if (is_alike(node)) {
        *out = alike_hint(z, node);
        return NULL;
    }
    if (node->op == OP_CONSTRAINT) {
        const Sharding *sharding = ((const ConstraintAttrs *)node->attrs)->sharding;
        error = sharding_tiling(z->m->arena, sharding, rank, z->ndevices, out);
        if (!error)
            *out = leave_open(z, node, sharding, *out);
    } else {
        const Attr *text = attr_get(node->extra, "mhlo.sharding");
        Str notation = text && text->kind == ATTR_STRING ? text->string : STR("{replicated}");
        error = tiling_parse(z->m->arena, notation, rank, z->ndevices, out);
    }
    return error ? error_in(error, "%s, at %s", op_name(node->op), loc_name(node->loc)) : NULL;
}

Error *mark_tiling(const Placer *z, const Node *node, Tiling *out)
{
    Tiling t;
    TRY(mark_hint(z, node, &t));
    *out = tiling_even(z->m->arena, type_of(z->m, node->out), t);
    out->nparts = t.nparts;
    out->part_of = t.part_of;
    return NULL;
}

static bool is_named(const Attr *names, Str name)
{
    if (names && names->kind == ATTR_ARRAY)
        for (int i = 0; i < names->n; i++)
            if (names->items[i]->kind == ATTR_STRING && str_equal(names->items[i]->string, name))
                return true;
    return false;
}

bool is_partly_manual(const Node *node)
{
    const ManualAttrs *attrs = node->attrs;
    const Sharding *s = attrs->in_shardings.n    ? attrs->in_shardings.at[0]
                        : attrs->out_shardings.n ? attrs->out_shardings.at[0]
                                                 : NULL;
    for (int axis = 0; s && axis < s->mesh->naxes; axis++)
        if (!is_named(attrs->manual_axes, s->mesh->axes[axis]))
            return true;
    return false;
}

static DimSharding manual_axes_of(Arena *arena, const Mesh *mesh, DimSharding dim,
                                  const Attr *names)
{
    AxisRef *axes = ARENA_ARRAY(arena, AxisRef, dim.naxes + 1);
    DimSharding part = { 0, axes, false };
    for (int k = 0; k < dim.naxes; k++)
        if (is_named(names, mesh->axes[dim.axes[k].axis]))
            axes[part.naxes++] = dim.axes[k];
    return part;
}

/* The sharding with the manual axes only. */
const Sharding *manual_part(Arena *arena, const Sharding *s, const Attr *manual_axes)
{
    DimSharding *dims = ARENA_ARRAY(arena, DimSharding, s->rank + 1);
    for (int i = 0; i < s->rank; i++)
        dims[i] = manual_axes_of(arena, s->mesh, s->dims[i], manual_axes);
    Sharding *part = ARENA_NEW(arena, Sharding);
    *part = (Sharding){ s->mesh, s->rank, dims,
                        manual_axes_of(arena, s->mesh, s->unreduced, manual_axes) };
    return part;
}

Error *manual_tiling(const Placer *z, const Node *node, bool is_operand, int i, Tiling *out)
{
    const ManualAttrs *attrs = node->attrs;
    Shardings list = is_operand ? attrs->in_shardings : attrs->out_shardings;
    Type whole = type_of(z->m, is_operand ? node->in[i] : node->out + (uint32_t)i), local;
    Arena *arena = z->m->arena;
    if (i >= list.n)
        return error_new(CODE_INVALID, "%s has fewer shardings than values, at %s",
                         op_name(node->op), loc_name(node->loc));
    const Sharding *sharding = manual_part(arena, list.at[i], attrs->manual_axes);
    Error *error = sharding_tiling(arena, sharding, whole.rank, z->ndevices, out);
    if (!error)
        error = tiling_local(arena, *out, whole, &local);
    if (error)
        return error_in(error, "%s %d of %s, at %s", is_operand ? "operand" : "result", i,
                        op_name(node->op), loc_name(node->loc));
    RegionId body = node->regions[0];
    Type declared = is_operand ? type_of(z->m, region_at(z->m, body)->args + (uint32_t)i)
                               : type_of(z->m, region_return(z->m, body)->in[i]);
    if (!type_equal(declared, local))
        return error_new(CODE_INVALID, "%s: a piece of %s is %s, but its body has %s, at %s",
                         op_name(node->op), type_name(whole), type_name(local), type_name(declared),
                         loc_name(node->loc));
    return NULL;
}

Error *declared_tiling(const Placer *z, const Attr *attrs, int rank, Tiling *out, bool *is_said)
{
    const Attr *sdy = attr_get(attrs, "sdy.sharding"), *mhlo = attr_get(attrs, "mhlo.sharding");
    *is_said = true;
    if (sdy && sdy->kind == ATTR_SHARDING)
        return sharding_tiling(z->m->arena, sdy->sharding, rank, z->ndevices, out);
    if (mhlo && mhlo->kind == ATTR_STRING)
        return tiling_parse(z->m->arena, mhlo->string, rank, z->ndevices, out);
    *is_said = false;
    *out = tiling_replicated(z->m->arena, rank, z->ndevices);
    return NULL;
}
