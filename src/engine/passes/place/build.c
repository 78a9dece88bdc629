/* build.c - small operations that several rules of placement append to the program of one device. */
#include "engine/passes/place/place.h"

ValueId build_splat(Placer *z, Type t, const void *element)
{
    return build_constant(z->m, z->to, (Dense){ t, true, element }, NULL);
}

ValueId build_zeros(Placer *z, Type t)
{
    static const char zeros[16];
    return build_splat(z, t, zeros);
}

ValueId build_number(Placer *z, int64_t n)
{
    int64_t *at = ARENA_NEW(z->m->arena, int64_t);
    *at = n;
    return build_splat(z, type_scalar(I64), at);
}

ValueId build_two(Placer *z, OpId op, ValueId a, ValueId b)
{
    ValueId in[] = { a, b };
    return build_node(z->m, z->to, op, 2, in, type_of(z->m, a), NULL, NULL);
}

ValueId build_compare(Placer *z, ValueId a, ValueId b, int direction)
{
    ValueId in[] = { a, b };
    Type t = type_of(z->m, a);
    t.element = I1;
    CompareAttrs *attrs = ARENA_NEW(z->m->arena, CompareAttrs);
    *attrs = (CompareAttrs){ .comparison_direction = direction, .compare_type = COMPARE_NOTYPE };
    return build_node(z->m, z->to, OP_COMPARE, 2, in, t, attrs, NULL);
}

/* test is a scalar, or as large as the others. */
ValueId build_select(Placer *z, ValueId test, ValueId yes, ValueId no)
{
    ValueId in[] = { test, yes, no };
    return build_node(z->m, z->to, OP_SELECT, 3, in, type_of(z->m, yes), NULL, NULL);
}

ValueId build_neutral(Placer *z, Type t)
{
    static const double minus_zeros[2] = { -0.0, -0.0 };
    bool is_float =
        element_info[t.element].kind == FLOAT || element_info[t.element].kind == COMPLEX;
    if (!is_float)
        return build_zeros(z, t);
    Type wide = t;
    wide.element = F64;
    ValueId v = build_splat(z, wide, minus_zeros);
    return build_node(z->m, z->to, OP_CONVERT, 1, &v, t, NULL, NULL);
}

ValueId build_reshape(Placer *z, ValueId v, Type t)
{
    return type_equal(type_of(z->m, v), t)
               ? v
               : build_node(z->m, z->to, OP_RESHAPE, 1, &v, t, NULL, NULL);
}

ValueId build_dynamic_slice(Placer *z, ValueId from, const ValueId *starts, Type t)
{
    ValueId in[MAX_RANK + 1] = { from };
    for (int d = 0; d < t.rank; d++)
        in[d + 1] = starts[d];
    DynamicSliceAttrs *attrs = ARENA_NEW(z->m->arena, DynamicSliceAttrs);
    attrs->slice_sizes = (Ints){ t.rank, t.dims };
    return build_node(z->m, z->to, OP_DYNAMIC_SLICE, t.rank + 1, in, t, attrs, NULL);
}

ValueId build_own(Placer *z, Element e, const void *by_device)
{
    Module *m = z->m;
    int64_t ndevices = z->ndevices, one = 1;
    Dense table = { type_new(m->arena, e, 1, &ndevices), false, by_device };
    ValueId id = build_node(m, z->to, OP_PARTITION_ID, 0, NULL, type_scalar(U32), NULL, NULL);
    ValueId row = build_dynamic_slice(z, build_constant(m, z->to, table, NULL), &id,
                                      type_new(m->arena, e, 1, &one));
    return build_reshape(z, row, type_scalar(e));
}

ValueId build_wide(Placer *z, ValueId indices)
{
    Type t = type_of(z->m, indices);
    if (t.element == I64)
        return indices;
    static const uint64_t most = INT64_MAX;
    if (t.element == U64)
        indices = build_two(z, OP_MIN, indices, build_splat(z, t, &most));
    t.element = I64;
    return build_node(z->m, z->to, OP_CONVERT, 1, &indices, t, NULL, NULL);
}
