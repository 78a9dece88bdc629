/* buffer.c - an array on a device.
 *
 * A buffer is a type, a hold on memory, and an event that says when the contents are there.
 * Deleting it (or donating it to a launch) releases the memory; runs, transfers and views have
 * holds of their own:
 *
 *     buffer --storage--> Storage <--hold-- a run that reads it
 *                            ^------------- a transfer under way
 *            --viewed------> (while a NumPy view is left of a deleted buffer)
 * */
#include "engine/exec/buffer.h"

#include "base/fail.h"
#include "engine/exec/launch.h"
#include "engine/numerics/numerics.h"
#include "engine/stats.h"

#include <stdlib.h>
#include <string.h>

Error *buffer_new(Device *device, Type type, Storage *storage, Event *ready, Buffer **out)
{
    Buffer *b = handle_new(HANDLE_BUFFER, sizeof *b);
    if (!b) {
        storage_release(storage);
        return error_new(CODE_EXHAUSTED, "no memory for the books of an array %s on device %d",
                         type_name(type), device->id);
    }
    b->device = device;
    if (type.rank)
        memcpy(b->dims_, type.dims, sizeof *type.dims * (size_t)type.rank);
    b->type = (Type){ type.element, type.rank, b->dims_ };
    b->order = 0;
    b->kind = MEMORY_DEVICE;
    b->nviews = 0;
    b->viewed = NULL;
    b->is_freed = b->is_consumed = false;
    atomic_init(&b->lock, 0);
    buffer_fill(b, storage, ready);
    *out = b;
    return NULL;
}

void buffer_fill(Buffer *b, Storage *storage, Event *ready)
{
    b->storage = storage;
    b->ready = ready ? event_hold(ready) : NULL;
}

/* The caller holds b's lock or the only reference.  True while a run or a transfer may still write
 * b's storage. */
static bool is_pending(const Buffer *b)
{
    return b->ready && !event_is_ready(b->ready);
}

void buffer_delete(Buffer *b)
{
    lock_take(&b->lock);
    Storage *storage = b->storage;
    b->storage = NULL;
    b->is_consumed = false;
    if (b->nviews && storage) {
        b->viewed = storage;
        storage = NULL;
    }
    bool was_pending = is_pending(b);
    lock_give(&b->lock);
    storage_release(storage);
    if (was_pending)
        abandoned_runs_check(b->device->executor);
}

static void buffer_end(Buffer *b)
{
    /* a buffer that is not pending may be freed after its device */
    Executor *executor = is_pending(b) ? b->device->executor : NULL;
    storage_release(b->storage);
    storage_release(b->viewed);
    event_release(b->ready);
    handle_free(HANDLE_BUFFER, b, sizeof *b);
    if (executor)
        abandoned_runs_check(executor);
}

void buffer_free(Buffer *b)
{
    if (!b)
        return;
    lock_take(&b->lock);
    b->is_freed = true;
    bool is_viewed = b->nviews != 0;
    lock_give(&b->lock);
    if (!is_viewed)
        buffer_end(b);
}

bool buffer_is_deleted(Buffer *b)
{
    lock_take(&b->lock);
    bool is_deleted = !b->storage;
    lock_give(&b->lock);
    return is_deleted;
}

Error *buffer_gone(const Buffer *b)
{
    return error_new(CODE_INVALID, "buffer %s on device %d has been deleted or donated",
                     type_name(b->type), b->device->id);
}

/* The event after which the contents are there or have failed; NULL: they are there.  An event that
 * has succeeded is forgotten: the caller is to release *forgotten, without the lock, which is held
 * here. */
static Event *pending_event(Buffer *b, Event **forgotten)
{
    *forgotten = NULL;
    if (!b->ready || !event_is_ready(b->ready))
        return b->ready;
    Error *error = event_error(b->ready);
    if (error) {
        error_free(error);
        return b->ready;
    }
    *forgotten = b->ready;
    b->ready = NULL;
    return NULL;
}

Error *buffer_hold(Buffer *b, Storage **storage, Event **pending)
{
    Event *forgotten = NULL;
    *pending = NULL;
    lock_take(&b->lock);
    *storage = b->storage;
    if (b->storage) {
        storage_hold(b->storage);
        *pending = pending_event(b, &forgotten);
        if (*pending)
            event_hold(*pending);
    }
    lock_give(&b->lock);
    event_release(forgotten);
    return *storage ? NULL : buffer_gone(b);
}

