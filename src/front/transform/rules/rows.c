/* rows.c - a batch one row after the other: for operations that have no form for many.
 *
 *     y = op(x)      Y = for every row r: Y[r] = op(X[r])
 */
#include "front/transform/batch.h"
#include "front/transform/counted_loops.h"
#include "hlo/rewrite.h"

#include <string.h>

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

static void play_row(tt turn, const tt *in, tt *out, void *user)
{
    const Rows *r = user;
    Module *m = r->b->m;
    Subst map = subst_new(m);
    for (int i = 0; i < r->used.n; i++) {
        tt x = r->mapped[i] ? build_row(r->x[i], turn) : r->x[i];
        ValueId v = trace_value("a batch", x);
        if (v)
            subst_set(&map, r->used.at[i], v);
    }
    region_append(m, tracing->region, node_copy(m, r->b->node, &map));
    for (int i = 0; i < r->b->nout; i++) {
        ValueId y = subst_get(&map, node_at(m, r->b->node)->out + (uint32_t)i);
        out[i] = build_set_row(in[i], turn, trace_tt(y));
    }
    subst_free(&map);
}

void batch_rows(const Batch *b)
{
    Rows rows = rows_of(b);
    tt *init = NEW(tt, b->nout);
    for (int i = 0; i < b->nout; i++)
        init[i] = build_zeros(batched_type(b, i));
    build_turns(b->size, b->nout, init, play_row, &rows, b->y);
}
