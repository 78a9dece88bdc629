/* llvm_memory.c - LLVM without memory: it must not end the process that we are a guest of.
 *
 * LLVM knows no way back from "no memory" or from an error that it calls fatal: it ends the process
 * unless a handler leaves.  Ours leave the guard (base/guard.h).  What LLVM was in the middle of is
 * then lost: its objects cannot be taken apart and are never freed, and locks of its own may stay
 * taken.  So it is the last way out.  Before it there is a reserve of address space: the thread that
 * finds no memory first gives it back to the system, LLVM tries again and comes to its end in order,
 * and then reserve_check leaves from our own code, where everything can be freed.
 *
 *     reserve_fill --> LLVM at work --no memory--> the reserve is spent --> ... --> reserve_check
 *                                   --again------> the guard is left from within LLVM
 */
#include "engine/link/link.h"

#include "base/guard.h"
#include "base/sync.h"

#include <llvm-c/ErrorHandling.h>

#include <sys/mman.h>

enum { RESERVE_BYTES = 16 << 20 };

static struct {
    Lock lock;
    void *at; /* NULL: spent */
} reserve;

static _Thread_local bool is_at_work; /* LLVM, on this thread: it ends with the compilation */
static _Thread_local bool is_short;   /* the reserve was spent in this compilation */
static _Thread_local bool is_lost;    /* LLVM was left in the middle */
static _Atomic bool was_lost;         /* by any thread, ever */

/* False: there was none. */
static bool reserve_spend(void)
{
    lock_take(&reserve.lock);
    void *at = reserve.at;
    reserve.at = NULL;
    lock_give(&reserve.lock);
    if (at)
        munmap(at, RESERVE_BYTES);
    return at;
}

static void lose(void)
{
    is_lost = true;
    atomic_store(&was_lost, true);
}

/* C++ asks its new-handler, and tries again when that returns. */
static void no_memory_for_new(void)
{
    is_short = true;
    if (reserve_spend())
        return;
    lose();
    guard_leave(CODE_EXHAUSTED, "LLVM has no memory");
}

bool reserve_retry(void)
{
    if (!is_at_work)
        return false;
    is_short = true;
    return reserve_spend();
}

#ifndef TUTTI_HOSTILE /* whose own are in the place of malloc, and ask reserve_retry */

/* LLVM asks malloc too, and gives up at once: so the plugin is linked with --wrap for these.  NULL
 * where the engine is linked without it, into tests. */
__attribute__((weak)) void *__real_malloc(size_t bytes);
__attribute__((weak)) void *__real_calloc(size_t n, size_t size);
__attribute__((weak)) void *__real_realloc(void *at, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    void *at = __real_malloc(bytes);
    return at || !reserve_retry() ? at : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *at = __real_calloc(n, size);
    return at || !reserve_retry() ? at : __real_calloc(n, size);
}

void *__wrap_realloc(void *at, size_t bytes)
{
    void *moved = __real_realloc(at, bytes);
    return moved || !bytes || !reserve_retry() ? moved : __real_realloc(at, bytes);
}
#endif

/* For memory that LLVM takes from malloc, when the reserve is spent; it must not return. */
static void no_memory_for_llvm(void *user, const char *why, bool wants_dump)
{
    (void)user, (void)wants_dump;
    lose();
    guard_leave(CODE_EXHAUSTED, "LLVM has no memory: %s", why);
}

static void fatal_to_llvm(const char *why)
{
    lose();
    guard_leave(CODE_INTERNAL, "LLVM gave up: %s", why);
}

/* std::set_new_handler and llvm::install_bad_alloc_error_handler, by their names for the linker: C
 * has no others.  The plugin has a libstdc++ of its own, so the host's handler stays. */
extern void (*set_new_handler(void (*handler)(void)))(void) __asm__("_ZSt15set_new_handlerPFvvE");
extern void install_bad_alloc_handler(
    void (*handler)(void *, const char *, bool),
    void *user) __asm__("_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");

static void install(void)
{
    set_new_handler(no_memory_for_new);
    install_bad_alloc_handler(no_memory_for_llvm, NULL);
    LLVMInstallFatalErrorHandler(fatal_to_llvm);
}

Error *reserve_fill(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    is_at_work = true;
    is_short = is_lost = false;
    lock_take(&reserve.lock);
    if (!reserve.at) {
        void *at = mmap(NULL, RESERVE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        reserve.at = at == MAP_FAILED ? NULL : at;
    }
    bool is_full = reserve.at;
    lock_give(&reserve.lock);
    return is_full
               ? NULL
               : error_new(CODE_EXHAUSTED, "no memory to begin a compilation: %d MiB are needed",
                           RESERVE_BYTES >> 20);
}

void reserve_check(void)
{
    if (is_short)
        guard_leave(CODE_EXHAUSTED, "LLVM has no memory");
}

bool reserve_lost(void)
{
    return is_lost;
}

bool reserve_end(void)
{
    reserve_spend();
    return !atomic_load(&was_lost);
}
