/* exported.h - a function from JAX: what jax.export(...).serialize() writes, read. */
#ifndef TUTTI_FILES_EXPORTED_H
#define TUTTI_FILES_EXPORTED_H
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

/* An array that the function takes or gives. */
typedef struct ExportedArray {
    Str name;  /* NUL-terminated: "0.dense.w" is args[0]["dense"]["w"], "rate" a keyword's; of
                  results, which may be one array, "" */
    Str type;  /* NUL-terminated, for people: "f32[b,3]" */
    int param; /* of main; -1: the function does not use it, and main does not take it */
} ExportedArray;

typedef struct Exported {
    Str name;
    Str module; /* the program, in portable bytecode; lies in the file */
    int nargs, nresults, ndevices;
    ExportedArray *args, *results;
    int nparams;        /* of main */
    int platform_param; /* -1: main takes no index of the platform */
    int nplatforms;
    Str *platforms;
    struct Exported
        *vjp; /* its gradient: all arguments, then a cotangent for each result; or NULL */
} Exported;

/* Could the bytes be such a file?  Those of a program, text or bytecode, could not. */
bool exported_is(Str bytes);
/* Lives in the arena; the bytes must outlive it. */
MUST_USE Error *exported_read(Str bytes, const char *path, Arena *arena, Exported **out);
/* The index that a program for several platforms is to be given where that name is the platform's:
 * itself, else that of cpu, else 0. */
int exported_platform(const Exported *e, Str name);
#endif
