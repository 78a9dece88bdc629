/* memory.c - see memory.h.  Every block has a header and is in a list, so that those who hold too
 * many can be named. */
#define _GNU_SOURCE
#include "tests/hostile/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct Block {
    struct Block *older, *newer;
    void *start; /* what the C library gave */
    size_t bytes;
    void *taker;
    uint64_t mark;
} Block;
enum { FRESH = 0xA5, FREED = 0x5A };
static const uint64_t MARK = 0x7475747469626c6b;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block *newest;
static int64_t nlive;
static _Atomic int64_t asked, fails_at;
static _Atomic int mode;

/* The linker's names for what it replaces in the plugin (--wrap); elsewhere there is none. */
extern void *__real_malloc(size_t bytes) __attribute__((weak));
extern void *__real_calloc(size_t n, size_t size) __attribute__((weak));
extern void *__real_realloc(void *at, size_t bytes) __attribute__((weak));
extern void *__real_aligned_alloc(size_t align, size_t bytes) __attribute__((weak));
extern int __real_posix_memalign(void **out, size_t align, size_t bytes) __attribute__((weak));
extern void *__real_mmap(void *, size_t, int, int, int, off_t) __attribute__((weak));

static void *real_malloc(size_t bytes)
{
    return __real_malloc ? __real_malloc(bytes) : malloc(bytes);
}

static bool is_refused(void)
{
    int64_t n = atomic_fetch_add(&asked, 1) + 1, at = atomic_load(&fails_at);
    return at && (n == at || (n > at && atomic_load(&mode) == FAIL_ALL));
}

static void *take(size_t align, size_t bytes, int fill, void *taker)
{
    if (is_refused() || bytes > SIZE_MAX / 2) {
        errno = ENOMEM;
        return NULL;
    }
    char *start = real_malloc(sizeof(Block) + align + bytes);
    if (!start)
        return NULL;
    char *at = start + sizeof(Block);
    at += (align - (uintptr_t)at % align) % align;
    Block *block = (Block *)at - 1;
    *block = (Block){ .start = start, .bytes = bytes, .taker = taker, .mark = MARK };
    memset(at, fill, bytes);
    pthread_mutex_lock(&lock);
    block->older = newest;
    if (newest)
        newest->newer = block;
    newest = block;
    nlive++;
    pthread_mutex_unlock(&lock);
    return at;
}

void *hostile_malloc(size_t bytes)
{
    return take(16, bytes, FRESH, __builtin_return_address(0));
}

void *hostile_calloc(size_t n, size_t size)
{
    if (size && n > SIZE_MAX / 2 / size)
        return NULL;
    return take(16, n * size, 0, __builtin_return_address(0));
}

void *hostile_aligned_alloc(size_t align, size_t bytes)
{
    return take(align < 16 ? 16 : align, bytes, FRESH, __builtin_return_address(0));
}

void hostile_free(void *at)
{
    if (!at)
        return;
    Block *block = (Block *)at - 1;
    if (block->mark != MARK) {
        fprintf(stderr, "hostile: freed, but not taken here: %p\n", at);
        abort();
    }
    pthread_mutex_lock(&lock);
    if (block->older)
        block->older->newer = block->newer;
    if (block->newer)
        block->newer->older = block->older;
    else
        newest = block->older;
    nlive--;
    pthread_mutex_unlock(&lock);
    void *start = block->start;
    memset(block, FREED, sizeof *block + block->bytes);
    (free)(start);
}

void *hostile_realloc(void *at, size_t bytes)
{
    void *moved = take(16, bytes, FRESH, __builtin_return_address(0));
    if (moved && at) {
        size_t before = ((Block *)at - 1)->bytes;
        memcpy(moved, at, before < bytes ? before : bytes);
        hostile_free(at);
    }
    return moved;
}

char *hostile_strndup(const char *text, size_t n)
{
    n = strnlen(text, n);
    char *copy = take(16, n + 1, 0, __builtin_return_address(0));
    return copy ? memcpy(copy, text, n) : NULL;
}

char *hostile_strdup(const char *text)
{
    return hostile_strndup(text, strlen(text));
}

/* As the C library's, whose line would be freed here. */
ssize_t hostile_getline(char **line, size_t *room, FILE *in)
{
    size_t n = 0;
    for (int c = 0; c != '\n' && (c = getc(in)) != EOF;) {
        if (n + 2 > *room) {
            char *longer = hostile_realloc(*line, n + 2);
            if (!longer)
                return -1;
            *line = longer;
            *room = n + 2;
        }
        (*line)[n++] = (char)c;
        (*line)[n] = 0;
    }
    return n ? (ssize_t)n : -1;
}

void *hostile_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (is_refused()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (__real_mmap ? __real_mmap : mmap)(at, bytes, protection, flags, file, offset);
}

int hostile_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*f)(void *),
                           void *user)
{
    return is_refused() ? EAGAIN : pthread_create(thread, attributes, f, user);
}

/* ---- LLVM's, where the linker puts these in place of the C library's ---- */

extern bool reserve_retry(void)
    __attribute__((weak)); /* engine/link/llvm_memory.c, in the engine */

static bool llvm_is_refused(void)
{
    return atomic_load(&mode) == FAIL_LLVM && is_refused() && !(reserve_retry && reserve_retry());
}

void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return llvm_is_refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
    return llvm_is_refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *at, size_t bytes);
void *__wrap_realloc(void *at, size_t bytes)
{
    return llvm_is_refused() ? NULL : __real_realloc(at, bytes);
}

void *__wrap_aligned_alloc(size_t align, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
    return llvm_is_refused() ? NULL : __real_aligned_alloc(align, bytes);
}

int __wrap_posix_memalign(void **out, size_t align, size_t bytes);
int __wrap_posix_memalign(void **out, size_t align, size_t bytes)
{
    return llvm_is_refused() ? ENOMEM : __real_posix_memalign(out, align, bytes);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return llvm_is_refused() ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, file, offset);
}

/* ---- for the driver ---- */

static void fail_at(int64_t n, FailMode wanted)
{
    atomic_store(&fails_at, 0);
    atomic_store(&mode, wanted);
    atomic_store(&asked, 0);
    atomic_store(&fails_at, n);
}

static int64_t count_asked(void)
{
    return atomic_load(&asked);
}

static int64_t count_live(void)
{
    pthread_mutex_lock(&lock);
    int64_t n = nlive;
    pthread_mutex_unlock(&lock);
    return n;
}

static void print_newest(int n)
{
    pthread_mutex_lock(&lock);
    for (Block *b = newest; b && n-- > 0; b = b->older) {
        char *at = b->taker;
        fprintf(stderr, "    %zu bytes, taken at hostile_malloc%+td\n", b->bytes,
                at - (char *)hostile_malloc);
    }
    pthread_mutex_unlock(&lock);
}

const Hostile *hostile(void)
{
    static const Hostile all = { fail_at, count_asked, count_live, print_newest };
    return &all;
}

/* A library whose driver is a shell: TUTTI_FAIL=n, or TUTTI_FAIL=n+ for all from there on. */
__attribute__((constructor)) static void ask_environment(void)
{
    const char *text = getenv(HOSTILE_VARIABLE);
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;
    if (n > 0)
        fail_at(n, *end == '+' ? FAIL_ALL : FAIL_ONCE);
}

/* How many requests there were, for that shell: into the file that TUTTI_FAIL_front_ASKED names. */
__attribute__((destructor)) static void tell_asked(void)
{
    const char *path = getenv(HOSTILE_VARIABLE "_ASKED");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%lld\n", (long long)atomic_load(&asked));
    fclose(file);
}
