/* loop_rows.h - rows that a loop takes one after the other of an array from outside. */
#ifndef TUTTI_ENGINE_PASSES_LOOP_ROWS_H
#define TUTTI_ENGINE_PASSES_LOOP_ROWS_H
#include "engine/analysis/analysis.h"

/* The dynamic_slice by which a loop's body takes v, one row of an array from outside without its first
 * dimension; NULL: v is no such. */
static inline const Node *loop_row(const Module *m, RegionId body, ValueId v)
{
    NodeId def = value_def(m, v);
    bool is_view = def && value_at(m, v)->region == body && node_at(m, def)->op == OP_RESHAPE;
    NodeId taken = is_view ? value_def(m, node_at(m, def)->in[0]) : 0;
    const Node *slice = taken ? node_at(m, taken) : NULL;
    if (!slice || slice->op != OP_DYNAMIC_SLICE || slice->region != body ||
        value_at(m, slice->in[0])->region == body)
        return NULL;
    Type row = type_of(m, v), rows = type_of(m, slice->in[0]), one = type_of(m, slice->out);
    bool is_row = row.rank + 1 == rows.rank && row.rank > 0 && is_row_of(one, rows);
    for (int d = 0; is_row && d < row.rank; d++)
        is_row = row.dims[d] == rows.dims[d + 1];
    return is_row ? slice : NULL;
}
#endif
