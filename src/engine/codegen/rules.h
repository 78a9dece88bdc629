/* rules.h - the columns `element` and `block` of ops.def, and what their rules share. */
#ifndef TUTTI_ENGINE_CODEGEN_RULES_H
#define TUTTI_ENGINE_CODEGEN_RULES_H
#include "engine/kernels/kernel.h"

#define OP(id, name, arity, attrs, kind, shape, eval, element, block, ...)                         \
    ElementRule element_##element;
#include "ops/ops.def"

#define OP(id, name, arity, attrs, kind, shape, eval, element, block, ...) BlockRule block_##block;
#include "ops/ops.def"

/* Whether the node's rule knows the element types the node has (its op has a rule). */
bool rule_takes(const Module *m, NodeId n);
/* A region of scalars whose operations all have element rules (query.c). */
bool region_can_inline(const Module *m, RegionId r);

/* A result in registers from a formula's: rounded or cut to what its type can hold. */
V finish(Kernel *k, Element e, V v);

/* A formula of one, two or three operands x, y, z of element type e, giving type r. */
#define MAP1(name, formula)                                                                        \
    V element_##name(Kernel *k, NodeId n, Index *at)                                               \
    {                                                                                              \
        Element e = element_of(k, node_at(k->m, n)->in[0]);                                        \
        Element r = element_of(k, node_at(k->m, n)->out);                                          \
        V x = operand(k, n, 0, at);                                                                \
        (void)e;                                                                                   \
        return finish(k, r, formula);                                                              \
    }
#define MAP2(name, formula)                                                                        \
    V element_##name(Kernel *k, NodeId n, Index *at)                                               \
    {                                                                                              \
        Element e = element_of(k, node_at(k->m, n)->in[0]);                                        \
        Element r = element_of(k, node_at(k->m, n)->out);                                          \
        V x = operand(k, n, 0, at), y = operand(k, n, 1, at);                                      \
        (void)e;                                                                                   \
        return finish(k, r, formula);                                                              \
    }
#endif
