/* debug.c - what traced code says and checks while it runs: tt_debug_print, tt_check,
 * tt_debug_progress.
 *
 *     tt_debug_print("x = {}", x)   traced:  custom_call @tutti.local.said.3(x), with a side effect
 *                                   run:     the engine calls `answer` with site 3 and x's elements
 *
 * A site is a place in the C program that says something; it has a name of its own, by which the
 * engine calls, and stays for ever: a program may still call it.  Such a call gives nothing, so
 * derivatives leave it as it is, and a batch makes it row by row.  Outside a trace the values are
 * there, and it is said at once. */
#include "front/api/arrays.h"
#include "front/api/numpy.h"
#include "front/api/progress.h"
#include "front/client/client.h"
#include "front/run/line_order.h"
#include "front/value/array.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "ops/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum SiteKind { PRINT, PRINT_ORDERED, CHECK, PROGRESS } SiteKind;

/* The function of tutti.h; how many values come before those that the format shows. */
static const struct {
    const char *who;
    int nfirst;
} kinds[] = { { "tt_debug_print", 0 },
              { "tt_debug_print_ordered", 0 },
              { "tt_check", 1 },
              { "tt_debug_progress", 1 } };

enum { MOST_SHOWN = TT_MAX_ARGS };

typedef struct Site {
    struct Site *next;
    SiteKind kind;
    int64_t total; /* of PROGRESS */
    CallSite at;
    int nvalues; /* as many as a call must bring */
    Lock lock;   /* of `progress` */
    Progress progress;
    char name[40];
    char format[];
} Site;

static Lock lock; /* of the list, and of the number of sites */
static Site *sites;
static int nsites;

/* A value on the host. */
typedef struct Shown {
    Type type;
    const char *data;
} Shown;

/* ---- the format ---- */

/* Writes it with values[i] for the i-th {}.  Returns how many places it has. */
static int format_write(Text *out, const char *format, const Shown *values, int n)
{
    int places = 0;
    for (const char *at = format; *at; at++) {
        bool is_doubled = (*at == '{' || *at == '}') && at[1] == *at;
        if (*at == '{' && at[1] == '}') {
            if (places < n)
                elements_print(out, values[places].type, values[places].data);
            places++;
            at++;
        } else {
            text_add(out, at, 1);
            at += is_doubled;
        }
    }
    return places;
}

/* A brace that is neither a place nor doubled; NULL: there is none. */
static const char *stray_brace(const char *format)
{
    for (const char *at = format; *at; at++) {
        if (*at != '{' && *at != '}')
            continue;
        if (at[1] != *at && !(*at == '{' && at[1] == '}'))
            return at;
        at++;
    }
    return NULL;
}

static bool format_fits(const char *who, const char *format, int n)
{
    Text unused = { .is_message = true };
    int places = format && n <= MOST_SHOWN ? format_write(&unused, format, NULL, 0) : -1;
    text_free(&unused);
    if (!format)
        report_broken("%s: the text is missing", who);
    else if (n > MOST_SHOWN)
        report_broken("%s: %d values; at most %d are possible", who, n, MOST_SHOWN);
    else if (stray_brace(format))
        report_broken("%s: \"%s\": a value's place is {}, and a brace is written twice: {{ or }}",
                      who, format);
    else if (places != n)
        report_broken("%s: \"%s\" has %d places {} for %d values", who, format, places, n);
    return places == n && !stray_brace(format);
}

/* ---- saying it ---- */

/* One call of a site.  `why` is for a check that fails. */
typedef struct Saying {
    Site *site;
    int device; /* -1: none in particular */
    int launch; /* its run */
    bool is_first;
    int n;
    Shown values[MOST_SHOWN + 1];
    Text why;
    bool is_false;
} Saying;

static void write_values(Text *out, const Saying *s)
{
    int first = kinds[s->site->kind].nfirst;
    format_write(out, s->site->format, s->values + first, s->n - first);
}

static void say_line(const Saying *s)
{
    Text line = { 0 };
    if (s->device >= 0)
        text_printf(&line, "device %d: ", s->device);
    write_values(&line, s);
    text_add(&line, "\n", 1);
    if (s->site->kind == PRINT_ORDERED)
        line_order_say(s->launch, s->device, (Str){ line.at, line.n });
    else
        line_say((Str){ line.at, line.n });
    text_free(&line);
}

