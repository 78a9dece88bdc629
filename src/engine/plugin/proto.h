/* proto.h - the three protocol buffers of the seam that matter: how to compile, on which devices,
 * and how arrays are cut. */
#ifndef TUTTI_ENGINE_PLUGIN_PROTO_H
#define TUTTI_ENGINE_PLUGIN_PROTO_H
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "ops/sharding.h"

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

/* An OpSharding; nothing at all for a replicated one, which is what that means. */
void sharding_write(Text *out, Tiling tiling);

/* A DeviceAssignmentProto: devices[replica * npartitions + partition]. */
void assignment_write(Text *out, int nreplicas, int npartitions, const int *devices);
#endif
