/* vhlo_groups.c - arrays that shall lie alike on devices: sdy.sharding_group.
 *
 * The file says of one value after the other that it belongs to a group.  In the module that is a
 * call for each of two members, which hands its first operand on and lies as both of them do:
 *
 *   sdy.sharding_group %x group_id=7        (nothing)
 *   sdy.sharding_group %y group_id=7        %x2 = custom_call @tutti.alike.earlier(%x, %y)
 *                                           %y2 = custom_call @tutti.alike.later(%y, %x)
 *
 * What follows in the region says %x2 and %y2; so a member that nobody uses is kept by the other. */
#include "hlo/read/vhlo.h"
#include "ops/attrs.h"
#include "ops/call.h"

static const ShardGroup *find(const Vhlo *v, int64_t id)
{
    const ShardGroup *group = v->groups;
    while (group && group->id != id)
        group = group->outer;
    return group;
}

static void enter(Vhlo *v, int64_t id, ValueId value)
{
    ShardGroup *group = ARENA_NEW(v->b->arena, ShardGroup);
    *group = (ShardGroup){ v->groups, id, value };
    v->groups = group;
}

static ValueId build_alike(Vhlo *v, RegionId region, CallId call, ValueId own, ValueId other,
                           const Loc *loc)
{
    CustomCallAttrs *attrs = ARENA_NEW(v->arena, CustomCallAttrs);
    attrs->call_target_name = str_of(call_info[call].name);
    Type type = type_of(v->m, own);
    NodeId n =
        node_new(v->m, OP_CUSTOM_CALL, 2, (ValueId[]){ own, other }, 1, &type, 0, NULL, attrs, loc);
    region_append(v->m, region, n);
    return node_at(v->m, n)->out;
}

Error *group_add(Vhlo *v, const OpCode *op, int64_t id, RegionId region)
{
    if (op->noperands != 1 || op->nresults != 0)
        return cursor_error(&op->place, "a sharding_group of one value, without results");
    ValueId b = subst_get(&v->marked, v->values[op->operands[0]]);
    const ShardGroup *group = find(v, id);
    if (!group) {
        enter(v, id, b);
        return NULL;
    }
    ValueId a = subst_get(&v->marked, group->value);
    if (type_of(v->m, a).rank != type_of(v->m, b).rank)
        return cursor_error(&op->place, "a sharding_group of values of one rank, got %s and %s",
                            type_name(type_of(v->m, a)), type_name(type_of(v->m, b)));
    if (a == b)
        return NULL;
    const Loc *loc = vhlo_loc(v, op->location);
    enter(v, id, b);
    enter(v, id, a);
    ValueId marked_a = build_alike(v, region, CALL_ALIKE_EARLIER, a, b, loc);
    ValueId marked_b = build_alike(v, region, CALL_ALIKE_LATER, b, a, loc);
    subst_set(&v->marked, a, marked_a);
    subst_set(&v->marked, b, marked_b);
    return NULL;
}

void groups_leave(Vhlo *v, const ShardGroup *outer)
{
    for (; v->groups != outer; v->groups = v->groups->outer)
        subst_set(&v->marked, v->groups->value, v->groups->value);
}
