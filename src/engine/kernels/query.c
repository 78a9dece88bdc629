/* query.c - what the passes may ask of kernels before any is made.
 *
 * In: a fusion, or a node that might join one.  Out: can it be emitted, may a result take an
 * operand's memory, how long will a call take.  Only shapes and operations are looked at. */
#include "engine/kernels/query.h"
#include "engine/kernels/kernels.h"

#include "base/guard.h"
#include "base/table.h"
#include "engine/codegen/codegen.h"
#include "engine/stages.h"
#include "hlo/rewrite.h"
#include "ops/number.h"

static bool types_can(const Module *m, const Node *node)
{
    for (int i = 0; i < node->nin + node->nout; i++) {
        Type type = type_of(m, i < node->nin ? node->in[i] : node->out + (ValueId)(i - node->nin));
        if (!access_can(type.element) || !type_is_static(type))
            return false;
    }
    return true;
}

bool region_can_inline(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nargs; i++) {
        Type type = type_of(m, region->args + (ValueId)i);
        if (type.rank || !access_can(type.element))
            return false;
    }
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        if (node_flow(node) == FLOW_END)
            continue;
        if (!element_rules[node->op] || !types_can(m, node) || !rule_takes(m, region->nodes[i]))
            return false;
        for (int o = 0; o < node->nout; o++)
            if (type_of(m, node->out + (ValueId)o).rank)
                return false;
    }
    return true;
}

bool kernel_can_emit(const Module *m, NodeId n)
{
    const Node *node = node_at(m, n);
    if (!element_rules[node->op] && !block_rules[node->op])
        return false;
    if (!types_can(m, node) || !rule_takes(m, n))
        return false;
    for (int i = 0; i < node->nregions; i++)
        if (!region_can_inline(m, node->regions[i]))
            return false;
    return true;
}

bool kernel_may_fail(const Module *m, NodeId fusion)
{
    const Region *region = region_at(m, node_at(m, fusion)->regions[0]);
    for (int i = 0; i < region->nnodes; i++) {
        OpId op = node_at(m, region->nodes[i])->op;
        if (op == OP_SORT || op == OP_TOP_K)
            return true;
    }
    return false;
}

/* ---- in place ---- */

typedef struct Uses {
    const Module *m;
    RegionId region;
    int argument;
    const Node *update; /* that writes the result: then numbers are those of its update; or NULL */
    bool is_elsewhere;  /* read at another element number than the result's */
    Table seen;
} Uses;

static bool keeps_number(const Module *m, const Node *node, int i)
{
    switch (op_info[node->op].in_place) {
    case IN_PLACE_ELEMENT: return type_of(m, node->in[i]).rank == type_of(m, node->out).rank;
    case IN_PLACE_ALIAS: return node_is_alias(m, node);
    default: return false;
    }
}

/* Is v, one number, this constant? */
static bool is_number(const Module *m, ValueId v, int64_t x)
{
    const Dense *d = value_constant(m, v);
    return d && number_int(d->type.element, d->data) == x;
}

bool takes_what_is_written(const Module *m, const Node *update, const Node *slice)
{
    Type part = type_of(m, update->in[1]);
    bool is_moving = slice->op == OP_DYNAMIC_SLICE;
    if (update->op != OP_DYNAMIC_UPDATE || (slice->op != OP_SLICE && !is_moving) ||
        slice->in[0] != update->in[0] || !type_same_shape(type_of(m, slice->out), part))
        return false;
    for (int d = 0; d < part.rank; d++) {
        const SliceAttrs *a = slice->attrs;
        ValueId start = update->in[2 + d];
        if (is_moving ? slice->in[1 + d] != start
                      : a->strides.at[d] != 1 || !is_number(m, start, a->start_indices.at[d]))
            return false;
    }
    return true;
}

static void look_for_uses(Uses *u, ValueId v, bool is_same)
{
    uint64_t key = (uint64_t)v * 2 + is_same, was;
    const Value *value = value_at(u->m, v);
    if (u->is_elsewhere || table_get(&u->seen, &key, sizeof key, &was))
        return;
    table_set(&u->seen, &key, sizeof key, 1);
    if (!value->node) {
        bool is_it = value->region == u->region && value->index == u->argument;
        u->is_elsewhere = is_it && !is_same;
        return;
    }
    const Node *node = node_at(u->m, value->node);
    bool is_in_step = is_same && u->update && takes_what_is_written(u->m, u->update, node);
    for (int i = 0; i < node->nin; i++)
        if (i > 0 || !is_in_step)
            look_for_uses(u, node->in[i], is_same && keeps_number(u->m, node, i));
}

