/* scan.c - a function along one dimension that hands something on: chlo.scan.
 *
 *     outputs, carries = scan(inputs, inits) { (x.., c..): ... return (y.., c..) }
 *
 * is a loop over that dimension, forwards or backwards, which cuts a slice out of each input and
 * puts one into each output:
 *
 *     while (i < n, outputs.., carries..)
 *         x = dynamic_slice(input, i);  y, c = body(x, c)
 *         output = dynamic_update_slice(output, y, i) */
#include "hlo/define/writer.h"

typedef struct Scan {
    Module *m;
    const Loc *loc;
    Node n;
    const ScanAttrs *attrs;
    int ninputs, noutputs, ncarries;
    int64_t extent;
    Type *types; /* of the loop's values: the counter, outputs, carries */
} Scan;

static Scan scan_of(Writer *w, Node n)
{
    const ScanAttrs *a = n.attrs;
    Scan s = { .m = w->m, .loc = w->loc, .n = n, .attrs = a };
    s.ninputs = (int)a->operandSegmentSizes.at[0];
    s.ncarries = (int)a->operandSegmentSizes.at[1];
    s.noutputs = n.nout - s.ncarries;
    s.extent = s.ninputs    ? type_of(w->m, n.in[0]).dims[a->dimension]
               : s.noutputs ? type_of(w->m, n.out).dims[a->dimension]
                            : a->scan_dim_size;
    s.types = ARENA_ARRAY(w->m->arena, Type, n.nout + 1);
    s.types[0] = type_scalar(I64);
    for (int i = 0; i < n.nout; i++)
        s.types[i + 1] = type_of(w->m, n.out + (uint32_t)i);
    return s;
}

/* Where the slice of this turn begins: the turn's number, and zeros. */
static void put_starts(Writer *w, const Scan *s, ValueId turn, int rank, ValueId *starts)
{
    for (int i = 0; i < rank; i++)
        starts[i] = i == s->attrs->dimension ? turn : put_integer(w, type_scalar(I64), 0);
}

static ValueId cut(Writer *w, const Scan *s, ValueId x, ValueId turn)
{
    Type t = type_of(w->m, x);
    ValueId in[MAX_RANK + 1] = { x };
    int64_t sizes[MAX_RANK], rest[MAX_RANK];
    put_starts(w, s, turn, t.rank, in + 1);
    int rank = 0;
    for (int i = 0; i < t.rank; i++) {
        sizes[i] = i == s->attrs->dimension ? 1 : t.dims[i];
        if (i != s->attrs->dimension)
            rest[rank++] = t.dims[i];
    }
    DynamicSliceAttrs *attrs = ARENA_NEW(w->m->arena, DynamicSliceAttrs);
    attrs->slice_sizes = ints_copy(w->m->arena, t.rank, sizes);
    Type piece = type_new(w->m->arena, t.element, t.rank, sizes);
    ValueId slice = put(w, OP_DYNAMIC_SLICE, piece, attrs, t.rank + 1, in);
    return put_reshape(w, slice, rank, rest);
}

static ValueId paste(Writer *w, const Scan *s, ValueId into, ValueId piece, ValueId turn)
{
    Type t = type_of(w->m, into);
    int64_t sizes[MAX_RANK];
    for (int i = 0; i < t.rank; i++)
        sizes[i] = i == s->attrs->dimension ? 1 : t.dims[i];
    ValueId in[MAX_RANK + 2] = { into, put_reshape(w, piece, t.rank, sizes) };
    put_starts(w, s, turn, t.rank, in + 2);
    return put(w, OP_DYNAMIC_UPDATE, t, NULL, t.rank + 2, in);
}

static RegionId condition(const Scan *s)
{
    Writer w = { s->m, region_new(s->m, 0, s->n.nout + 1, s->types), s->loc };
    ValueId turn = region_at(s->m, w.r)->args;
    ValueId more = put_compare(&w, LT, turn, put_integer(&w, s->types[0], s->extent));
    build_return(w.m, w.r, 1, &more, w.loc);
    return w.r;
}

static RegionId body(const Scan *s)
{
    Module *m = s->m;
    Writer w = { m, region_new(m, 0, s->n.nout + 1, s->types), s->loc };
    ValueId first = region_at(m, w.r)->args, turn = first;
    RegionId inner = s->n.regions[0];
    if (s->attrs->is_reverse)
        turn = put_two(&w, OP_SUB, put_integer(&w, s->types[0], s->extent - 1), first);
    Subst map = subst_new(m);
    for (int i = 0; i < s->ninputs; i++)
        subst_set(&map, region_at(m, inner)->args + (uint32_t)i, cut(&w, s, s->n.in[i], turn));
    for (int i = 0; i < s->ncarries; i++)
        subst_set(&map, region_at(m, inner)->args + (uint32_t)(s->ninputs + i),
                  first + (uint32_t)(1 + s->noutputs + i));
    region_copy_into(m, inner, w.r, &map);
    ValueId *next = ARENA_ARRAY(m->arena, ValueId, s->n.nout + 1);
    next[0] = put_two(&w, OP_ADD, first, put_integer(&w, s->types[0], 1));
    for (int i = 0; i < s->n.nout; i++)
        next[i + 1] = subst_get(&map, region_return(m, inner)->in[i]);
    for (int i = 0; i < s->noutputs; i++)
        next[i + 1] = paste(&w, s, first + (uint32_t)(i + 1), next[i + 1], turn);
    build_return(w.m, w.r, s->n.nout + 1, next, w.loc);
    subst_free(&map);
    return w.r;
}

Error *define_scan(Writer *w, Node n, ValueId *results)
{
    Scan s = scan_of(w, n);
    static const NoAttrs none;
    ValueId *in = ARENA_ARRAY(w->m->arena, ValueId, n.nout + 1);
    in[0] = put_integer(w, s.types[0], 0);
    for (int i = 0; i < s.noutputs; i++)
        in[i + 1] = put_number(w, s.types[i + 1], 0);
    for (int i = 0; i < s.ncarries; i++)
        in[1 + s.noutputs + i] = n.in[s.ninputs + i];
    RegionId regions[] = { condition(&s), body(&s) };
    NodeId loop =
        node_new(w->m, OP_WHILE, n.nout + 1, in, n.nout + 1, s.types, 2, regions, &none, w->loc);
    region_append(w->m, w->r, loop);
    for (int i = 0; i < n.nout; i++)
        results[i] = node_at(w->m, loop)->out + 1 + (uint32_t)i;
    return NULL;
}
