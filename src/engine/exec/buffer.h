/* buffer.h - an array on a device, as the seam hands it about (PJRT_Buffer). */
#ifndef TUTTI_ENGINE_EXEC_BUFFER_H
#define TUTTI_ENGINE_EXEC_BUFFER_H
#include "base/sync.h"
#include "engine/memory/event.h"
#include "engine/memory/handle.h"
#include "engine/memory/memory.h"
#include "ops/type.h"

struct Device;

/* Row-major and dense.  Fields up to the line are set once before publication; those below
 * change under the lock of the buffer (buffer.c). */
typedef struct PJRT_Buffer {
    Handle head;
    struct Device *device;
    Type type;               /* dims point into dims_ */
    int64_t dims_[MAX_RANK];
    /* ---- */
    Storage *storage;  /* NULL: deleted or donated */
    Event *ready;      /* when its contents are there; NULL: they are */
    int nviews;        /* outside references to its memory (NumPy views, DLPack) */
    Storage *viewed;   /* the memory that those refer to, when storage is gone; else NULL */
    bool is_freed;     /* the last view to end frees the object */
    bool is_consumed;  /* by a launch, and not deleted since */
    Lock lock;
} Buffer;

/* Takes storage, also on error; holds ready. */
MUST_USE Error *buffer_new(struct Device *device, Type type, Storage *storage, Event *ready,
                           Buffer **out);
/* The same for one that was made without either and that nobody else knows of yet. */
void buffer_fill(Buffer *b, Storage *storage, Event *ready);
void buffer_free(Buffer *b);
void buffer_delete(Buffer *b); /* lets go of the memory; the object stays */
bool buffer_is_deleted(Buffer *b);
MUST_USE Error *buffer_gone(const Buffer *b); /* that says so */
Event *buffer_ready(Buffer *b); /* a new hold; an error event when deleted */

/* From host memory with byte strides (NULL: dense); copies before it returns. */
MUST_USE Error *buffer_from_host(struct Device *device, Type type, const void *data,
                                 const int64_t *byte_strides, Buffer **out);
/* Into dst, row-major; when the contents are there.  Never blocks; `done` is a new event. */
MUST_USE Error *buffer_to_host(Buffer *b, void *dst, size_t bytes, Event **done);
MUST_USE Error *buffer_copy(Buffer *b, struct Device *to, Buffer **out);

/* While held, deletion and donation leave the memory to the viewer. */
MUST_USE Error *buffer_view(Buffer *b, void **data); /* counts one view */
void buffer_unview(Buffer *b);

/* For launches.  A new hold on its memory; *pending is NULL, or a new hold on the event after
 * which the contents are there (or have failed). */
MUST_USE Error *buffer_hold(Buffer *b, Storage **storage, Event **pending);
/* Lets go of the memory like buffer_delete, if it still is `storage`; a buffer that somebody views
 * stays as it is.  False: the memory is gone already. */
bool buffer_consume(Buffer *b, const Storage *storage);
/* Undoes it, unless somebody has deleted the buffer since; holds storage. */
void buffer_restore(Buffer *b, Storage *storage);
#endif
