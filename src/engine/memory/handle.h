/* handle.h - objects that cross the seam by their address, and how to tell whether one is still
 * alive.
 *
 * Each begins with a tag that says its kind.  A destroyed object is kept for a while, to be the
 * next of its kind, so a handle that is used too late or is of another kind can be told, as long as
 * its memory is ours. */
#ifndef TUTTI_ENGINE_MEMORY_HANDLE_H
#define TUTTI_ENGINE_MEMORY_HANDLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum HandleKind {
    HANDLE_EVENT,
    HANDLE_BUFFER,
    HANDLE_EXECUTABLE,
    HANDLE_LOADED,
    HANDLE_CONTEXT,
    HANDLE_KINDS
} HandleKind;

/* The first field of every such object. */
typedef struct Handle {
    uint64_t tag;
} Handle;

/* The tag of a live object: no address, and no number that a caller would have. */
#define HANDLE_TAG(kind) (UINT64_C(0x7475747469200000) + (kind) + 1)

/* An object of so many bytes, always the same number for a kind; undefined but for the tag.  NULL:
 * no memory. */
void *handle_new(HandleKind kind, size_t bytes);
void handle_free(HandleKind kind, void *object, size_t bytes);
void handle_pools_end(void); /* frees the objects that are kept; no handle may be used after it */

static inline bool handle_is(const void *object, HandleKind kind)
{
    return object && ((const Handle *)object)->tag == HANDLE_TAG(kind);
}
#endif
