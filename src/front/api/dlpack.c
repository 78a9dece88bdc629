/* dlpack.c - arrays handed from library to library in a process, by DLPack's struct: version 1, on the
 * host. */
#include "front/api/arrays.h"
#include "front/api/numpy.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <stdlib.h>
#include <string.h>

/* ---- the ABI ---- */

typedef struct DLTensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t rank;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } element;
    int64_t *shape, *strides; /* strides in elements; NULL: row-major */
    uint64_t byte_offset;
} DLTensor;

struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *context;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor tensor;
};

_Static_assert(sizeof(DLTensor) == 48 && sizeof(struct DLManagedTensorVersioned) == 80,
               "DLPack's layout");

enum { DL_CPU = 1, DL_MAJOR = 1, DL_IS_COPIED = 2 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };

static int code_of(Element e)
{
    switch (element_info[e].kind) {
    case BOOLEAN: return DL_BOOL;
    case SIGNED: return DL_INT;
    case UNSIGNED: return DL_UINT;
    case COMPLEX: return DL_COMPLEX;
    default: return e == BF16 ? DL_BFLOAT : DL_FLOAT;
    }
}

/* ---- out ---- */

typedef struct Exported {
    struct DLManagedTensorVersioned managed;
    int64_t shape[TT_MAX_RANK], strides[TT_MAX_RANK];
    _Alignas(64) char data[];
} Exported;

static void free_exported(struct DLManagedTensorVersioned *self)
{
    free(self->context);
}

static struct DLManagedTensorVersioned *export_array(Array *a)
{
    size_t bytes = (sizeof(Exported) + type_bytes(a->type) + 63) / 64 * 64;
    Exported *x = aligned_alloc(64, bytes);
    if (x)
        memset(x, 0, sizeof *x);
    else
        report_broken("tt_to_dlpack: no memory on the host for %s", type_text(a->type));
    if (!array_read(a, x ? x->data : NULL)) {
        free(x);
        return NULL;
    }
    const ElementInfo *info = &element_info[a->type.element];
    if (a->type.rank)
        memcpy(x->shape, a->type.dims, sizeof *x->shape * (size_t)a->type.rank);
    type_strides(a->type, x->strides);
    x->managed = (struct DLManagedTensorVersioned){
        .version = { DL_MAJOR, 0 },
        .context = x,
        .deleter = free_exported,
        .flags = DL_IS_COPIED,
        .tensor = { .data = x->data,
                    .device = { DL_CPU, 0 },
                    .rank = a->type.rank,
                    .element = { (uint8_t)code_of(a->type.element), (uint8_t)(info->bytes * 8), 1 },
                    .shape = x->shape,
                    .strides = x->strides },
    };
    return &x->managed;
}

struct DLManagedTensorVersioned *tt_to_dlpack(tt x)
{
    PUBLIC;
    Array *a = settled_array(x, "tt_to_dlpack");
    struct DLManagedTensorVersioned *out = a ? export_array(a) : NULL;
    if (a)
        array_release(a);
    return out;
}

/* ---- in ---- */

static tt value_of_array_on_host(Type type, const void *data)
{
    Array *a = array_from_host(type, data, layout_home());
    return a ? value_of_array(a, false) : NO_VALUE;
}

static bool element_in(const DLTensor *t, Element *out)
{
    for (tt_dtype type = TT_BOOL; type <= TT_C128; type++) {
        *out = element_of(type);
        if (code_of(*out) == t->element.code && element_info[*out].bytes * 8 == t->element.bits)
            return true;
    }
    return false;
}

static void copy_rows(const DLTensor *t, size_t bytes, int axis, const char *from, char **to)
{
    if (axis == t->rank) {
        memcpy(*to, from, bytes);
        *to += bytes;
        return;
    }
    for (int64_t i = 0; i < t->shape[axis]; i++)
        copy_rows(t, bytes, axis + 1, from + i * t->strides[axis] * (int64_t)bytes, to);
}

static bool is_row_major(const DLTensor *t, Type type)
{
    int64_t strides[TT_MAX_RANK];
    type_strides(type, strides);
    for (int i = 0; t->strides && i < t->rank; i++)
        if (t->shape[i] > 1 && t->strides[i] != strides[i])
            return false;
    return true;
}

static tt import_tensor(const struct DLManagedTensorVersioned *m)
{
    const DLTensor *t = &m->tensor;
    Element e = F32;
    if (m->version.major != DL_MAJOR)
        return report_broken("tt_from_dlpack: version %u of DLPack; %d is known here",
                             m->version.major, DL_MAJOR);
    if (t->device.type != DL_CPU)
        return report_broken(
            "tt_from_dlpack: the array is on a device of kind %d; it must be in the "
            "host's memory",
            t->device.type);
    if (t->element.lanes != 1)
        return report_broken("tt_from_dlpack: an element has %d lanes; it must have one",
                             t->element.lanes);
    if (!element_in(t, &e))
        return report_broken("tt_from_dlpack: elements of kind %d with %d bits have no tt_dtype",
                             t->element.code, t->element.bits);
    tt_dims dims = { t->rank, { 0 } };
    if (t->rank > 0 && !t->shape)
        return report_broken("tt_from_dlpack: %d dimensions, and no shape", t->rank);
    if (t->rank > 0 && t->rank <= TT_MAX_RANK)
        memcpy(dims.v, t->shape, sizeof *dims.v * (size_t)t->rank);
    if (!dims_ok("tt_from_dlpack", &dims))
        return NO_VALUE;
    Type type = { e, dims.n, dims.v };
    if (!t->data && type_count(type))
        return report_broken("tt_from_dlpack: %s, and no data", type_text(type));
    const char *data = (const char *)t->data + t->byte_offset;
    if (!type_count(type) || is_row_major(t, type))
        return value_of_array_on_host(type, data);
    char *rows = malloc(type_bytes(type) + 1), *to = rows;
    if (!rows)
        return report_broken("tt_from_dlpack: no memory on the host for %s", type_text(type));
    copy_rows(t, (size_t)element_info[e].bytes, 0, data, &to);
    tt x = value_of_array_on_host(type, rows);
    free(rows);
    return x;
}

tt tt_from_dlpack(struct DLManagedTensorVersioned *tensor)
{
    PUBLIC;
    if (!tensor)
        return report_broken("tt_from_dlpack: there is no tensor");
    tt x = import_tensor(tensor);
    if (tensor->deleter)
        tensor->deleter(tensor);
    return x;
}
