/* profile.c - a recording becomes a file or a text: which view, by the file's name. */
#include "engine/profile/views.h"

#include "base/guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef void ViewFn(Text *out, const Recording *r);

static const struct {
    const char *ending;
    ViewFn *write;
} views[] = {
    { ".json", chrome_write },
    { ".pftrace", perfetto_write },
    { ".html", page_write },
    { ".txt", table_write },
};
enum { NVIEWS = sizeof views / sizeof *views };

static ViewFn *view_of(const char *path)
{
    size_t n = strlen(path);
    for (int i = 0; i < NVIEWS; i++) {
        size_t ending = strlen(views[i].ending);
        if (n > ending && strcmp(path + n - ending, views[i].ending) == 0)
            return views[i].write;
    }
    return NULL;
}

Error *profile_check(const char *path)
{
    if (view_of(path))
        return NULL;
    Text endings = { .is_message = true };
    for (int i = 0; i < NVIEWS; i++)
        text_printf(&endings, "%s%s", i ? ", " : "", views[i].ending);
    Error *error = error_new(CODE_INVALID,
                             "a trace goes to a file whose name ends in one of %s; '%s' "
                             "does not",
                             text_cstr(&endings), path);
    text_free(&endings);
    return error;
}

typedef struct Making {
    ViewFn *view;
    Text text;
} Making;

static void make(void *user)
{
    Making *m = user;
    Arena *arena = arena_new();
    Recording r;
    recording_take(arena, &r);
    m->view(&m->text, &r);
    arena_free(arena);
}

static Error *file_write(const char *path, const Text *text)
{
    FILE *file = fopen(path, "wb");
    bool is_written = file && fwrite(text->at, 1, text->n, file) == text->n;
    int trouble = errno;
    if (file && fclose(file) != 0 && is_written) {
        is_written = false;
        trouble = errno;
    }
    return is_written
               ? NULL
               : error_new(CODE_INVALID, "%s cannot be written: %s", path, strerror(trouble));
}

Error *profile_write(const char *path)
{
    TRY(profile_check(path));
    Making m = { .view = view_of(path) };
    TRY(guard_run("writing a trace", make, &m));
    Error *error = file_write(path, &m.text);
    text_free(&m.text);
    return error;
}

Error *profile_table(char **text)
{
    Making m = { .view = table_write };
    TRY(guard_run("making a profile", make, &m));
    *text = m.text.at;
    return NULL;
}

Error *profile_xspace(Text *out)
{
    Making m = { .view = xspace_write };
    TRY(guard_run("making a profile", make, &m));
    *out = m.text;
    return NULL;
}
