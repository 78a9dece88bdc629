/* rewrite.h - changing a module: substitution, walking, copying. */
#ifndef TUTTI_HLO_REWRITE_H
#define TUTTI_HLO_REWRITE_H
#include "hlo/module.h"

/* A substitution of values that is collected first and applied by one walk.  Starts by
 * subst_new; chains (a by b, b by c) resolve to the end. */
typedef struct Subst {
    ValueId *to; /* to[v]: 0 means v itself */
    uint32_t n;
} Subst;

Subst subst_new(const Module *m);
void subst_free(Subst *s);
void subst_set(Subst *s, ValueId from, ValueId to); /* also for values newer than the Subst */
ValueId subst_get(const Subst *s, ValueId v);
void subst_apply(const Subst *s, Module *m, RegionId r); /* to operands in r and below */

/* Calls visit for every node of r and of the regions below, in program order, outer first. */
typedef void NodeVisit(Module *m, NodeId n, void *user);
void region_walk(Module *m, RegionId r, NodeVisit *visit, void *user);

/* Gives every node of r and below to `rewrite`, which appends to the emptied region what shall
 * stand there.  Operands are looked up in map first; inner regions come before their node. */
typedef MUST_USE Error *NodeRewrite(Module *m, RegionId r, NodeId n, void *user);
MUST_USE Error *region_rewrite(Module *m, RegionId r, const Subst *map, NodeRewrite *rewrite,
                               void *user);
/* For rewrites: the results of n are these values; copies of the nodes of `body`, whose arguments
 * are n's operands, stand at the end of r instead of n. */
void node_replace(const Module *m, NodeId n, const ValueId *by, Subst *map);
void node_open(Module *m, RegionId r, NodeId n, RegionId body, Subst *map);

/* Calls and composites become what they name, in all functions (inline.c). */
MUST_USE Error *module_inline(Module *m);

/* A copy of n, its regions included, that stands nowhere yet; operands and free values are looked
 * up in map, which learns the results. */
NodeId node_copy(Module *m, NodeId n, Subst *map);
/* Appends copies of the nodes of `from` (all but its RETURN) to the region `to`.  map gives
 * for values of `from` (its arguments first set by the caller) the values in the copy. */
void region_copy_into(Module *m, RegionId from, RegionId to, Subst *map);
/* A new region with the same arguments and nodes; free values are looked up in map. */
RegionId region_copy(Module *m, RegionId from, NodeId parent, Subst *map);

/* How often each value is used in r and below; the caller frees. counts[v]. */
uint32_t *count_uses(const Module *m, RegionId r);

/* Drops nodes of r and below whose results are not used and that have no effect. */
void remove_dead(Module *m, RegionId r);
bool node_has_effect(const Module *m, NodeId n); /* itself, in its regions, or in what it calls */

/* What a region of two scalars computes, if it is that one operation: OP_ADD, OP_MAX ...;
 * OP_COUNT otherwise. Looks through sharding constraints and reversed operands. */
OpId region_reducer(const Module *m, RegionId r);

/* Constants and small nodes; appended to r.  attrs may be NULL for an operation without. */
ValueId build_constant(Module *m, RegionId r, Dense value, const Loc *loc);
ValueId build_node(Module *m, RegionId r, OpId op, int nin, const ValueId *in, Type result,
                   const void *attrs, const Loc *loc);
/* The end of r, whose results are these values. */
void build_return(Module *m, RegionId r, int n, const ValueId *values, const Loc *loc);
/* A region that combines two scalars by op: what a reduce or all_reduce takes. */
RegionId build_reducer(Module *m, OpId op, Element element, const Loc *loc);
#endif
