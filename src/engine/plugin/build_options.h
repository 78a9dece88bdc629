/* build_options.h - how a client wants a program compiled. */
#ifndef TUTTI_ENGINE_PLUGIN_BUILD_OPTIONS_H
#define TUTTI_ENGINE_PLUGIN_BUILD_OPTIONS_H
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

/* What we heed of a CompileOptionsProto. */
typedef struct BuildOptions {
    int nreplicas, npartitions; /* 0: not said, the program's own */
    int ndevices;               /* of the assignment; 0: not said, devices 0, 1, 2, ... */
    const int *devices;         /* [replica * npartitions + partition] */
    bool is_portable;           /* one device, named at each execution */
    bool evaluate;              /* tutti_evaluate */
    bool no_fold;               /* tutti_fold, turned off */
    const char *name;           /* tutti_name: the program's, for messages; or NULL */
    int nfree_args, nfree_results;
    const bool *free_args, *free_results; /* may we choose the sharding? */
} BuildOptions;

/* Empty bytes are right: all defaults.  Results live in the arena. */
MUST_USE Error *build_options_read(Arena *arena, Str bytes, BuildOptions *out);
#endif
