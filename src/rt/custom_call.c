/* custom_call.c - C functions that programs call by name. */
#include "engine/custom_call.h"
#include "rt/rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kept for ever: a call may still be in one that another has replaced. */
typedef struct Defined {
    tutti_rt_function *f;
    void *user;
} Defined;

const char *const call_definer = "tutti_rt_define_call";

static void put_in_words(int n, const TuttiOperand *from, tutti_rt_operand *to)
{
    for (int i = 0; i < n; i++) {
        Element e;
        bool is_known = element_of_pjrt((int)from[i].type, &e);
        to[i] = (tutti_rt_operand){ .type = is_known ? element_info[e].name : "unknown",
                                    .rank = from[i].rank,
                                    .dims = from[i].dims,
                                    .data = from[i].data };
    }
}

static int32_t answer(void *user, const TuttiCall *call)
{
    const Defined *d = user;
    const char *why = "no memory for the list of its arrays";
    tutti_rt_operand *in = calloc((size_t)(call->nargs + call->nresults) + 1, sizeof *in);
    if (in) {
        put_in_words(call->nargs, call->args, in);
        put_in_words(call->nresults, call->results, in + call->nargs);
        why = d->f(d->user, in, call->nargs, in + call->nargs, call->nresults);
    }
    free(in);
    if (why)
        snprintf(call->message, call->room, "%s", why);
    return why != NULL;
}

const char *tutti_rt_define_call(const char *name, tutti_rt_function *f, void *user)
{
    if (!name || !*name || !f)
        return rt_say(error_new(CODE_INVALID, "tutti_rt_define_call: %s is missing",
                                f ? "a name" : "the function"));
    Defined *d = malloc(sizeof *d);
    if (d)
        *d = (Defined){ f, user };
    if (d && call_registry_add(str_of(name), answer, d))
        return NULL;
    free(d);
    return rt_say(error_new(CODE_EXHAUSTED, "tutti_rt_define_call: no memory for %s", name));
}
