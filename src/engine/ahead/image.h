/* image.h - constant data with pointers in it, on its way into an object file.
 *
 *     offset   0         8         16        24            64
 *              +---------+---------+---------+-- ... ------+-------
 *              | numbers | pointer | pointer | numbers     | ...      one constant of the module
 *              +---------+----|----+----|----+-------------+-------
 *                             |         +--> a function of the module, or of the runtime
 *                             +--> another offset of the same data
 *
 * Structs are copied as they lie in this process: the machines that code is made for lay them out
 * alike (little-endian, pointers of 64 bits).  Every pointer in them must then be told of, or be NULL:
 * what a copy holds of this process would mean nothing in another. */
#ifndef TUTTI_ENGINE_AHEAD_IMAGE_H
#define TUTTI_ENGINE_AHEAD_IMAGE_H
#include "base/table.h"
#include "engine/codegen/codegen.h"

typedef struct Pointer Pointer;

/* Starts as { .e = e, .arena = arena }. */
typedef struct Image {
    Emit *e;
    Arena *arena;
    Text bytes;
    int npointers, room;
    Pointer *pointers;
    Table shared; /* offsets of blocks without pointers, by what is in them */
} Image;

enum { NOWHERE = -1 }; /* the offset of nothing: a NULL */

/* Copies n bytes to the end, at a multiple of `align` (at most 64); returns where they lie. */
int64_t image_add(Image *i, const void *from, size_t n, size_t align);
/* The same for bytes without pointers, which may be shared with equal ones. */
int64_t image_share(Image *i, const void *from, size_t n, size_t align);
/* The pointer at `at` is to offset `to`, or NULL; or to a function or constant of the module. */
void image_point(Image *i, int64_t at, int64_t to);
void image_point_to(Image *i, int64_t at, LLVMValueRef to);
/* The value of the pointer at `at` as it was copied: the process's own. */
void *image_pointer(const Image *i, int64_t at);

/* A constant of the module, of internal linkage and aligned to 64 bytes; frees the image. */
LLVMValueRef image_finish(Image *i, const char *name);
#endif
