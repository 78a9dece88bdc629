/* nans.c - what made the first NaN: code compiled under TUTTI_CHECK=nans asks of every result. */
#include "engine/numerics/numerics.h"
#include "engine/slices.h"
#include "engine/tensor.h"

#include <math.h>

static bool is_nan(Tensor t, int64_t i)
{
    Complex z = number_at(t, i);
    return isnan(__real__ z) || isnan(__imag__ z);
}

/* The number of the first element that is one; -1: none is. */
static int64_t first_nan(Tensor t)
{
    int64_t n = type_count(t.type);
    const float *floats = t.data;
    for (int64_t i = 0; i < n; i++)
        if (t.type.element == F32 ? isnan(floats[i]) : is_nan(t, i))
            return i;
    return -1;
}

static void put_index(Text *out, Type type, int64_t flat)
{
    int64_t index[MAX_RANK];
    for (int d = type.rank - 1; d >= 0; d--) {
        index[d] = flat % type.dims[d];
        flat /= type.dims[d];
    }
    text_ints(out, index, type.rank);
}

static Type type_asked(const Program *p, NansOf of, int number, int result)
{
    switch (of) {
    case NANS_OF_ARGUMENT: return p->args[number].local;
    case NANS_OF_COLLECTIVE: return p->collectives[number].out_types[result];
    default:
        return type_of(p->module, node_at(p->module, p->marks[number].node)->out + (ValueId)result);
    }
}

static Error *made_nan(const Program *p, NansOf of, int number, Type type, const char *index)
{
    switch (of) {
    case NANS_OF_ARGUMENT:
        return error_new(CODE_INVALID, "argument %d, %s, has a NaN at [%s]", number,
                         type_name(type), index);
    case NANS_OF_COLLECTIVE:
        return error_new(CODE_INVALID,
                         "%s (%s) made the first NaN: its result, %s, has one at [%s]",
                         p->collectives[number].name, collective_where(&p->collectives[number]),
                         type_name(type), index);
    default:
        return error_new(
            CODE_INVALID, "%s (%s) made the first NaN: its result, %s, has one at [%s]",
            p->marks[number].name, loc_name(p->marks[number].loc), type_name(type), index);
    }
}

void nans_find(const Frame *f, int32_t of, int32_t number, int32_t result, const void *data)
{
    const Program *p = f->program;
    Type type = type_asked(p, (NansOf)of, number, result);
    int64_t at = first_nan((Tensor){ type, (void *)data });
    if (at < 0)
        return;
    Text index = { .is_message = true };
    put_index(&index, type, at);
    frame_fail(f, made_nan(p, (NansOf)of, number, type, text_cstr(&index)));
    text_free(&index);
}
