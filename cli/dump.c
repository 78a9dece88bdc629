/* dump.c - `tutti dump`: the program as text, as read or after a pass of the compiler. */
#include "command.h"
#include "execute.h"

#include <stdio.h>
#include <string.h>

static Error *unknown_pass(const Pjrt *engine, const char *after)
{
    Text text = { 0 };
    for (const char *const *name = engine->tutti->passes; *name; name++)
        text_printf(&text, "%s%s", text.n ? ", " : "", *name);
    Error *error = error_new(CODE_INVALID, "there is no pass '%s'; the passes are: %s", after,
                             text_cstr(&text));
    text_free(&text);
    return error;
}

static bool is_pass(const Pjrt *engine, const char *after)
{
    for (const char *const *name = engine->tutti->passes; *name; name++)
        if (strcmp(*name, after) == 0)
            return true;
    return false;
}

static Error *dump(Pjrt *engine, const char *path, const char *after)
{
    TRY(engine_load(engine));
    if (!engine->tutti)
        return error_new(CODE_UNIMPLEMENTED, "%s is not Tutti's engine", engine->path);
    if (after && !is_pass(engine, after))
        return unknown_pass(engine, after);
    Text program;
    TRY(program_read(path, &program));
    char *text;
    Error *error = pjrt_error(
        engine->api, engine->tutti->dump(text_cstr(&program), program.n, path, after, &text));
    text_free(&program);
    if (error)
        return error;
    printf("%s", text ? text : "");
    engine->tutti->release(text);
    return NULL;
}

static int run(int argc, char **argv)
{
    const char *path = NULL, *after = NULL;
    for (int i = 1; i < argc; i++) {
        if (option_value(argc, argv, &i, "--after", &after)) {
            if (!after)
                return usage_error("dump", "--after needs the name of a pass");
        } else if (argv[i][0] == '-') {
            return usage_error("dump", "'%s' is not known", argv[i]);
        } else if (path) {
            return usage_error("dump", "'%s' is a second program; one is dumped at a time",
                               argv[i]);
        } else {
            path = argv[i];
        }
    }
    if (!path)
        return usage_error("dump", "a program is missing");
    Pjrt engine = { 0 };
    Error *error = dump(&engine, path, after);
    engine_end(&engine);
    return error ? failed(error) : EXIT_OK;
}

const Command command_dump = {
    .name = "dump",
    .usage = "PROGRAM [--after=PASS]",
    .summary = "print a program as text, as it was read or after a pass of the compiler",
    .details =
        "  --after=PASS  refine, sink_captures, simplify, place, polish, drop_barriers,\n"
        "                hoist_replicated, drop_invariant_carries, hoist_invariants,\n"
        "                overwrite_rows, unroll_rotations, split_columns, fuse or\n"
        "                join_collectives, in this order:\n"
        "                the passes that change the program.\n"
        "                What comes out is StableHLO, which can be read and run again, until it\n"
        "                holds operations of the compiler's own:\n"
        "                tutti.global (from place on, code that runs once over whole arrays) and\n"
        "                tutti.fusion (from fuse on, always) can only be looked at.\n",
    .run = run,
};
