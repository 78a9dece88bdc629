/* linearize.c - tt_linearize: the results of a function at a point, and a function for directions there. */
#include "front/transform/fn.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

/* What tt_call gives where there is nothing to call. */
static const tt *nothing(int nresults)
{
    return tt_call_n(NULL, NULL, 0, nresults);
}

/* How many arrays each argument has, interned; NULL: reported. */
static const int *intern_counts(const tt_tree *args, int nargs)
{
    int counts[TT_MAX_ARGS] = { 0 };
    for (int i = 0; i < nargs; i++)
        counts[i] = args[i].n;
    return intern_bytes(counts, sizeof *counts * (size_t)nargs);
}

const tt *tt_linearize_n(tt_fn f, const tt_tree *args, int nargs, int nresults, tt_linear *out)
{
    PUBLIC;
    *out = (tt_linear){ 0 };
    if (!fn_is_given(f, "tt_linearize"))
        return nothing(nresults);
    if (nargs < 1 || 2 * nargs > TT_MAX_ARGS)
        return report_broken(
                   "tt_linearize(%s): %d arguments, and later as many tangents: from 1 to %d are "
                   "possible",
                   f->label, nargs, TT_MAX_ARGS / 2),
               nothing(nresults);
    FnKey key = { .kind = FN_LINEARIZE, .inner = f, .wrt = (1u << nargs) - 1 };
    tt_fn point = fn_intern(&key, "linearize", NULL);
    int n = point ? tt_eval_shape_n(point, args, nargs, NULL, 0) : -1;
    key.kind = FN_LINEAR;
    key.config_size = sizeof(int) * (size_t)nargs;
    key.config = intern_counts(args, nargs);
    tt_fn along = n >= 0 && key.config ? fn_intern(&key, "linear", NULL) : NULL;
    if (!along)
        return nothing(nresults);
    const tt *y = tt_call_n(point, args, nargs, n);
    int nleaves = 0;
    for (int i = 0; i < nargs; i++)
        nleaves += args[i].n;
    if (n < nresults + nleaves)
        return report_broken("tt_linearize: %s does not return %d array%s", f->label, nresults,
                             nresults == 1 ? "" : "s"),
               nothing(nresults);
    *out = (tt_linear){ along, { y + nresults, n - nresults } };
    return y;
}
