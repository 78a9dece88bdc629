/* composite.c - the rules of composites, by their kind. */
#include "front/transform/transform.h"
#include "front/value/report.h"

#include <string.h>

void jvp_composite(const Jvp *j)
{
    const Composite *c = composite_of(node_at(j->m, j->node));
    switch (c->kind) {
    case CUSTOM_JVP: jvp_custom_jvp(j, c); break;
    case CUSTOM_VJP: jvp_custom_vjp(j, c); break;
    case CUSTOM_TANGENT:
        report_broken("not supported: forward derivatives of the derivative of %s: its rule is for "
                      "the way back, as tt_grad goes; tt_custom_jvp has one for both",
                      c->f->label);
        break;
    case CHECKPOINT: jvp_checkpoint(j, c); break;
    case NAMED: j->dy[0] = j->dx[0]; break;
    case PLACED: j->dy[0] = build_placed_so(j->dx[0], c->sharding); break;
    }
}

void transpose_composite(const Transpose *t)
{
    const Composite *c = composite_of(node_at(t->m, t->node));
    if (c->kind == CUSTOM_TANGENT)
        transpose_custom_tangent(t, c);
    else if (c->kind == PLACED)
        t->out[0] = build_placed_so(t->ct[0], c->sharding);
    else
        transpose_checkpoint(t, c);
}

void batch_composite(const Batch *b)
{
    const Composite *c = composite_of(node_at(b->m, b->node));
    bool *wanted = ARENA_ARRAY(b->m->arena, bool, b->nout + 1);
    switch (c->kind) {
    case CUSTOM_JVP:
    case CUSTOM_VJP: batch_custom(b, c); break;
    case CUSTOM_TANGENT: batch_custom_tangent(b, c); break;
    case CHECKPOINT: {
        Graph g = graph_of_region(b->m, node_at(b->m, b->node)->regions[0], (Values){ 0 }), rows;
        memset(wanted, true, sizeof *wanted * (size_t)b->nout);
        if (batch_transform(&g, b->size, b->axis_name, b->mapped, wanted, NULL, &rows))
            composite_again(c, &rows, b->x, b->y);
        break;
    }
    case PLACED: b->y[0] = build_placed_so(b->x[0], sharding_leading(c->sharding, false)); break;
    case NAMED: {
        Type t = batch_result_type(b, 0);
        trace_apply("tt_named", OP_COMPOSITE, 1, b->x, &c->attrs, 1, &t, b->y);
        break;
    }
    }
}
