/* idle.h - memory that is kept but not in use: under the address sanitizer a touch of it is found. */
#ifndef TUTTI_ENGINE_MEMORY_IDLE_H
#define TUTTI_ENGINE_MEMORY_IDLE_H
#if defined __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define MEMORY_POISON(at, n) __asan_poison_memory_region(at, n)
#define MEMORY_UNPOISON(at, n) __asan_unpoison_memory_region(at, n)
#else
#define MEMORY_POISON(at, n) ((void)(at), (void)(n))
#define MEMORY_UNPOISON(at, n) ((void)(at), (void)(n))
#endif
#endif
