/* call.c - one call of a handler: its frame, its stages, arrays in the layouts that it wants. */
#include "engine/custom_call.h"
#include "engine/ffi/ffi.h"
#include "engine/order.h"

#include <stdlib.h>
#include <string.h>

static Str target_of(const Node *n)
{
    return ((const CustomCallAttrs *)n->attrs)->call_target_name;
}

/* ---- handlers ---- */

static const char *const stage_names[FFI_STAGES] = { "instantiate", "prepare", "initialize",
                                                     "execute" };

/* A handler is asked for the version that it was compiled with before anything else. */
static Error *version_check(Str name, FfiHandler *f, const char *stage)
{
    FfiMetadata said = { .struct_size = sizeof said,
                         .version = { .struct_size = sizeof(FfiVersion) } };
    FfiMetadataExtension extension = { { sizeof extension, FFI_EXTENSION_METADATA, NULL }, &said };
    FfiFrame frame = { .struct_size = offsetof(FfiFrame, future),
                       .extension = &extension.base,
                       .table = &ffi_table,
                       .stage = FFI_EXECUTE };
    Error *error = ffi_error(f(&frame));
    if (error)
        return error_in(error, "the function of %.*s for the stage %s", STR_ARG(name), stage);
    if (said.version.major == FFI_MAJOR)
        return NULL;
    return error_new(
        CODE_INVALID,
        "the function of %.*s for the stage %s was compiled for version %d.%d of XLA's "
        "foreign functions; here it is %d.%d",
        STR_ARG(name), stage, said.version.major, said.version.minor, FFI_MAJOR, FFI_MINOR);
}

Error *handler_add(Str name, FfiHandler *const *stages)
{
    if (!stages[FFI_EXECUTE])
        return error_new(CODE_INVALID, "%.*s has no function for the stage execute", STR_ARG(name));
    for (int i = 0; i < FFI_STAGES; i++)
        if (stages[i])
            TRY(version_check(name, stages[i], stage_names[i]));
    Handler *handler = calloc(1, sizeof *handler);
    if (handler)
        memcpy(handler->stages, stages, sizeof handler->stages);
    if (handler && call_registry_add(name, NULL, handler))
        return NULL;
    free(handler);
    return error_new(CODE_EXHAUSTED, "no memory for the foreign function %.*s", STR_ARG(name));
}

/* ---- layouts ---- */

/* The order of dimensions that the call wants of its i-th operand or result; 0: row-major. */
static Error *order_wanted(const Attr *all, int i, Type t, Order *out)
{
    *out = 0;
    if (!all || all->kind != ATTR_ARRAY || i >= all->n || all->items[i]->kind != ATTR_DENSE)
        return NULL;
    Dense d = all->items[i]->dense;
    int64_t minor_to_major[MAX_RANK];
    bool fits = type_count(d.type) == t.rank;
    for (int k = 0; fits && k < t.rank; k++)
        minor_to_major[k] = number_int(
            d.type.element,
            (const char *)d.data + (d.is_splat ? 0 : k) * element_info[d.type.element].bytes);
    if (fits && order_of(t.rank, minor_to_major, out))
        return NULL;
    return error_new(CODE_INVALID, "layout %d is no order of %d dimensions", i, t.rank);
}

/* Copies between row-major memory and memory in that order. */
static void reorder(Order order, Type t, char *to, const char *from, bool is_inward)
{
    int64_t dims[MAX_RANK], which[MAX_RANK], strides[MAX_RANK], index[MAX_RANK] = { 0 };
    int64_t bytes = element_info[t.element].bytes, at = 0;
    order_physical(order, t, dims, which);
    order_byte_strides(0, t, strides);
    if (!type_count(t))
        return;
    do {
        int64_t flat = 0;
        for (int i = 0; i < t.rank; i++)
            flat += index[i] * strides[which[i]];
        if (is_inward)
            memcpy(to + at, from + flat, (size_t)bytes);
        else
            memcpy(to + flat, from + at, (size_t)bytes);
        at += bytes;
    } while (index_next(t.rank, dims, index));
}

/* ---- the call ---- */

/* An operand or a result on its way. */
typedef struct Passed {
    FfiBuffer buffer;
    void *own; /* its data, in another order than ours; NULL: the tensor's own */
    Order order;
    void *row_major;
    Type type;
} Passed;

typedef struct Call {
    const Node *node;
    FfiFrame frame;
    Passed *passed; /* operands, then results */
    int *kinds;
    void **at;
} Call;

