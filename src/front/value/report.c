/* report.c - failures: the line of the user's program, what happened, what was being traced.
 *
 * Every thread keeps its first message until tt_clear_error: what it did wrong is its own
 * business, and text that another thread may clear could not be handed out.  The handler is the
 * process's. */
#include "front/value/report.h"

#include "base/guard.h"
#include "base/sync.h"
#include "front/value/layout.h"
#include "front/value/library.h"
#include "front/value/trace.h"

#include <stdio.h>
#include <stdlib.h>

_Thread_local CallSite call_site;

static _Thread_local const char *kept; /* NULL: nothing */
static _Thread_local Text whole;
static _Thread_local char brief[256];
static _Thread_local bool is_pending;
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
    call_site = (CallSite){ file, function, line };
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
    return kept;
}

void tt_clear_error(void)
{
    text_free(&whole);
    kept = NULL;
    is_pending = false;
}

bool report_is_kept(void)
{
    return kept != NULL;
}

bool report_is_pending(void)
{
    return is_pending;
}

unsigned report_count(void)
{
    return count;
}

static void add_stack(Text *out)
{
    enum { MOST = 8 };
    int n = 0;
    for (const Trace *t = tracing; t; t = t->outer) {
        n += t->how != NULL;
        if (!t->how || n > MOST)
            continue;
        text_printf(out, "\n    while tracing %s(%s)", t->how, t->name);
        if (t->file)
            text_printf(out, ", %s:%d", t->file, t->line);
        if (t->call_file)
            text_printf(out, ", called at %s:%d", t->call_file, t->call_line);
        if (t->axis_name)
            text_printf(out, ", axis \"%s\" of size %d", t->axis_name, t->axis_size);
        for (int i = 0; t->mesh && i < t->mesh->naxes; i++)
            text_printf(out, ", axis \"%s\" of size %d", t->mesh->axes[i].name,
                        t->mesh->axes[i].size);
    }
    if (n > MOST)
        text_printf(out, "\n    and %d more", n - MOST);
}

typedef struct Message {
    const char *format;
    va_list args;
    Text text;
} Message;

static void compose(void *user)
{
    Message *m = user;
    if (call_site.file)
        text_printf(&m->text, "%s:%d: in %s: ", call_site.file, call_site.line, call_site.function);
    text_vprintf(&m->text, m->format, m->args);
    add_stack(&m->text);
}

/* Without memory for all of it, as much as there is room for is kept. */
static void keep(const char *format, va_list args)
{
    Message m = { .format = format };
    va_copy(m.args, args);
    Error *error = guard_run_in(NULL, "a message", compose, &m);
    va_end(m.args);
    if (error)
        vsnprintf(brief, sizeof brief, format, args);
    else
        whole = m.text;
    error_free(error);
    kept = error ? brief : whole.at;
    is_pending = true;
    if (!library_is_inside())
        library_report();
}

void report_to_handler(void)
{
    lock_take(&handler_lock);
    Handler *now = handler;
    void *user = handler_user;
    lock_give(&handler_lock);
    is_pending = false;
    if (now && kept)
        now(kept, user);
}

tt report_broken(const char *format, ...)
{
    count++;
    if (!report_is_kept()) {
        va_list args;
        va_start(args, format);
        keep(format, args);
        va_end(args);
    }
    return (tt){ 0, 0 };
}

tt report_error(Error *error)
{
    report_broken("%s", error_text(error));
    error_free(error);
    return (tt){ 0, 0 };
}

/* StableHLO writes unsigned types ui8, booleans i1 and complex types complex<f32>. */
static int print_element(char *out, size_t room, Element e)
{
    ElementKind kind = element_info[e].kind;
    if (e == I1)
        return snprintf(out, room, "bool");
    if (kind == COMPLEX || kind == UNSIGNED)
        return snprintf(out, room, "%c%d", kind == COMPLEX ? 'c' : 'u', element_info[e].bits);
    return snprintf(out, room, "%s", element_info[e].name);
}

/* Without a text of the heap: it is called where there is no memory. */
const char *type_text(Type t)
{
    enum { RING = 8, ROOM = 256 };
    static _Thread_local char ring[RING][ROOM];
    static _Thread_local unsigned next;
    char *at = ring[next++ % RING];
    int n = print_element(at, ROOM, t.element);
    n += snprintf(at + n, (size_t)(ROOM - n), "[");
    for (int i = 0; i < t.rank && n < ROOM; i++) {
        const char *comma = i ? "," : "";
        if (t.dims[i] == DYNAMIC)
            n += snprintf(at + n, (size_t)(ROOM - n), "%s?", comma);
        else
            n += snprintf(at + n, (size_t)(ROOM - n), "%s%lld", comma, (long long)t.dims[i]);
    }
    if (n < ROOM)
        snprintf(at + n, (size_t)(ROOM - n), "]");
    return at;
}
