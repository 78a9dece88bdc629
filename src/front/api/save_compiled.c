/* save_compiled.c - tt_save_compiled: a function for one signature as an object file, and its header. */
#include "base/guard.h"
#include "files/objects.h"
#include "front/client/client.h"
#include "front/run/call.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "pjrt/client.h"

#include "tutti.h"

#include <string.h>

typedef struct Saving {
    const char *code, *path;
    Error *error;
} Saving;

/* The path with .h for its end. */
static void header_path(const char *path, Text *out)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *end = strrchr(base, '.');
    text_printf(out, "%.*s.h", (int)(end ? end - path : (ptrdiff_t)strlen(path)), path);
}

static Error *write_files(const char *path, const char *name, const TuttiObject *o)
{
    Text header = { 0 }, folder = { 0 }, symbol = { 0 };
    header_path(path, &header);
    text_folder(&folder, client_plugin()->path); /* libtutti_rt lies where the engine does */
    text_printf(&symbol, "%s_program", name);
    Made made = { symbol.at, { o->object, o->object_size } };
    Error *error = file_write(header.at, str_of(o->header));
    if (!error)
        error = objects_write(path, folder.at, 1, &made);
    text_free(&header);
    text_free(&folder);
    text_free(&symbol);
    return error;
}

static Error *save(const Saving *s)
{
    const TuttiExtension *engine = client_plugin()->tutti;
    if (!engine || engine->base.struct_size < sizeof *engine)
        return error_new(CODE_UNIMPLEMENTED, "%s is another's plugin, or older than this library",
                         client_plugin()->path);
    Text name = { 0 };
    object_name(s->path, &name);
    TuttiObject o = {
        .code = s->code, .size = strlen(s->code), .file = s->path, .name = text_cstr(&name)
    };
    Error *error = client_error(engine->compile_object(&o));
    if (!error) {
        error = write_files(s->path, o.name, &o);
        engine->release(o.object);
        engine->release(o.header);
    }
    text_free(&name);
    return error;
}

static void save_guarded(void *user)
{
    Saving *s = user;
    s->error = save(s);
}

bool tt_save_compiled_n(tt_fn f, const char *path, const tt_tree *args, int nargs)
{
    PUBLIC;
    if (!path || !*path)
        return report_broken("tt_save_compiled: a path is missing"), false;
    Saving s = { lower_call("tt_save_compiled", f, args, nargs, true), path, NULL };
    if (!*s.code || !library_guard("tt_save_compiled", save_guarded, &s))
        return false;
    if (s.error)
        report_error(error_in(s.error, "tt_save_compiled"));
    return !s.error;
}
