/* constants.c - operations on constants become constants.
 *
 * In goes a node whose operands are constants; out comes the constant it comes to, if it is
 * worth having:
 *
 *   few elements in and out     the evaluator runs the node; a MAP may also read an iota, so that
 *                               an identity matrix, which programs write as iota = iota, is one
 *   equal elements (a splat)    a MAP on splats is one element's worth of work, and a VIEW of
 *                               a splat is a splat of the new type, whatever the size
 *   reshape                     the same bytes under another type
 *
 * What the evaluator cannot do stays as it is. */
#include "engine/eval/eval.h"

#include "base/guard.h"
#include "engine/floats.h"
#include "engine/passes/simplify/simplify.h"

#include <string.h>

enum { MOST_ELEMENTS = 64 };

static bool is_small(Type t)
{
    return t.element != TOKEN && type_count(t) > 0 && type_count(t) <= MOST_ELEMENTS;
}

static bool may_fold(const Node *node)
{
    OpKind kind = op_info[node->op].kind;
    return node->nin > 0 && op_info[node->op].effect == EFFECT_NONE && eval_can(node->op) &&
           (kind == KIND_MAP || kind == KIND_VIEW || kind == KIND_FOLD || kind == KIND_BLOCK);
}

/* All elements, written out. */
static Tensor spread(Arena *arena, const Dense *dense)
{
    size_t bytes = (size_t)element_info[dense->type.element].bytes;
    size_t n = (size_t)type_count(dense->type);
    char *data = arena_alloc(arena, n * bytes + 1);
    for (size_t i = 0; dense->is_splat && i < n; i++)
        memcpy(data + i * bytes, dense->data, bytes);
    if (!dense->is_splat)
        memcpy(data, dense->data, n * bytes);
    return (Tensor){ dense->type, data };
}

static bool is_uniform(Tensor t)
{
    size_t bytes = (size_t)element_info[t.type.element].bytes;
    const char *data = t.data;
    for (size_t i = 1; i < (size_t)type_count(t.type); i++)
        if (memcmp(data, data + i * bytes, bytes) != 0)
            return false;
    return true;
}

/* Of several partitions each wants its own piece, which place makes of the iota. */
static bool is_small_iota(const Module *m, ValueId v)
{
    NodeId def = value_def(m, v);
    return def && m->npartitions == 1 && node_at(m, def)->op == OP_IOTA && is_small(type_of(m, v));
}

static bool evaluate(Module *m, NodeId n, Tensor *result);

/* The elements of a constant or of a small iota. */
static bool elements_of(Module *m, ValueId v, Tensor *out)
{
    const Dense *constant = value_constant(m, v);
    if (!constant)
        return evaluate(m, value_def(m, v), out);
    *out = spread(m->arena, constant);
    return true;
}

/* Evaluates n on constants; false: it cannot be evaluated, and nothing is lost. */
static bool evaluate(Module *m, NodeId n, Tensor *result)
{
    const Node *node = node_at(m, n);
    Tensor *in = ARENA_ARRAY(m->arena, Tensor, node->nin);
    for (int i = 0; i < node->nin; i++)
        if (!elements_of(m, node->in[i], &in[i]))
            return false;
    node = node_at(m, n);
    Type type = type_of(m, node->out);
    *result = (Tensor){ type, arena_alloc(m->arena, type_bytes(type) + 1) };
    Floats before = floats_enter_compiled(); /* so that a denormal is what it is in compiled code */
    Error *error = eval_node(m, n, in, result);
    floats_restore(before);
    bool evaluated = !error;
    if (error && error_code(error) == CODE_EXHAUSTED) /* not another program for want of memory */
        guard_leave(CODE_EXHAUSTED, "%s", error_text(error));
    error_free(error);
    return evaluated;
}

static ValueId fold_small(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    const Node *node = node_at(m, n);
    for (int i = 0; i < node->nin; i++)
        if (!is_small(type_of(m, node->in[i])))
            return 0;
    Tensor result;
    if (!is_small(type_of(m, node->out)) || !evaluate(m, n, &result))
        return 0;
    Dense value = { result.type, is_uniform(result), result.data };
    return simplify_constant(s, value, node_at(m, n)->loc);
}

/* A MAP whose operands are splats: evaluated once, on scalars. */
static ValueId fold_splats(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    Node node = *node_at(m, n);
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, node.nin);
    for (int i = 0; i < node.nin; i++) {
        const Dense *dense = value_constant(m, node.in[i]);
        if (!dense->is_splat)
            return 0;
        ConstantAttrs *attrs = ARENA_NEW(m->arena, ConstantAttrs);
        attrs->value = (Dense){ type_scalar(dense->type.element), true, dense->data };
        NodeId scalar =
            node_new(m, OP_CONSTANT, 0, NULL, 1, &attrs->value.type, 0, NULL, attrs, node.loc);
        in[i] = node_at(m, scalar)->out;
    }
    Type whole = type_of(m, node.out), one = type_scalar(whole.element);
    NodeId scalar = node_new(m, node.op, node.nin, in, 1, &one, 0, NULL, node.attrs, node.loc);
    Tensor result;
    if (!evaluate(m, scalar, &result))
        return 0;
    return simplify_constant(s, (Dense){ whole, true, result.data }, node.loc);
}

static bool keeps_splats(OpId op)
{
    return op == OP_RESHAPE || op == OP_BROADCAST || op == OP_TRANSPOSE || op == OP_SLICE ||
           op == OP_REVERSE || op == OP_DYNAMIC_SLICE;
}

/* Element by element from constants and iotas, all of them small. */
static ValueId fold_iotas(Simplifier *s, NodeId n)
{
    const Module *m = s->m;
    const Node *node = node_at(m, n);
    bool any = false;
    if (s->no_fold || op_info[node->op].kind != KIND_MAP || !may_fold(node))
        return 0;
    for (int i = 0; i < node->nin; i++) {
        bool is_iota = is_small_iota(m, node->in[i]);
        if (!is_iota && !value_constant(m, node->in[i]))
            return 0;
        any |= is_iota;
    }
    return any ? fold_small(s, n) : 0;
}

ValueId fold_constants(Simplifier *s, NodeId n)
{
    const Module *m = s->m;
    ValueId made = fold_iotas(s, n);
    if (made)
        return made;
    const Node *node = node_at(m, n);
    const Dense *first = node->nin ? value_constant(m, node->in[0]) : NULL;
    if (!first || type_count(first->type) == 0)
        return 0;
    Type type = type_of(m, node->out);
    bool is_one = first->is_splat || type_count(first->type) == 1;
    if (keeps_splats(node->op) && is_one)
        return simplify_constant(s, (Dense){ type, true, first->data }, node->loc);
    if (node->op == OP_RESHAPE)
        return simplify_constant(s, (Dense){ type, false, first->data }, node->loc);
    if (s->no_fold || !may_fold(node))
        return 0;
    for (int i = 1; i < node->nin; i++)
        if (!value_constant(m, node->in[i]))
            return 0;
    ValueId v = fold_small(s, n);
    if (!v && op_info[node_at(m, n)->op].kind == KIND_MAP)
        v = fold_splats(s, n);
    return v;
}
