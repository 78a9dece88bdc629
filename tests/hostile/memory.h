/* memory.h - memory that fails when it is told to.
 *
 * In the hostile build what our files take of memory and threads goes by memory.c (names.h): the n-th
 * request can be refused, a list that grows always moves, and what is fresh or freed holds rubbish.
 * TUTTI_HOSTILE also makes arenas, lists and tables begin small and grow by little (base/). */
#ifndef TUTTI_TESTS_HOSTILE_MEMORY_H
#define TUTTI_TESTS_HOSTILE_MEMORY_H
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef enum FailMode {
    FAIL_ONCE, /* one request is refused */
    FAIL_ALL,  /* it and all after it */
    FAIL_LLVM, /* one, LLVM's counted too */
} FailMode;

/* What a driver is told and tells; the plugin exports `hostile`. */
typedef struct Hostile {
    void (*fail_at)(int64_t n, FailMode mode); /* counting from 1; 0: never.  Begins to count. */
    int64_t (*asked)(void);                    /* requests since then */
    int64_t (*live)(void);                     /* blocks that are held */
    void (*print_newest)(int n);               /* who took them: addresses for addr2line */
} Hostile;
__attribute__((visibility("default"))) const Hostile *hostile(void);

void *hostile_malloc(size_t bytes);
void *hostile_calloc(size_t n, size_t size);
void *hostile_realloc(void *at, size_t bytes);
void *hostile_aligned_alloc(size_t align, size_t bytes);
char *hostile_strdup(const char *text);
char *hostile_strndup(const char *text, size_t n);
void hostile_free(void *at);
ssize_t hostile_getline(char **line, size_t *room, FILE *in);
void *hostile_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
int hostile_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*f)(void *),
                           void *user);

#endif
