/* say.c - failures: where the user stands, what happened, what was being traced.
 *
 * Every thread keeps its first message until tt_clear_error: what it did wrong is its own
 * business, and text that another thread may clear could not be handed out.  The handler is the
 * process's. */
#include "front/say.h"

#include "base/sync.h"
#include "front/mesh.h"
#include "front/trace.h"

#include <stdio.h>
#include <stdlib.h>

_Thread_local Here here;
_Thread_local Trace *tracing;

static _Thread_local Text kept; /* empty: nothing */
static _Thread_local unsigned count;

static void print_and_exit(const char *message, void *user)
{
    (void)user;
    fflush(stdout);
    fprintf(stderr, "%s\n", message);
    exit(1);
}

typedef void Handler(const char *message, void *user);

static Lock handler_lock;
static Handler *handler = print_and_exit;
static void *handler_user;

void tt_at(const char *file, int line, const char *function)
{
    here = (Here){ file, function, line };
}

void tt_on_error(void (*new_handler)(const char *message, void *user), void *user)
{
    lock_take(&handler_lock);
    handler = new_handler;
    handler_user = user;
    lock_give(&handler_lock);
}

const char *tt_error(void)
{
    return kept.n ? kept.at : NULL;
}

void tt_clear_error(void)
{
    text_free(&kept);
}

bool said_something(void)
{
    return kept.n > 0;
}

unsigned said_count(void)
{
    return count;
}

static void add_stack(void)
{
    enum { MOST = 8 };
    int n = 0;
    for (const Trace *t = tracing; t; t = t->outer) {
        n += t->how != NULL;
        if (!t->how || n > MOST)
            continue;
        text_printf(&kept, "\n    while tracing %s(%s)", t->how, t->name);
        if (t->file)
            text_printf(&kept, ", %s:%d", t->file, t->line);
        if (t->axis_name)
            text_printf(&kept, ", axis \"%s\" of size %d", t->axis_name, t->axis_size);
        for (int i = 0; t->mesh && i < t->mesh->naxes; i++)
            text_printf(&kept, ", axis \"%s\" of size %d", t->mesh->axes[i].name,
                        t->mesh->axes[i].size);
    }
    if (n > MOST)
        text_printf(&kept, "\n    and %d more", n - MOST);
}

static void keep(const char *format, va_list args)
{
    if (here.file)
        text_printf(&kept, "%s:%d: in %s: ", here.file, here.line, here.function);
    text_vprintf(&kept, format, args);
    add_stack();
    lock_take(&handler_lock);
    Handler *now = handler;
    void *user = handler_user;
    lock_give(&handler_lock);
    if (now)
        now(kept.at, user);
}

tt say_broken(const char *format, ...)
{
    count++;
    if (!said_something()) {
        va_list args;
        va_start(args, format);
        keep(format, args);
        va_end(args);
    }
    return (tt){ 0, 0 };
}

tt say_error(Error *error)
{
    say_broken("%s", error_text(error));
    error_free(error);
    return (tt){ 0, 0 };
}

/* StableHLO writes unsigned types ui8, booleans i1 and complex types complex<f32>. */
static void print_element(Text *out, Element e)
{
    const char *name = element_info[e].name;
    if (e == I1)
        text_printf(out, "bool");
    else if (element_info[e].kind == COMPLEX)
        text_printf(out, "c%d", element_info[e].bits);
    else if (element_info[e].kind == UNSIGNED)
        text_printf(out, "u%d", element_info[e].bits);
    else
        text_printf(out, "%s", name);
}

const char *type_words(Type t)
{
    enum { RING = 8, ROOM = 256 };
    static _Thread_local char ring[RING][ROOM];
    static _Thread_local unsigned next;
    Text text = { 0 };
    print_element(&text, t.element);
    text_printf(&text, "[");
    for (int i = 0; i < t.rank; i++) {
        text_printf(&text, i ? "," : "");
        if (t.dims[i] == DYNAMIC)
            text_printf(&text, "?");
        else
            text_printf(&text, "%lld", (long long)t.dims[i]);
    }
    text_printf(&text, "]");
    char *at = ring[next++ % RING];
    snprintf(at, ROOM, "%s", text_cstr(&text));
    text_free(&text);
    return at;
}