/* The operand that is copied and then changed in places. */
static bool is_updated(const Module *m, const Node *root, ValueId v, int result)
{
    if (op_info[root->op].in_place != IN_PLACE_SAME || result >= root->nout ||
        root->in[result] != v)
        return false;
    Uses u = { .m = m, .region = value_at(m, v)->region, .argument = value_at(m, v)->index };
    u.update = root->op == OP_DYNAMIC_UPDATE ? root : NULL;
    for (int i = 0; i < root->nin; i++)
        if (i != result)
            look_for_uses(&u, root->in[i], u.update && i == 1);
    table_free(&u.seen);
    return !u.is_elsewhere;
}

bool kernel_reads_in_place(const Module *m, NodeId fusion, int operand_number, int result)
{
    const Node *node = node_at(m, fusion);
    RegionId r = node->regions[0];
    const Region *region = region_at(m, r);
    const Node *end = region_return(m, r);
    ValueId v = region->args + (ValueId)operand_number;
    Type in = type_of(m, v), out = type_of(m, end->in[result]);
    if (type_count(in) != type_count(out) ||
        element_info[in.element].bytes != element_info[out.element].bytes)
        return false;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *root = node_at(m, region->nodes[i]);
        if (block_rules[root->op])
            return end->in[result] == root->out + (ValueId)result && is_updated(m, root, v, result);
    }
    Uses u = { .m = m, .region = r, .argument = operand_number };
    for (int i = 0; i < end->nin; i++)
        look_for_uses(&u, end->in[i], true);
    table_free(&u.seen);
    return !u.is_elsewhere;
}

/* ---- cost ---- */

/* As whole nanoseconds; more than these are all the same, and sums of them do not overflow. */
static int64_t cost_in_ns(double ns)
{
    const double most = (double)((int64_t)1 << 40);
    return (int64_t)(ns < most ? ns : most);
}

/* Is it a value that a loop carries?  What a body changes of such a one it changes in place. */
static bool is_carried(const Module *m, ValueId v)
{
    const Value *value = value_at(m, v);
    NodeId parent = region_at(m, value->region)->parent;
    return !value->node && parent && node_flow(node_at(m, parent)) == FLOW_LOOP;
}

/* The bytes that a node reads by its operand k, where it need not read all. */
static double bytes_of_part(const Module *m, const Node *fusion, const Node *node, int k)
{
    double whole = (double)type_bytes(type_of(m, node->in[k]));
    double result = node->nout ? (double)type_bytes(type_of(m, node->out)) : 0;
    bool is_first = k == 0;
    switch (node->op) {
    case OP_SLICE:
    case OP_DYNAMIC_SLICE:
    case OP_GATHER: return is_first && result < whole ? result : whole;
    case OP_DYNAMIC_UPDATE:
    case OP_SCATTER: break;
    default: return whole;
    }
    int argument = value_at(m, node->in[k])->index;
    bool is_whole = !is_first || !is_carried(m, fusion->in[argument]);
    return is_whole ? whole : 0;
}

/* Bytes that the kernel moves: an operand counts once, or for what is read of it in parts; an update
 * in place counts for what it changes. */
static double kernel_bytes(const Module *m, const Node *fusion)
{
    RegionId r = fusion->regions[0];
    const Region *region = region_at(m, r);
    double *read = HEAP_ARRAY(double, region->nargs + 1, "a list of sizes"), bytes = 0, saved = 0;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        for (int k = 0; k < node->nin; k++) {
            const Value *v = value_at(m, node->in[k]);
            if (v->region != r || v->node)
                continue;
            double part = bytes_of_part(m, fusion, node, k);
            read[v->index] += part;
            saved += part == 0 ? (double)type_bytes(v->type) : 0;
        }
    }
    for (int i = 0; i < region->nargs; i++) {
        double whole = (double)type_bytes(type_of(m, fusion->in[i]));
        bytes += read[i] < whole ? read[i] : whole;
    }
    for (int i = 0; i < fusion->nout; i++)
        bytes += (double)type_bytes(type_of(m, fusion->out + (ValueId)i));
    heap_free(read);
    return bytes > saved ? bytes - saved : 0;
}

int64_t kernel_cost(const Module *m, NodeId fusion)
{
    enum { CALL = 8, TINY = 2, SMALL = 256, FIRST_CACHE = 16 << 10 }; /* ns; bytes */
    const Node *node = node_at(m, fusion);
    const Region *region = region_at(m, node->regions[0]);
    double bytes = kernel_bytes(m, node), ns = bytes < SMALL ? TINY : CALL;
    for (int i = 0; i < region->nnodes; i++)
        ns += node_work(m, region->nodes[i]).ns;
    return cost_in_ns(ns + bytes / (bytes < FIRST_CACHE ? 128 : 20));
}
