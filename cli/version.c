/* version.c - `tutti version`: which Tutti, which engine, and what the two were built with. */
#include "command.h"
#include "execute.h"

#include "base/version.h"

#include <stdio.h>

static Error *print_engine(Pjrt *engine)
{
    TRY(engine_load(engine));
    printf("engine %s\n", engine->path);
    printf("PJRT %d.%d\n", engine->api->pjrt_api_version.major_version,
           engine->api->pjrt_api_version.minor_version);
    if (!engine->tutti)
        printf("(a plugin of others, or another version of ours)\n");
    else
        printf("LLVM %s\nruntime %s\n", *engine->tutti->llvm ? engine->tutti->llvm : "none",
               engine->tutti->rt_abi);
    return NULL;
}

static int run(int argc, char **argv)
{
    if (argc > 1)
        return usage_error("version", "'%s' is not known", argv[1]);
    printf("tutti %s\n", TUTTI_VERSION);
    Pjrt engine = { 0 };
    Error *error = print_engine(&engine);
    engine_end(&engine);
    return error ? failed(error) : EXIT_OK;
}

const Command command_version = {
    .name = "version",
    .usage = "",
    .summary = "say which version this is, and what its engine was built with",
    .details = "  engine   the file that was loaded\n"
               "  PJRT     the version of the C API that it speaks\n"
               "  LLVM     the compiler inside\n"
               "  runtime  the symbol by which objects of tutti compile know their libtutti_rt\n"
               "\ntutti --version says the first line alone, and loads nothing.\n",
    .run = run,
};
