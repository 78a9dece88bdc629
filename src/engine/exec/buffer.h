/* buffer.h - an array on a device: the PJRT_Buffer of the seam. */
#ifndef TUTTI_ENGINE_EXEC_BUFFER_H
#define TUTTI_ENGINE_EXEC_BUFFER_H
#include "base/sync.h"
#include "engine/memory/event.h"
#include "engine/memory/handle.h"
#include "engine/memory/memory.h"
#include "engine/order.h"
#include "ops/type.h"

struct Device;

/* Dense.  Fields up to the line are constant once it is published; those below are
 * under its lock. */
typedef struct PJRT_Buffer {
    Handle head;
    struct Device *device;
    Type type; /* dims point into dims_ */
    int64_t dims_[MAX_RANK];
    Order order; /* row-major unless its maker says otherwise */
    MemoryKind kind;
    /* ---- */
    Storage *storage; /* NULL: deleted or donated */
    Event *ready;     /* after which its contents are there; NULL: they are */
    int nviews;       /* references of callers to its memory (NumPy views, DLPack) */
    Storage *viewed;  /* held for those once `storage` is gone; else NULL */
    bool is_freed;    /* buffer_free was called: the last view to end frees the object */
    bool is_consumed; /* by a launch, and not deleted since */
    Lock lock;
} Buffer;

/* Takes storage, also on error; holds ready. */
MUST_USE Error *buffer_new(struct Device *device, Type type, Storage *storage, Event *ready,
                           Buffer **out);
/* Gives storage and event to a buffer that was made without and is not published yet. */
void buffer_fill(Buffer *b, Storage *storage, Event *ready);
void buffer_free(Buffer *b);
void buffer_delete(Buffer *b); /* releases the memory; the object stays */
bool buffer_is_deleted(Buffer *b);
MUST_USE Error *buffer_gone(const Buffer *b); /* the error of a buffer deleted or donated */
Event *buffer_ready(Buffer *b);               /* a new hold; an error event when deleted */

/* From host memory with byte strides (NULL: dense); copies before it returns. */
MUST_USE Error *buffer_from_host(struct Device *device, Type type, const void *data,
                                 const int64_t *byte_strides, Buffer **out);
/* Copies into dst once the contents are there, as they lie, or dimensions in another order.  Never
 * waits; `done` is a new hold on the event of the copy. */
MUST_USE Error *buffer_to_host(Buffer *b, void *dst, size_t bytes, Event **done);
MUST_USE Error *buffer_to_host_in_order(Buffer *b, Order order, void *dst, size_t bytes,
                                        Event **done);
MUST_USE Error *buffer_copy(Buffer *b, struct Device *to, Buffer **out);

/* While a buffer has views, deleting it leaves the memory to them, and launches do not consume
 * it. */
MUST_USE Error *buffer_view(Buffer *b, void **data); /* one view more */
void buffer_unview(Buffer *b);

/* For launches.  A new hold on its memory; *pending is NULL, or a new hold on the event after
 * which the contents are there (or have failed). */
MUST_USE Error *buffer_hold(Buffer *b, Storage **storage, Event **pending);
/* Releases the memory like buffer_delete, if it still is `storage`; a buffer that has views stays
 * as it is.  False: the memory is gone already. */
bool buffer_consume(Buffer *b, const Storage *storage);
/* Undoes buffer_consume, unless the buffer has been deleted since; holds storage. */
void buffer_restore(Buffer *b, Storage *storage);
#endif
