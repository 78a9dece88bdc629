/* closure.c - tt_fn_new: functions that carry a pointer, for closures and for other languages; how many
 * arrays they take and give, each call may say. */
#include "front/transform/fn.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

enum { MOST_RESULTS = 4096 };

/* The closure with its strings interned and nothing between its fields, so that equal ones are equal
 * bytes.  False: it cannot be one; reported. */
static bool normalise(const tt_closure *given, tt_closure *out)
{
    unsigned before = report_count();
    memset(out, 0, sizeof *out);
    out->apply = given->apply;
    out->user = given->user;
    out->name = intern_string(given->name ? given->name : "closure");
    out->file = intern_string(given->file);
    out->line = given->line;
    out->nargs = given->nargs;
    out->nresults = given->nresults;
    if (!given->apply)
        report_broken("tt_fn_new: .apply is not given: there is nothing to call");
    else if (given->nargs < 0 || given->nargs > TT_MAX_ARGS || given->nresults < 0 ||
             given->nresults > MOST_RESULTS)
        report_broken("tt_fn_new: %d arguments and %d results: from 0, which is any number, to %d "
                      "and %d are possible",
                      given->nargs, given->nresults, TT_MAX_ARGS, MOST_RESULTS);
    else
        memcpy(out->nleaves, given->nleaves, sizeof *out->nleaves * (size_t)given->nargs);
    return report_count() == before;
}

tt_fn tt_fn_new(const tt_closure *given)
{
    PUBLIC;
    tt_closure closure;
    OPTIONS(tt_closure, "tt_fn_new", given, return NULL);
    if (!normalise(&options, &closure))
        return NULL;
    FnKey key = { .kind = FN_CLOSURE, .config_size = sizeof closure };
    key.config = intern_bytes(&closure, sizeof closure);
    return key.config ? fn_intern(&key, NULL, closure.name) : NULL;
}

/* Did it give as many as it may?  False: reported. */
static bool gives(tt_fn f, const tt_closure *closure, int n, int room)
{
    if (n < 0) {
        if (!report_is_kept())
            report_broken("%s: it failed: its apply returned %d", f->label, n);
        return false;
    }
    if (n > room || (closure->nresults && n != closure->nresults))
        return report_broken("%s: its apply gives %d arrays, and has room for %d", f->label, n,
                             room),
               false;
    return true;
}

const tt *closure_apply(tt_fn f, const Leaves *leaves, const tt *leaf, int *nresults)
{
    const tt_closure *closure = f->key.config;
    int room = closure->nresults ? closure->nresults : MOST_RESULTS, n = 0;
    tt *results = ARENA_ARRAY(trace_arena(), tt, room + 1);
    tt_tree args[TT_MAX_ARGS];
    const int *counts = leaves->absent ? leaves->slots : leaves->counts;
    for (int i = 0; i < leaves->nargs; n += counts[i++])
        args[i] = (tt_tree){ leaf + n, counts[i] };
    Suspended s = library_suspend();
    *nresults = closure->apply(closure->user, args, leaves->nargs, results, room);
    library_resume(s);
    return gives(f, closure, *nresults, room) ? results : NULL;
}
