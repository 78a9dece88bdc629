/* marks.c - what code says that it begins to do: names, places and work of kernels, loops and
 * evaluations, for those who look at a run (engine/profile). */
#include "engine/link/link.h"

#include "base/grow.h"

#include <string.h>

/* Operations that only say how others see their operands; a name is shorter without them. */
static bool is_plain(OpId op)
{
    switch (op) {
    case OP_CONSTANT:
    case OP_BROADCAST:
    case OP_RESHAPE:
    case OP_CONVERT: return true;
    default: return false;
    }
}

static bool is_named_before(const Module *m, const Region *region, int n, OpId op)
{
    for (int i = 0; i < n; i++)
        if (node_at(m, region->nodes[i])->op == op)
            return true;
    return false;
}

/* "dot_general+add+tanh": each operation once, in order. */
static void name_region(Text *out, const Module *m, RegionId r, bool with_plain)
{
    enum { MOST = 5 };
    const Region *region = region_at(m, r);
    int n = 0, more = 0;
    for (int i = 0; i + 1 < region->nnodes; i++) {
        OpId op = node_at(m, region->nodes[i])->op;
        if ((is_plain(op) && !with_plain) || is_named_before(m, region, i, op))
            continue;
        if (n == MOST)
            more++;
        else
            text_printf(out, "%s%s", n++ ? "+" : "", op_name(op));
    }
    if (more)
        text_printf(out, "+%d more", more);
}

static const char *name_of(Arena *arena, const Module *m, const Node *node)
{
    Text text = { 0 };
    if (node_flow(node) == FLOW_KERNEL) {
        name_region(&text, m, node->regions[0], false);
        if (!text.n)
            name_region(&text, m, node->regions[0], true);
    } else {
        text_printf(&text, "%s", op_name(node->op));
        if (node->op == OP_CUSTOM_CALL) {
            Str target = ((const CustomCallAttrs *)node->attrs)->call_target_name;
            text_printf(&text, " @%.*s", STR_ARG(target));
        }
    }
    const char *name = arena_copy(arena, text_cstr(&text), text.n + 1);
    text_free(&text);
    return name;
}

static double flops_of(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    double flops = 0;
    for (int i = 0; i < region->nnodes; i++) {
        Work work = node_work(m, region->nodes[i]);
        flops += work.flops + work.transcendentals;
    }
    return flops;
}

/* What the kernel reads of its operand v, which `as` is inside: where all that it takes are slices,
 * no more than those. */
static double bytes_read(const Module *m, RegionId r, ValueId as)
{
    const Region *region = region_at(m, r);
    double whole = (double)type_bytes(type_of(m, as)), slices = 0;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *n = node_at(m, region->nodes[i]);
        for (int k = 0; k < n->nin; k++) {
            if (n->in[k] != as)
                continue;
            bool takes_slice = n->op == OP_SLICE || n->op == OP_DYNAMIC_SLICE || n->op == OP_GATHER;
            if (k > 0 || !takes_slice)
                return whole;
            slices += (double)type_bytes(type_of(m, n->out));
        }
    }
    return slices < whole ? slices : whole;
}

static double bytes_of(const Module *m, const Node *node)
{
    bool is_kernel = node_flow(node) == FLOW_KERNEL;
    double bytes = 0;
    for (int i = 0; i < node->nin; i++)
        bytes += is_kernel ? bytes_read(m, node->regions[0],
                                        region_at(m, node->regions[0])->args + (ValueId)i)
                           : (double)type_bytes(type_of(m, node->in[i]));
    for (int i = 0; i < node->nout; i++)
        bytes += (double)type_bytes(type_of(m, node->out + (ValueId)i));
    return bytes;
}

void mark_add(Arena *arena, const Module *m, NodeId n, Program *program, int *room)
{
    const Node *node = node_at(m, n);
    CodeMark *marks = arena_room(arena, program->marks, program->nmarks, room, sizeof *marks);
    CodeMark *mark = &marks[program->nmarks++];
    program->marks = marks;
    *mark = (CodeMark){ .name = name_of(arena, m, node), .loc = node->loc, .node = n };
    if (node_is_control(node))
        return;
    Work work = node_work(m, n);
    mark->flops = node_flow(node) == FLOW_KERNEL ? flops_of(m, node->regions[0])
                                                 : work.flops + work.transcendentals;
    mark->bytes = bytes_of(m, node);
}

bool region_has_marks(const GlueTables *t, const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        if (t->marks[region->nodes[i]])
            return true;
        for (int k = 0; node_is_control(node) && k < node->nregions; k++)
            if (region_has_marks(t, m, node->regions[k]))
                return true;
    }
    return false;
}
