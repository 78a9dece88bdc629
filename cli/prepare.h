/* prepare.h - a program made ready to be compiled ahead. */
#ifndef TUTTI_CLI_PREPARE_H
#define TUTTI_CLI_PREPARE_H
#include "files/exported.h"

/* A program's file, and what the command line says of it. */
typedef struct Raw {
    const char *path;
    Str bytes;
    Exported *exported;  /* NULL: a plain program */
    const char *weights; /* a file of arrays, or NULL */
    bool is_inside;      /* they become constants; else they are read when the program is played */
} Raw;

/* What is compiled.  Lists have a word, or NULL, for each argument that is left. */
typedef struct Prepared {
    Str code;
    const char *const *args, *const *results; /* words of C; NULL: the file names nothing */
    const char *const *weights;               /* arrays of the file of weights; NULL: none */
    int64_t weights_bytes, weights_crc;       /* of that file */
} Prepared;

/* The index of the platform is filled in, the weights too if they go inside; open extents are `batch`,
 * 0: there must be none.  In the arena. */
MUST_USE Error *prepare(Arena *arena, const Raw *raw, int batch, Prepared *out);
#endif
