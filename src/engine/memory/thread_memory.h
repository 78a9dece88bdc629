/* thread_memory.h - blocks of memory that a thread keeps from call to call. */
#ifndef TUTTI_ENGINE_MEMORY_THREAD_MEMORY_H
#define TUTTI_ENGINE_MEMORY_THREAD_MEMORY_H
#include <stddef.h>

typedef enum ThreadMemoryUse { THREAD_MEMORY_LEFT, THREAD_MEMORY_RIGHT, THREAD_MEMORY_ORDER, THREAD_MEMORY_USES } ThreadMemoryUse;

/* At least so many bytes, aligned to 64; holds anything.  The calling thread's until it asks for
 * the same use again.  It stays as large as the largest that was asked for: to multiply 9 MB or the
 * longest vector, and 16 bytes for each element of the longest line that was sorted by a comparison
 * of its own.  NULL: no memory. */
void *thread_memory_get(ThreadMemoryUse use, size_t bytes);
/* The blocks of all threads.  None is in use, and none will be asked for any more. */
void thread_memory_end(void);
#endif