bool buffer_consume(Buffer *b, const Storage *storage)
{
    lock_take(&b->lock);
    bool is_there = b->storage && b->storage == storage;
    Storage *mine = is_there && !b->nviews ? b->storage : NULL;
    if (mine) {
        b->storage = NULL;
        b->is_consumed = true;
    }
    lock_give(&b->lock);
    storage_release(mine);
    return is_there;
}

void buffer_restore(Buffer *b, Storage *storage)
{
    lock_take(&b->lock);
    if (b->is_consumed) {
        b->storage = storage_hold(storage);
        b->is_consumed = false;
    }
    lock_give(&b->lock);
}

Event *buffer_ready(Buffer *b)
{
    Storage *storage;
    Event *pending;
    Error *error = buffer_hold(b, &storage, &pending);
    if (error)
        return event_ready(error);
    storage_release(storage);
    return pending ? pending : event_ready(NULL);
}

/* Hosts fill a byte with a narrower number as they like: ml_dtypes keeps -2 as an int4 in 0x0e.
 * Devices have it sign-extended, and a bool as 0 or 1. */
static void normalize_narrow(Type type, void *data)
{
    int8_t *at = data;
    const ElementInfo *info = &element_info[type.element];
    if (info->bits >= 8 || info->kind == TOKENS)
        return;
    int64_t n = type_count(type);
    int above = 8 - info->bits;
    if (info->kind == BOOLEAN)
        for (int64_t i = 0; i < n; i++)
            at[i] = at[i] != 0;
    else if (info->kind == SIGNED)
        for (int64_t i = 0; i < n; i++)
            at[i] = (int8_t)((int8_t)((unsigned)at[i] << above) >> above);
    else
        for (int64_t i = 0; i < n; i++)
            at[i] = (int8_t)((uint8_t)((unsigned)at[i] << above) >> above);
}

Error *buffer_from_host(Device *device, Type type, const void *data, const int64_t *strides,
                        Buffer **out)
{
    TRY(executor_check(device->executor));
    size_t bytes = type_bytes(type);
    Storage *storage;
    TRY(storage_new(device->memory, type, &storage));
    if (!strides && bytes) {
        memcpy(storage->data, data, bytes);
    } else if (bytes) {
        int64_t dense[MAX_RANK];
        byte_strides(type, dense);
        strided_copy(storage->data, dense, data, strides, type.rank, type.dims,
                     (size_t)element_info[type.element].bytes);
    }
    normalize_narrow(type, storage->data);
    return buffer_new(device, type, storage, NULL, out);
}

/* A copy between arrays of different orders; without, bytes are copied. */
typedef struct Reorder {
    int rank;
    size_t element;
    int64_t dims[MAX_RANK], from[MAX_RANK], to[MAX_RANK]; /* extents, strides in bytes */
} Reorder;

static void reorder_init(Reorder *r, const Buffer *b, Order order)
{
    r->rank = b->type.rank;
    r->element = (size_t)element_info[b->type.element].bytes;
    memcpy(r->dims, b->dims_, sizeof *r->dims * (size_t)r->rank);
    order_byte_strides(b->order, b->type, r->from);
    order_byte_strides(order, b->type, r->to);
}

static void copy_contents(void *dst, const void *src, size_t bytes, const Reorder *r)
{
    if (bytes && r)
        strided_copy(dst, r->to, src, r->from, r->rank, r->dims, r->element);
    else if (bytes)
        memcpy(dst, src, bytes);
}

/* A copy that waits for its source. */
typedef struct Copy {
    Callback callback;
    bool reorders;
    Reorder reorder;
    Storage *from, *to; /* to: NULL for host memory */
    void *dst;
    size_t bytes;
    Event *done;
} Copy;

static void copy_when_ready(Error *error, void *user)
{
    Copy *copy = user;
    if (!error)
        copy_contents(copy->dst, copy->from->data, copy->bytes,
                      copy->reorders ? &copy->reorder : NULL);
    storage_release(copy->from);
    storage_release(copy->to);
    event_set(copy->done, error);
    event_release(copy->done);
    free(copy);
}

