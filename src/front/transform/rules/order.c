/* order.c - sort and top_k: positions are sorted along, and tangents are read at them. */
#include "front/transform/transform.h"

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

/* The comparison with two more arguments, the positions, at which it does not look. */
static bool comparison(const Jvp *j, Graph *out)
{
    RegionId r = node_at(j->m, j->node)->regions[0];
    Values free = free_values(j->m, 1, &r);
    Graph g = graph_of_region(j->m, r, free);
    int n = 2 * j->nin;
    Type *types = NEW(Type, n + 2);
    tt *in = NEW(tt, n + 2 + free.n), less;
    for (int i = 0; i < n + 2; i++)
        types[i] = type_scalar(i < n ? type_at(j->x[i / 2]).element : I32);
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(n + 2, types, NULL, in);
    for (int i = 0; i < free.n; i++)
        in[n + i] = forward_value(j->forward, free.at[i]);
    trace_inline("a derivative", &g, in, &less);
    bool ok = record_end("a derivative", 1, &less, out);
    frame_pop(&frame);
    return ok;
}

void jvp_sort(const Jvp *j)
{
    const SortAttrs *a = j->attrs;
    int n = j->nin, rank = type_at(j->x[0]).rank;
    int dim = (int)(a->dimension < 0 ? a->dimension + rank : a->dimension);
    tt *in = NEW(tt, n + 1), *y = NEW(tt, n + 1);
    Type *types = NEW(Type, n + 1);
    Graph body;
    for (int i = 0; i < n; i++)
        in[i] = j->x[i];
    in[n] = build_iota(type_with(type_at(in[0]), I32), dim);
    for (int i = 0; i <= n; i++)
        types[i] = type_at(in[i]);
    if (!comparison(j, &body) ||
        !trace_apply_regions("a derivative", OP_SORT, n + 1, in, a, 1, &body, n + 1, types, y))
        return;
    for (int i = 0; i < n; i++) {
        j->y[i] = y[i];
        if (is_value(j->dx[i]))
            j->dy[i] = gather_along(j->dx[i], y[n], dim);
    }
}

void jvp_top_k(const Jvp *j)
{
    j->dy[0] = gather_along(j->dx[0], j->y[1], type_at(j->x[0]).rank - 1);
}
