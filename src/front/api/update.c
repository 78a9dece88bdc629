/* update.c - calls whose results go where C variables are: a gradient beside its loss, a state that moves on. */
#include "front/transform/fn.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

/* What tt_call gives where there is nothing to call. */
static const tt *nothing(int nresults)
{
    return tt_call_n(NULL, NULL, 0, nresults);
}

static bool is_there(const tt *x, int n)
{
    for (int i = 0; i < n; i++)
        if (x[i].slot)
            return true;
    return false;
}

tt tt_loss_grad_n(tt *grad, int n, tt_fn f, const tt_tree *args, int nargs)
{
    PUBLIC;
    tt_grad_options options = { .size = sizeof options };
    tt_fn both = fn_is_given(f, "tt_loss_grad") ? tt_value_and_grad_with(f, &options) : NULL;
    const tt *y = both ? tt_call_n(both, args, nargs, n + 1) : nothing(n + 1);
    memcpy(grad, y + 1, sizeof *grad * (size_t)n);
    return y[0];
}

/* Does the state come back in the shapes it had?  False: reported. */
static bool keeps_shapes(tt_fn f, const tt *state, const tt *next, int n)
{
    for (int i = 0; i < n; i++) {
        Shape had, has;
        if (!state[i].slot || !next[i].slot)
            continue;
        if (!value_shape(state[i], "tt_update", &had) || !value_shape(next[i], "tt_update", &has))
            return false;
        if (!type_same_shape(shape_type(&had), shape_type(&has)))
            return report_broken(
                       "tt_update(%s): array %d of the state is %s, and comes back as %s: a state "
                       "keeps its shapes; if a map gives every device's, .out_axis = TT_NONE gives "
                       "one for all",
                       f->label, i, type_text(shape_type(&had)), type_text(shape_type(&has))),
                   false;
    }
    return true;
}

const tt *tt_update_n(tt *state, int n, tt_fn f, const tt_tree *args, int nargs, int nresults)
{
    PUBLIC;
    if (!fn_is_given(f, "tt_update"))
        return nothing(nresults);
    if (nargs < 0 || nargs >= TT_MAX_ARGS)
        return report_broken("tt_update(%s): %d arguments behind the state: up to %d are possible",
                             f->label, nargs, TT_MAX_ARGS - 1),
               nothing(nresults);
    tt_tree all[TT_MAX_ARGS] = { { state, n } };
    memcpy(all + 1, args, sizeof *args * (size_t)nargs);
    const tt *y = tt_call_n(f, all, nargs + 1, n + nresults);
    /* Else the call has failed, and the state is what it was. */
    if (is_there(y, n + nresults) && keeps_shapes(f, state, y, n))
        tt_assign_n(state, (tt_tree){ y, n });
    return y + n;
}