static void check_condition(Saying *s)
{
    Type t = s->values[0].type;
    int64_t n = type_count(t), nfalse = 0, first = 0;
    for (int64_t i = n - 1; i >= 0; i--)
        if (!s->values[0].data[i]) {
            nfalse++;
            first = i;
        }
    s->is_false = nfalse > 0;
    if (!nfalse)
        return;
    write_values(&s->why, s);
    if (t.rank == 0)
        return;
    text_printf(&s->why, " (false at [");
    for (int k = 0; k < t.rank; k++) {
        n /= t.dims[k];
        text_printf(&s->why, "%s%lld", k ? ", " : "", (long long)(first / n));
        first %= n;
    }
    text_printf(&s->why, "], %lld of %lld elements)", (long long)nfalse, (long long)type_count(t));
}

static void say_progress(const Saying *s)
{
    Site *site = s->site;
    int64_t step = number_int(s->values[0].type.element, s->values[0].data);
    lock_take(&site->lock);
    bool is_due = s->is_first && progress_is_due(&site->progress, step, site->total);
    lock_give(&site->lock);
    if (!is_due)
        return;
    Text text = { 0 };
    write_values(&text, s);
    lock_take(&site->lock);
    progress_say(&site->progress, step, site->total, text_cstr(&text));
    lock_give(&site->lock);
    text_free(&text);
}

static void say(void *user)
{
    Saying *s = user;
    switch (s->site->kind) {
    case PRINT:
    case PRINT_ORDERED: say_line(s); break;
    case CHECK: check_condition(s); break;
    case PROGRESS: say_progress(s); break;
    }
}

/* What the engine calls. */
static int32_t answer(void *user, const TuttiCall *call)
{
    Site *site = user;
    Saying s = { .site = site,
                 .device = call->device,
                 .launch = call->launch,
                 .is_first = call->is_first,
                 .n = call->nargs };
    if (s.n != site->nvalues || call->nresults) { /* a program that another process has written */
        snprintf(call->message, call->room,
                 "%s takes %d values and gives none; the program is not of this process",
                 kinds[site->kind].who, site->nvalues);
        return TUTTI_CALL_FAILED;
    }
    for (int i = 0; i < s.n; i++) {
        Element e;
        const TuttiOperand *from = &call->args[i];
        if (!element_of_pjrt((int)from->type, &e)) {
            snprintf(call->message, call->room, "an element type that is not known");
            return TUTTI_CALL_FAILED;
        }
        s.values[i] = (Shown){ { e, from->rank, from->dims }, from->data };
    }
    Error *error = guard_run(kinds[site->kind].who, say, &s);
    if (error) {
        snprintf(call->message, call->room, "%s", error_text(error));
        error_free(error);
        return TUTTI_CALL_FAILED;
    }
    if (s.is_false)
        snprintf(call->message, call->room, "%s, at %s:%d: %s", kinds[site->kind].who,
                 site->at.file ? site->at.file : "?", site->at.line, text_cstr(&s.why));
    text_free(&s.why);
    return s.is_false ? TUTTI_CALL_FAILED_THERE : TUTTI_CALL_WELL;
}

/* ---- sites ---- */

static bool is_site(const Site *s, SiteKind kind, int64_t total, const char *format)
{
    return s->kind == kind && s->total == total && s->at.line == call_site.line &&
           s->at.file == call_site.file && strcmp(s->format, format) == 0;
}

/* The one for where the user stands.  NULL: there is no memory. */
static Site *site_here(SiteKind kind, int64_t total, const char *format, int nvalues)
{
    Site *fresh = calloc(1, sizeof *fresh + strlen(format) + 1);
    lock_take(&lock);
    Site *s = sites;
    while (s && !is_site(s, kind, total, format))
        s = s->next;
    if (!s && fresh) {
        s = fresh;
        *s = (Site){
            .next = sites, .kind = kind, .total = total, .nvalues = nvalues, .at = call_site
        };
        strcpy(s->format, format);
        snprintf(s->name, sizeof s->name, TUTTI_LOCAL_CALL "said.%d", nsites++);
        sites = s;
    }
    lock_give(&lock);
    if (s != fresh)
        free(fresh);
    return s;
}

/* ---- recording, or saying it at once ---- */