/* Copies once `pending` has happened.  Takes the hold on pending, and those on from and to unless
 * it returns an error.  *out: a new hold on the event of the copy. */
static Error *copy_after(Event *pending, Storage *from, Storage *to, void *dst, size_t bytes,
                         const Reorder *reorder, Event **out)
{
    Event *done = event_new();
    Copy *copy = malloc(sizeof *copy);
    if (!done || !copy) {
        event_release(done);
        event_release(pending);
        free(copy);
        return error_new(CODE_EXHAUSTED, "no memory for the books of a transfer of %zu bytes",
                         bytes);
    }
    copy->callback = (Callback){ NULL, copy_when_ready, copy };
    copy->from = from;
    copy->to = to;
    copy->dst = dst;
    copy->bytes = bytes;
    copy->done = event_hold(done);
    copy->reorders = reorder != NULL;
    if (reorder)
        copy->reorder = *reorder;
    event_then(pending, &copy->callback);
    event_release(pending);
    *out = done;
    return NULL;
}

static Error *to_host(Buffer *b, const Reorder *reorder, void *dst, size_t bytes, Event **done)
{
    TRY(executor_check(b->device->executor));
    size_t needed = type_bytes(b->type);
    if (bytes < needed)
        return error_new(CODE_INVALID,
                         "buffer %s on device %d takes %zu bytes; there is room for %zu",
                         type_name(b->type), b->device->id, needed, bytes);
    Storage *storage;
    Event *pending;
    TRY(buffer_hold(b, &storage, &pending));
    if (pending) {
        Error *error = copy_after(pending, storage, NULL, dst, needed, reorder, done);
        if (error)
            storage_release(storage);
        return error;
    }
    copy_contents(dst, storage->data, needed, reorder);
    storage_release(storage);
    *done = event_ready(NULL);
    return NULL;
}

Error *buffer_to_host(Buffer *b, void *dst, size_t bytes, Event **done)
{
    return to_host(b, NULL, dst, bytes, done);
}

Error *buffer_to_host_in_order(Buffer *b, Order order, void *dst, size_t bytes, Event **done)
{
    if (b->order == order)
        return buffer_to_host(b, dst, bytes, done);
    Reorder reorder;
    reorder_init(&reorder, b, order);
    return to_host(b, &reorder, dst, bytes, done);
}

static Error *copy_to_device(Buffer *b, Device *to, Buffer **out)
{
    TRY(executor_check(to->executor));
    size_t bytes = type_bytes(b->type);
    Storage *from, *copy;
    Event *pending;
    TRY(buffer_hold(b, &from, &pending));
    Error *error = storage_new(to->memory, b->type, &copy);
    if (error) {
        storage_release(from);
        event_release(pending);
        return error;
    }
    stat_add(STAT_COPIES, 1);
    stat_add(STAT_COPIED_BYTES, (int64_t)bytes);
    if (!pending) {
        if (bytes)
            memcpy(copy->data, from->data, bytes);
        storage_release(from);
        return buffer_new(to, b->type, copy, NULL, out);
    }
    Event *done = NULL;
    error = copy_after(pending, from, storage_hold(copy), copy->data, bytes, NULL, &done);
    if (error) {
        storage_release(from);
        storage_release(copy);
        storage_release(copy);
        return error;
    }
    error = buffer_new(to, b->type, copy, done, out);
    event_release(done);
    return error;
}

Error *buffer_copy(Buffer *b, Device *to, Buffer **out)
{
    TRY(copy_to_device(b, to, out));
    (*out)->order = b->order;
    (*out)->kind = b->kind;
    return NULL;
}

Error *buffer_view(Buffer *b, void **data)
{
    lock_take(&b->lock);
    Storage *storage = b->storage;
    if (storage) {
        b->nviews++;
        *data = storage->data;
    }
    lock_give(&b->lock);
    return storage ? NULL : buffer_gone(b);
}

void buffer_unview(Buffer *b)
{
    lock_take(&b->lock);
    bool is_last = b->nviews > 0 && --b->nviews == 0; /* one call too many does nothing */
    Storage *viewed = is_last ? b->viewed : NULL;
    if (is_last)
        b->viewed = NULL;
    bool ends = is_last && b->is_freed;
    lock_give(&b->lock);
    storage_release(viewed);
    if (ends)
        buffer_end(b);
}