static Error *pass(const Attr *layouts, int i, Tensor t, Passed *p)
{
    *p = (Passed){ .row_major = t.data, .type = t.type };
    int type = ffi_type(t.type.element);
    if (!type)
        return error_new(CODE_UNIMPLEMENTED, "XLA's foreign functions have no number for %s",
                         element_info[t.type.element].name);
    TRY(order_wanted(layouts, i, t.type, &p->order));
    if (p->order) {
        p->own = malloc(type_bytes(t.type) + 1);
        if (!p->own)
            return error_new(CODE_EXHAUSTED, "no memory for %zu bytes in another layout",
                             type_bytes(t.type));
    }
    p->buffer = (FfiBuffer){ .struct_size = sizeof p->buffer,
                             .type = type,
                             .data = p->own ? p->own : t.data,
                             .rank = t.type.rank,
                             .dims = (int64_t *)t.type.dims };
    return NULL;
}

static Error *pass_all(Call *c, const Tensor *in, const Tensor *out)
{
    const Node *n = c->node;
    const CustomCallAttrs *a = n->attrs;
    for (int i = 0; i < n->nin + n->nout; i++) {
        bool is_in = i < n->nin;
        int own = is_in ? i : i - n->nin;
        Passed *p = &c->passed[i];
        TRY(pass(is_in ? a->operand_layouts : a->result_layouts, own, is_in ? in[own] : out[own],
                 p));
        if (is_in && p->own)
            reorder(p->order, p->type, p->own, p->row_major, true);
        c->kinds[i] = FFI_BUFFER;
        c->at[i] = &p->buffer;
    }
    c->frame.args = (FfiList){ sizeof(FfiList), NULL, n->nin, c->kinds, c->at };
    c->frame.results =
        (FfiList){ sizeof(FfiList), NULL, n->nout, c->kinds + n->nin, c->at + n->nin };
    return NULL;
}

static Error *play(Call *c, const Handler *h, FfiStage stage)
{
    if (!h->stages[stage])
        return NULL;
    c->frame.stage = stage;
    c->frame.future = NULL;
    Floats before = foreign_enter();
    FfiError *failed = h->stages[stage](&c->frame);
    foreign_leave(before);
    Error *later = future_wait(c->frame.future), *error = ffi_error(failed);
    if (error && later)
        error_free(later);
    return error ? error : later;
}

/* Once for each site, before its first run; it sees no operands. */
static Error *instantiate(Call *c, const Handler *h, Site *site)
{
    Error *error = NULL;
    pthread_mutex_lock(&site->making);
    if (!site->is_instantiated) {
        error = play(c, h, FFI_INSTANTIATE);
        site->is_instantiated = !error;
        if (error)
            state_free(&site->state); /* the next call tries again */
    }
    pthread_mutex_unlock(&site->making);
    return error;
}

static Error *call_at(Call *c, const Handler *h, Site *site, const Tensor *in, const Tensor *out)
{
    c->frame.attributes = site->attributes;
    c->frame.args.struct_size = c->frame.results.struct_size = sizeof(FfiList);
    TRY(instantiate(c, h, site));
    TRY(pass_all(c, in, out));
    for (FfiStage stage = FFI_PREPARE; stage < FFI_STAGES; stage++)
        TRY(play(c, h, stage));
    for (int i = 0; i < c->node->nout; i++) {
        const Passed *p = &c->passed[c->node->nin + i];
        if (p->own)
            reorder(p->order, p->type, p->row_major, p->own, false);
    }
    return NULL;
}

Error *ffi_call(const Frame *f, const Node *n, const Tensor *in, Tensor *out)
{
    TuttiFunction *none;
    void *handler;
    if (!call_registry_find(target_of(n), &none, &handler) || none)
        return error_new(CODE_NOT_FOUND,
                         "custom_call @%.*s, at %s: no foreign function has that name",
                         STR_ARG(target_of(n)), loc_name(n->loc));
    Site *site;
    TRY(site_get(f ? f->program : NULL, n, &site));
    size_t count = (size_t)(n->nin + n->nout);
    FfiContext context = { .frame = f, .site = site };
    Call c = { .node = n,
               .frame = { .struct_size = offsetof(FfiFrame, future),
                          .table = &ffi_table,
                          .context = &context },
               .passed = calloc(count + 1, sizeof(Passed) + sizeof(void *) + sizeof(int)) };
    Error *error = NULL;
    if (c.passed) {
        c.at = (void **)(c.passed + count + 1);
        c.kinds = (int *)(c.at + count + 1);
        error = call_at(&c, handler, site, in, out);
        for (size_t i = 0; i < count; i++)
            free(c.passed[i].own);
        for (int i = 0; i < FFI_STAGES; i++)
            state_free(&context.states[i]);
    } else
        error = error_new(CODE_EXHAUSTED, "no memory for the operands of a custom call");
    free(c.passed);
    if (!f)
        site_end(site);
    if (!error)
        return NULL;
    return error_in(error, "custom_call @%.*s, at %s", STR_ARG(target_of(n)), loc_name(n->loc));
}
