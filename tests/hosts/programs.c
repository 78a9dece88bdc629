/* programs.c - programs that check themselves (tests/programs) and take nothing, on devices of several
 * processes: TUTTI_DEVICES in each, as many together as each program is for. */
#include "pjrt/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 }; /* devices of a process, results of a program */

static Error *play(const Pjrt *engine, int ndevices, Str code, const char *name)
{
    PJRT_LoadedExecutable *executable;
    CompileOptions options = { .name = name, .no_fold = true };
    TRY(pjrt_compile(engine, code, options, &executable));
    const TuttiProgram *p;
    TRY(pjrt_error(engine->api, engine->tutti->describe(executable, &p)));
    PJRT_Buffer *results[MOST][MOST] = { 0 }, **rows[MOST];
    PJRT_Event *done[MOST] = { 0 };
    PJRT_Buffer *const *args[MOST] = { 0 };
    for (int d = 0; d < ndevices; d++)
        rows[d] = results[d];
    Launch launch = { .ndevices = ndevices, .args = args, .results = rows, .done = done };
    Error *error = pjrt_execute(engine, executable, &launch);
    for (int d = 0; d < ndevices; d++)
        for (int i = 0; !error && i < p->nresults; i++)
            pjrt_free(engine, results[d][i]);
    pjrt_release(engine, executable);
    return error;
}

static Error *play_file(const Pjrt *engine, int ndevices, const char *path)
{
    static char code[1 << 20];
    FILE *f = fopen(path, "r");
    if (!f)
        return error_new(CODE_INVALID, "%s cannot be read", path);
    size_t n = fread(code, 1, sizeof code, f);
    fclose(f);
    return play(engine, ndevices, (Str){ code, n }, path);
}

static Error *play_all(int n, char **paths)
{
    Pjrt engine = { .uses_launcher = true };
    PJRT_Device *const *devices;
    int ndevices = 0;
    TRY(pjrt_find(NULL, "TUTTI_PLUGIN", &engine.path));
    TRY(pjrt_load(&engine));
    TRY(pjrt_create_devices(&engine, 0));
    TRY(pjrt_devices(&engine, &devices, &ndevices));
    for (int i = 0; i < n; i++)
        TRY(play_file(&engine, ndevices, paths[i]));
    return NULL;
}

int main(int argc, char **argv)
{
    Error *error = play_all(argc - 1, argv + 1);
    if (error)
        fprintf(stderr, "%s\n", error_text(error));
    else
        printf("%d programs\n", argc - 1);
    return error != NULL;
}
