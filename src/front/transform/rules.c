/* rules.c - the front's columns of ops.def as a table, and the rules that any family may name. */
#include "front/transform/rules.h"

#include "front/transform/transform.h"

#include <string.h>

/* No rule: the transformation reports that, with the operation's name. */
#define jvp_none NULL
#define transpose_none NULL
#define batch_none NULL

const FrontRules front_rules[OP_COUNT] = {
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, element, \
           block, jvp, transpose, batch)                                                           \
    [OP_##id] = { jvp_##jvp, transpose_##transpose, batch_##batch },
#include "ops/ops.def"
};

const char *rule_op_name(OpId op)
{
    const char *name = op_name(op), *dot = strchr(name, '.');
    return op_info[op].attrs == ATTRS_AXIS ? dot + 1 : name;
}

tt value_or_zeros(tt x, Type type)
{
    return is_value(x) ? x : build_zeros(type);
}

tt batch_operand(const Batch *b, int i)
{
    return b->mapped[i] ? b->x[i] : build_leading(b->x[i], b->size);
}

Type batch_result_type(const Batch *b, int i)
{
    return type_insert(b->results[i], 0, b->size);
}

/* Constant as far as derivatives go. */
void jvp_zero(const Jvp *j)
{
    (void)j;
}

/* A linear operation of one operand is its own derivative. */
void jvp_linear(const Jvp *j)
{
    j->dy[0] = build_op(j->op, 1, j->dx, j->attrs, type_at(j->y[0]));
}

/* Linear in all operands together. */
void jvp_each(const Jvp *j)
{
    tt *dx = ARENA_ARRAY(trace_arena(), tt, j->nin + 1);
    Type *types = ARENA_ARRAY(trace_arena(), Type, j->nout + 1);
    for (int i = 0; i < j->nin; i++)
        dx[i] = value_or_zeros(j->dx[i], type_at(j->x[i]));
    for (int i = 0; i < j->nout; i++)
        types[i] = type_at(j->y[i]);
    trace_apply("a derivative", j->op, j->nin, dx, j->attrs, j->nout, types, j->dy);
}

/* Linear in the first operand; the others say where. */
void jvp_first(const Jvp *j)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, j->nin);
    in[0] = j->dx[0];
    for (int i = 1; i < j->nin; i++)
        in[i] = j->x[i];
    if (is_value(j->dx[0]))
        j->dy[0] = build_op(j->op, j->nin, in, j->attrs, type_at(j->y[0]));
}

/* Made of nothing that is mapped: the same for every row. */
void batch_unmapped(const Batch *b)
{
    b->y[0] = build_op(b->op, 0, NULL, b->attrs, b->results[0]);
    b->y_mapped[0] = false;
}

/* ---- a batch one row after the other: for operations that have no form for many ----
 *
 *     y = op(x)      Y = for every row r: Y[r] = op(X[r]) */

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

typedef struct Rows {
    const Batch *b;
    Values used; /* operands, and what regions use from around them */
    tt *x;
    bool *mapped;
} Rows;

static Rows rows_of(const Batch *b)
{
    const Node *node = node_at(b->m, b->node);
    Values free = free_values(b->m, node->nregions, node->regions);
    int n = b->nin + free.n;
    Rows r = { b, { n, NEW(ValueId, n) }, NEW(tt, n), NEW(bool, n) };
    for (int i = 0; i < n; i++) {
        ValueId v = r.used.at[i] = i < b->nin ? node->in[i] : free.at[i - b->nin];
        r.x[i] = batcher_value(b->batcher, v);
        r.mapped[i] = batcher_is_mapped(b->batcher, v);
    }
    return r;
}

static void record_row(tt iteration, const tt *in, tt *out, void *user)
{
    const Rows *r = user;
    Module *m = r->b->m;
    Subst map = subst_new(m);
    for (int i = 0; i < r->used.n; i++) {
        tt x = r->mapped[i] ? build_row(r->x[i], iteration) : r->x[i];
        ValueId v = trace_value("a batch", x);
        if (v)
            subst_set(&map, r->used.at[i], v);
    }
    region_append(m, tracing->region, node_copy(m, r->b->node, &map));
    for (int i = 0; i < r->b->nout; i++) {
        ValueId y = subst_get(&map, node_at(m, r->b->node)->out + (uint32_t)i);
        out[i] = build_set_row(in[i], iteration, trace_tt(y));
    }
    subst_free(&map);
}

void batch_rows(const Batch *b)
{
    Rows rows = rows_of(b);
    tt *init = NEW(tt, b->nout);
    for (int i = 0; i < b->nout; i++)
        init[i] = build_zeros(batch_result_type(b, i));
    loop_counted(b->size, b->nout, init, record_row, &rows, b->y);
}
