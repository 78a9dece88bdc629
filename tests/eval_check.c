/* eval_check.c - runs programs by the reference evaluator.
 *
 *     eval_check FILE.mlir ...
 *
 * Each file is a StableHLO program whose main takes nothing and checks itself (custom calls
 * check.expect_*).  Says which fail and why, then how many held; exits 0 when all did.  Links
 * engine objects: the evaluator and its rules. */
#include "engine/eval/eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    size_t room = 1 << 16;
    char *bytes = malloc(room);
    *n = 0;
    for (size_t got; bytes && (got = fread(bytes + *n, 1, room - *n, file)) > 0;) {
        *n += got;
        if (*n == room)
            bytes = realloc(bytes, room *= 2);
    }
    fclose(file);
    return bytes;
}

static Error *evaluate_main(const Module *m)
{
    const Func *f = func_find(m, STR("main"));
    if (!f || region_at(m, f->body)->nargs != 0)
        return error_new(CODE_INVALID, "no function main without arguments");
    Tensor *out = calloc((size_t)f->nresults + 1, sizeof *out);
    for (int i = 0; i < f->nresults; i++)
        out[i] = (Tensor){ f->results[i], malloc(type_bytes(f->results[i]) + 1) };
    Error *error = eval_region(m, f->body, NULL, out);
    for (int i = 0; i < f->nresults; i++)
        free(out[i].data);
    free(out);
    return error;
}

static Error *evaluate_file(const char *path)
{
    size_t n = 0;
    Module *m = NULL;
    char *bytes = read_file(path, &n);
    if (!bytes)
        return error_new(CODE_NOT_FOUND, "cannot be read");
    Error *error = read_program(bytes, n, path, &m);
    error = error ? error : module_check(m);
    error = error ? error : evaluate_main(m);
    module_free(m);
    free(bytes);
    return error;
}

int main(int argc, char **argv)
{
    int held = 0;
    for (int i = 1; i < argc; i++) {
        Error *error = evaluate_file(argv[i]);
        held += error == NULL;
        if (error)
            printf("%s: %s\n", argv[i], error_text(error));
        error_free(error);
    }
    printf("%d of %d programs held\n", held, argc - 1);
    return held != argc - 1;
}
