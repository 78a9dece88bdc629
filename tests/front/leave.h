/* leave.h - a program, its arguments and what came out, left in the folder TUTTI_PROGRAMS for
 * tests/front/xla.py; nothing is done when that is not set. */
#ifndef TUTTI_TESTS_FRONT_LEAVE_H
#define TUTTI_TESTS_FRONT_LEAVE_H
#include <stdio.h>
#include <stdlib.h>
#include <tutti.h>

static inline void leave_arrays(const char *folder, const char *name, const char *which, int n,
                                const tt *arrays)
{
    char path[512];
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s.%s%d.npy", folder, name, which, i);
        tt_save_npy(path, arrays[i]);
    }
}

static inline void leave_program(const char *name, tt_fn f, int nin, const tt *in, int nout,
                                 const tt *out)
{
    const char *folder = getenv("TUTTI_PROGRAMS");
    tt_tree trees[TT_MAX_ARGS];
    char path[512];
    if (!folder)
        return;
    for (int i = 0; i < nin; i++)
        trees[i] = (tt_tree){ in + i, 1 };
    snprintf(path, sizeof path, "%s/%s.mlir", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "%s cannot be written\n", path);
        exit(1);
    }
    fputs(tt_lower_n(f, trees, nin), file);
    fclose(file);
    leave_arrays(folder, name, "in", nin, in);
    leave_arrays(folder, name, "out", nout, out);
}
#endif
