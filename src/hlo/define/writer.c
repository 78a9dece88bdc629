/* writer.c - writing operations down one after the other, for definitions. */
#include "hlo/define/writer.h"

#include "ops/number.h"

#include <string.h>

ValueId put(Writer *w, OpId op, Type result, const void *attrs, int n, const ValueId *in)
{
    return build_node(w->m, w->r, op, n, in, result, attrs, w->loc);
}

ValueId put_one(Writer *w, OpId op, ValueId x)
{
    return put(w, op, type_of(w->m, x), NULL, 1, &x);
}

ValueId put_two(Writer *w, OpId op, ValueId a, ValueId b)
{
    return put(w, op, type_of(w->m, a), NULL, 2, (ValueId[]){ a, b });
}

Type with_element(Type t, Element e)
{
    t.element = e;
    return t;
}

ValueId put_compare(Writer *w, int direction, ValueId a, ValueId b)
{
    CompareAttrs *attrs = ARENA_NEW(w->m->arena, CompareAttrs);
    attrs->comparison_direction = direction;
    Type t = with_element(type_of(w->m, a), I1);
    return put(w, OP_COMPARE, t, attrs, 2, (ValueId[]){ a, b });
}

ValueId put_select(Writer *w, ValueId which, ValueId yes, ValueId no)
{
    return put(w, OP_SELECT, type_of(w->m, yes), NULL, 3, (ValueId[]){ which, yes, no });
}

ValueId put_convert(Writer *w, ValueId x, Element e)
{
    Type t = type_of(w->m, x);
    return t.element == e ? x : put(w, OP_CONVERT, with_element(t, e), NULL, 1, &x);
}

ValueId put_reshape(Writer *w, ValueId x, int rank, const int64_t *dims)
{
    Type t = type_new(w->m->arena, type_of(w->m, x).element, rank, dims);
    return put(w, OP_RESHAPE, t, NULL, 1, &x);
}

static ValueId put_splat(Writer *w, Type t, const void *bytes)
{
    size_t size = (size_t)element_info[t.element].bytes;
    Dense dense = { t, true, arena_copy(w->m->arena, bytes, size) };
    return build_constant(w->m, w->r, dense, w->loc);
}

ValueId put_number(Writer *w, Type t, double x)
{
    char bytes[16] = { 0 }; /* a complex number's imaginary part is 0 */
    number_set_float(element_part(t.element), x, bytes);
    return put_splat(w, t, bytes);
}

ValueId put_integer(Writer *w, Type t, int64_t x)
{
    char bytes[16] = { 0 };
    number_set_int(element_part(t.element), x, bytes);
    return put_splat(w, t, bytes);
}

ValueId put_element(Writer *w, ValueId x, ValueId at)
{
    static const int64_t one = 1;
    DynamicSliceAttrs *attrs = ARENA_NEW(w->m->arena, DynamicSliceAttrs);
    attrs->slice_sizes = ints_copy(w->m->arena, 1, &one);
    Type t = type_new(w->m->arena, type_of(w->m, x).element, 1, &one);
    return put_reshape(w, put(w, OP_DYNAMIC_SLICE, t, attrs, 2, (ValueId[]){ x, at }), 0, NULL);
}

ValueId put_device_number(Writer *w)
{
    Type t = type_scalar(U32);
    ValueId partition = put(w, OP_PARTITION_ID, t, NULL, 0, NULL);
    ValueId replica = put(w, OP_REPLICA_ID, t, NULL, 0, NULL);
    ValueId many = put_integer(w, t, w->m->npartitions);
    return put_two(w, OP_ADD, put_two(w, OP_MUL, replica, many), partition);
}

ValueId put_spread(Writer *w, ValueId x, const int64_t *to, int rank, const int64_t *dims)
{
    BroadcastAttrs *attrs = ARENA_NEW(w->m->arena, BroadcastAttrs);
    Type from = type_of(w->m, x);
    attrs->broadcast_dimensions = ints_copy(w->m->arena, from.rank, to);
    Type t = type_new(w->m->arena, from.element, rank, dims);
    return put(w, OP_BROADCAST, t, attrs, 1, &x);
}

ValueId put_sum(Writer *w, ValueId x, int n, const int64_t *over)
{
    Module *m = w->m;
    Type from = type_of(m, x);
    DimensionsAttrs *attrs = ARENA_NEW(m->arena, DimensionsAttrs);
    attrs->dimensions = ints_copy(m->arena, n, over);
    int64_t dims[MAX_RANK];
    int rank = 0;
    for (int i = 0; i < from.rank; i++)
        if (ints_find(attrs->dimensions, i) < 0)
            dims[rank++] = from.dims[i];
    Type t = type_new(m->arena, from.element, rank, dims);
    ValueId in[] = { x, put_number(w, type_scalar(from.element), 0) };
    RegionId add = build_reducer(m, OP_ADD, from.element, w->loc);
    NodeId node = node_new(m, OP_REDUCE, 2, in, 1, &t, 1, &add, attrs, w->loc);
    region_append(m, w->r, node);
    return node_at(m, node)->out;
}

ValueId put_transpose(Writer *w, ValueId x, const int64_t *order)
{
    Type from = type_of(w->m, x);
    TransposeAttrs *attrs = ARENA_NEW(w->m->arena, TransposeAttrs);
    attrs->permutation = ints_copy(w->m->arena, from.rank, order);
    int64_t dims[MAX_RANK];
    for (int i = 0; i < from.rank; i++)
        dims[i] = from.dims[order[i]];
    return put(w, OP_TRANSPOSE, type_new(w->m->arena, from.element, from.rank, dims), attrs, 1, &x);
}