typedef struct Spoken {
    SiteKind kind;
    int64_t total;
    const char *format;
    int n; /* with those before the format's */
    tt values[MOST_SHOWN + 1];
} Spoken;

static void record(void *user)
{
    const Spoken *w = user;
    const char *who = kinds[w->kind].who;
    Site *site = site_here(w->kind, w->total, w->format, w->n);
    tt settled[MOST_SHOWN + 1], none;
    if (!site) {
        report_broken("%s: no memory on the host for its text", who);
        return;
    }
    Error *error = client_define(who, site->name, answer, site);
    if (error) {
        report_error(error);
        return;
    }
    for (int i = 0; i < w->n; i++) {
        Shape s;
        if (!value_shape(w->values[i], who, &s))
            return;
        settled[i] = as_element(w->values[i], element_canonical(s.element, s.is_weak));
    }
    const CustomCallAttrs *attrs = BUILD_ATTRS(
        CustomCallAttrs, .call_target_name = str_copy(trace_arena(), str_of(site->name)),
        .has_side_effect = true, .api_version = 1);
    session->is_awaited = true;
    trace_apply(who, OP_CUSTOM_CALL, w->n, settled, attrs, 0, NULL, &none);
}

/* Outside a trace: the values are read, and it is said. */
static void say_now(void *user)
{
    const Spoken *w = user;
    const char *who = kinds[w->kind].who;
    Saying s = { .device = -1, .is_first = true, .n = w->n };
    Array *arrays[MOST_SHOWN + 1] = { NULL };
    char *data[MOST_SHOWN + 1] = { NULL };
    bool ok = (s.site = site_here(w->kind, w->total, w->format, w->n)) != NULL;
    for (int i = 0; i < w->n; i++) { /* all of them: other processes read them too */
        arrays[i] = settled_array(w->values[i], who);
        data[i] = ok && arrays[i] ? heap_try(type_bytes(arrays[i]->type) + 1) : NULL;
        ok = arrays[i] && array_read(arrays[i], data[i]) && ok;
        if (ok)
            s.values[i] = (Shown){ arrays[i]->type, data[i] };
    }
    if (ok)
        say(&s);
    if (s.is_false)
        report_broken("%s: %s", who, text_cstr(&s.why));
    text_free(&s.why);
    for (int i = 0; i < w->n; i++) {
        heap_free(data[i]);
        if (arrays[i])
            array_release(arrays[i]);
    }
}

/* `first` stands before the values of the format where the kind has it. */
static void speak(SiteKind kind, int64_t total, const char *format, tt first, const tt *values,
                  int n)
{
    const char *who = kinds[kind].who;
    if (!format_fits(who, format, n))
        return;
    int nfirst = kinds[kind].nfirst;
    Spoken w = { .kind = kind, .total = total, .format = format, .n = nfirst + n };
    w.values[0] = first;
    for (int i = 0; i < n; i++)
        w.values[nfirst + i] = values[i];
    library_guard(who, tracing ? record : say_now, &w);
}

void tt_debug_print_n(const char *format, const tt *values, int n)
{
    PUBLIC;
    speak(PRINT, 0, format, (tt){ 0, 0 }, values, n);
}

void tt_debug_print_ordered_n(const char *format, const tt *values, int n)
{
    PUBLIC;
    speak(PRINT_ORDERED, 0, format, (tt){ 0, 0 }, values, n);
}

void tt_check_n(tt condition, const char *format, const tt *values, int n)
{
    PUBLIC;
    Shape s;
    if (!value_shape(condition, "tt_check", &s))
        return;
    if (s.element != I1)
        report_broken("tt_check: the condition is %s, and must be bool: compare it",
                      type_text(shape_type(&s)));
    else
        speak(CHECK, 0, format, condition, values, n);
}

void tt_debug_progress_n(tt step, int64_t total, const char *format, const tt *values, int n)
{
    PUBLIC;
    Shape s;
    if (!value_shape(step, "tt_debug_progress", &s))
        return;
    ElementKind kind = element_info[s.element].kind;
    if (s.rank || (kind != SIGNED && kind != UNSIGNED))
        report_broken("tt_debug_progress: the step is %s, and must be one integer",
                      type_text(shape_type(&s)));
    else
        speak(PROGRESS, total, format, step, values, n);
}
