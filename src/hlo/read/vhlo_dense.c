/* vhlo_dense.c - constants: raw little-endian elements to a Dense.
 *
 * One element where the type has several, or none, stands for all of them.  Booleans come
 * packed, eight to a byte, or a byte each in old files; integers narrower than a byte come one
 * to a byte, with nothing above their bits.  Here a boolean is a byte that is 0 or 1, and
 * narrow integers are extended to their byte. */
#include "hlo/read/vhlo.h"

#include <string.h>

static Error *no_memory(const Vhlo *v, Type type)
{
    return error_new(CODE_EXHAUSTED, "%s: no memory for a constant %s", v->b->name,
                     type_name(type));
}

static Error *wrong_size(const Cursor *blob, Type type)
{
    return cursor_error(blob, "the elements of %s or one of them, got %zu bytes", type_name(type),
                        cursor_left(blob));
}

static Error *booleans(Vhlo *v, const Cursor *blob, Dense *out)
{
    int64_t n = type_count(out->type);
    size_t size = cursor_left(blob);
    bool is_one = size == 1 && (n <= 1 || blob->at[0] == 0xff || (blob->at[0] == 0 && n > 8));
    bool is_packed = !is_one && size == (size_t)(n / 8 + (n % 8 != 0)) && size != (size_t)n;
    if (!is_one && !is_packed && size != (size_t)n)
        return wrong_size(blob, out->type);
    size_t kept = is_one ? 1 : (size_t)n;
    uint8_t *data = arena_try(v->arena, kept);
    if (!data)
        return no_memory(v, out->type);
    size_t ntrue = 0;
    for (size_t i = 0; i < kept; i++) {
        data[i] = (uint8_t)(is_packed ? blob->at[i / 8] >> (i % 8) & 1 : blob->at[i] != 0);
        ntrue += data[i];
    }
    /* Few equal booleans come packed all the same. */
    out->is_splat = kept > 0 && (ntrue == 0 || ntrue == kept);
    out->data = data;
    return NULL;
}

/* To the byte's full width, by sign or by zeros. */
static uint8_t extend(Element e, uint8_t byte)
{
    int unused = 8 - element_info[e].bits;
    int top = (byte << unused) & 0xff;
    if (element_info[e].kind == SIGNED && top & 0x80)
        top -= 0x100;
    return (uint8_t)(top >> unused);
}

static Error *numbers(Vhlo *v, const Cursor *blob, Dense *out)
{
    const ElementInfo *info = &element_info[out->type.element];
    size_t size = cursor_left(blob), n = (size_t)type_count(out->type);
    bool is_one = size == (size_t)info->bytes;
    if (!is_one && size != n * (size_t)info->bytes)
        return wrong_size(blob, out->type);
    uint8_t *data = arena_try(v->arena, size);
    if (!data)
        return no_memory(v, out->type);
    if (size)
        memcpy(data, blob->at, size);
    if (info->bits < 8)
        for (size_t i = 0; i < size; i++)
            data[i] = extend(out->type.element, data[i]);
    out->is_splat = is_one;
    out->data = data;
    return NULL;
}

Error *vhlo_dense(Vhlo *v, Cursor *c, Attr *out)
{
    uint32_t index;
    Cursor blob, before = *c;
    Dense dense = { 0 };
    TRY(take_index(c, "a type", v->b->ntypes, &index));
    TRY(vhlo_array_type(v, index, &dense.type));
    TRY(take_blob(c, "a constant", &blob));
    if (!type_is_static(dense.type) || dense.type.element == TOKEN)
        return cursor_error(&before, "a type of known extents for a constant, got %s",
                            type_name(dense.type));
    if (dense.type.element == I1)
        TRY(booleans(v, &blob, &dense));
    else
        TRY(numbers(v, &blob, &dense));
    out->kind = ATTR_DENSE;
    out->dense = dense;
    return NULL;
}
