/* thread_memory.h - scratch blocks that a thread keeps from call to call. */
#ifndef TUTTI_ENGINE_MEMORY_THREAD_MEMORY_H
#define TUTTI_ENGINE_MEMORY_THREAD_MEMORY_H
#include <stddef.h>

typedef enum ThreadMemoryUse {
    THREAD_MEMORY_LEFT,
    THREAD_MEMORY_RIGHT,
    THREAD_MEMORY_SUMS,
    THREAD_MEMORY_ORDER,
    THREAD_MEMORY_USES
} ThreadMemoryUse;

/* At least so many bytes, aligned to 64, contents undefined: the calling thread's until it asks for
 * the same use again.  A block stays as large as the largest that the thread asked for: for
 * products 13 MB, sixteen results of a deep one, or the longest vector, for systems and transforms 16 MB each, for factors two
 * vector registers for each row, and 16 bytes for each element of the longest line that was sorted by a
 * comparison of its own.  NULL: no memory. */
void *thread_memory_get(ThreadMemoryUse use, size_t bytes);
/* Frees the blocks of all threads.  The caller makes sure that none is in use or asked for
 * again. */
void thread_memory_end(void);
#endif
