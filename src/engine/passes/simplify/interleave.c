/* interleave.c - two arrays whose elements take turns along one dimension.
 *
 *     pad(x) + pad(y)     x0 0 x1 0 x2 0        the zeros between elements are where the other has its own
 *                         0 y0 0 y1 0 y2
 *     stack(x, y)         x0 y0 | x1 y1 | x2 y2 which is x and y as columns, row by row
 *
 * That is how JAX writes it (associative_scan, and strided slices backwards).  Zeros need not be made,
 * and columns are interleaved in registers (kernels/map.c). */
#include "engine/passes/simplify/simplify.h"

#include "ops/number.h"

/* The padding that puts `first` elements before, `last` behind and one between elements of dimension d of
 * v, all zeros, and nothing anywhere else; NULL: v is something else. */
static const Node *spread_by_two(const Module *m, ValueId v, int *d, int64_t first)
{
    NodeId def = value_def(m, v);
    const Node *node = def && node_at(m, def)->op == OP_PAD ? node_at(m, def) : NULL;
    const Dense *zero = node ? value_constant(m, node->in[1]) : NULL;
    if (!zero || number_float(zero->type.element, zero->data) != 0)
        return NULL;
    const PadAttrs *pad = node->attrs;
    *d = -1;
    for (int i = 0; i < pad->interior_padding.n; i++) {
        int64_t low = pad->edge_padding_low.at[i], high = pad->edge_padding_high.at[i];
        bool is_plain = low == 0 && high == 0 && pad->interior_padding.at[i] == 0;
        bool is_spread = pad->interior_padding.at[i] == 1 && low == first && high == 1 - first;
        if (is_spread && *d < 0)
            *d = i;
        else if (!is_plain)
            return NULL;
    }
    return *d < 0 ? NULL : node;
}

/* v with a further dimension of extent n behind d. */
static Type with_column(Simplifier *s, Type type, int d, int64_t n)
{
    int64_t dims[MAX_RANK + 1];
    for (int i = 0; i <= type.rank; i++)
        dims[i] = i <= d ? type.dims[i] : i == d + 1 ? n : type.dims[i - 1];
    return type_new(s->m->arena, type.element, type.rank + 1, dims);
}

ValueId interleave(Simplifier *s, NodeId n)
{
    Node node = *node_at(s->m, n); /* a copy: rules add nodes */
    Type type = type_of(s->m, node.out);
    if (node.op != OP_ADD || type.rank == MAX_RANK || element_info[type.element].kind == COMPLEX)
        return 0;
    int d, other;
    const Node *even = spread_by_two(s->m, node.in[0], &d, 0);
    const Node *odd = spread_by_two(s->m, node.in[even ? 1 : 0], &other, 1);
    if (!even)
        even = spread_by_two(s->m, node.in[1], &d, 0);
    if (!even || !odd || d != other)
        return 0;
    Type half = type_of(s->m, even->in[0]);
    ValueId columns[] = { even->in[0], odd->in[0] };
    for (int i = 0; i < 2; i++)
        columns[i] =
            simplify_put(s, OP_RESHAPE, 1, &columns[i], with_column(s, half, d, 1), NULL, node.loc);
    DimensionAttrs *attrs = ARENA_NEW(s->m->arena, DimensionAttrs);
    attrs->dimension = d + 1;
    Type both = with_column(s, half, d, 2);
    ValueId rows = simplify_put(s, OP_CONCATENATE, 2, columns, both, attrs, node.loc);
    if (element_info[type.element].kind == FLOAT) { /* -0 + 0 is 0 */
        static const uint64_t zero;
        ValueId sum[] = { rows, simplify_constant(s, (Dense){ both, true, &zero }, node.loc) };
        rows = simplify_put(s, OP_ADD, 2, sum, both, NULL, node.loc);
    }
    return simplify_put(s, OP_RESHAPE, 1, &rows, type, NULL, node.loc);
}
