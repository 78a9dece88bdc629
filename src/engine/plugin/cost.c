/* cost.c - what a compiled program does, counted: flops, transcendentals, bytes accessed.
 *
 * One device's part, as the kernels are fused: elements that a fusion keeps to itself move no
 * bytes.  The body of a loop counts once, the branches of a case all. */
#include "engine/plugin/plugin.h"

#include "engine/kernels/query.h"

#include <string.h>

typedef struct Cost {
    double flops, transcendentals, bytes;
} Cost;

static void add_bytes(const Module *m, const Node *n, Cost *c)
{
    bool computes = n->op != OP_CONSTANT && op_info[n->op].kind != KIND_FLOW;
    for (int i = 0; computes && i < n->nin; i++)
        c->bytes += (double)type_bytes(type_of(m, n->in[i]));
    for (int i = 0; computes && i < n->nout; i++)
        c->bytes += (double)type_bytes(type_of(m, n->out + (ValueId)i));
}

/* A reducer's region is part of its operation; a fusion's, loop's or branch's is work. */
static void add_region(const Module *m, RegionId r, bool is_fused, Cost *c)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *n = node_at(m, region->nodes[i]);
        Work work = node_work(m, region->nodes[i]);
        c->flops += work.flops;
        c->transcendentals += work.transcendentals;
        if (!is_fused)
            add_bytes(m, n, c);
        for (int k = 0; node_flow(n) != FLOW_PLAIN && k < n->nregions; k++)
            add_region(m, n->regions[k], is_fused || node_flow(n) == FLOW_KERNEL, c);
    }
}

enum { NCOSTS = 3 };

static const PJRT_NamedValue *costs(Compiled *e)
{
    static const char *const names[NCOSTS] = { "flops", "transcendentals", "bytes accessed" };
    const Module *m = e->program->module;
    const Func *main = m ? func_find(m, STR("main")) : NULL;
    Cost c = { 0 };
    if (main)
        add_region(m, main->body, false, &c);
    float values[NCOSTS] = { (float)c.flops, (float)c.transcendentals, (float)c.bytes };
    PJRT_NamedValue *list = arena_try(e->arena, sizeof *list * NCOSTS);
    for (int i = 0; list && i < NCOSTS; i++)
        list[i] = (PJRT_NamedValue){ .struct_size = PJRT_NamedValue_SIZE,
                                     .name = names[i],
                                     .name_size = strlen(names[i]),
                                     .type = PJRT_NamedValue_kFloat,
                                     .float_value = values[i],
                                     .value_size = 1 };
    return list;
}

Error *pjrt_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args *args)
{
    NEEDS(args, properties);
    Compiled *e = args->executable->compiled;
    pthread_mutex_lock(&e->client->lock);
    if (!e->cost)
        e->cost = costs(e);
    pthread_mutex_unlock(&e->client->lock);
    if (!e->cost)
        return error_new(CODE_EXHAUSTED, "no memory for a list of %d costs", NCOSTS);
    args->num_properties = NCOSTS;
    args->properties = e->cost;
    return NULL;
}
