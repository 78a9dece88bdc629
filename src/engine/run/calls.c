/* calls.c - custom calls that somebody else answers: from a name to a C function.
 *
 * Entries stay for ever: code that has been compiled may still call them. */
#include "engine/run/calls.h"

#include "base/fail.h"
#include "base/sync.h"
#include "base/table.h"
#include "engine/run/floats.h"
#include "engine/run/library.h"

#include <stdlib.h>

typedef struct Entry {
    TuttiFunction *f;
    void *user;
} Entry;

static Lock lock; /* of the table and the entries */
static Table entries;

void calls_add(Str name, TuttiFunction *f, void *user)
{
    uint64_t at;
    Entry *fresh = malloc(sizeof *fresh);
    if (!fresh)
        fail("no memory for a function's name");
    *fresh = (Entry){ f, user };
    lock_take(&lock);
    if (table_get(&entries, name.at, name.n, &at)) {
        *(Entry *)(uintptr_t)at = *fresh;
        free(fresh);
    } else {
        table_set(&entries, name.at, name.n, (uintptr_t)fresh);
    }
    lock_give(&lock);
}

bool calls_find(Str name, TuttiFunction **f, void **user)
{
    uint64_t at;
    lock_take(&lock);
    bool found = table_get(&entries, name.at, name.n, &at);
    if (found) {
        *f = ((Entry *)(uintptr_t)at)->f;
        *user = ((Entry *)(uintptr_t)at)->user;
    }
    lock_give(&lock);
    return found;
}

static int operands(int n, const Tensor *tensors, TuttiOperand *out)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        Type t = tensors[i].type;
        if (t.element != TOKEN)
            out[kept++] = (TuttiOperand){ (PJRT_Buffer_Type)element_info[t.element].pjrt, t.rank,
                                          t.dims, tensors[i].data };
    }
    return kept;
}

Error *library_foreign(__attribute__((unused)) const Frame *f, const Node *n, const Tensor *in,
                       Tensor *out)
{
    Str target = ((const CustomCallAttrs *)n->attrs)->call_target_name;
    TuttiFunction *function;
    void *user;
    if (!calls_find(target, &function, &user))
        return error_new(CODE_NOT_FOUND, "custom_call @%.*s, at %s: nobody answers",
                         STR_ARG(target), loc_name(n->loc));
    char message[2000] = "";
    TuttiOperand *arrays = calloc((size_t)(n->nin + n->nout) + 1, sizeof *arrays);
    if (!arrays)
        return error_new(CODE_EXHAUSTED, "no memory for the operands of a custom call");
    TuttiCall call = { .args = arrays, .results = arrays + n->nin };
    call.message = message;
    call.room = sizeof message;
    call.nargs = operands(n->nin, in, arrays);
    call.nresults = operands(n->nout, out, arrays + n->nin);
    Floats before = floats_theirs();
    int32_t failed = function(user, &call);
    floats_restore(before);
    free(arrays);
    if (!failed)
        return NULL;
    message[sizeof message - 1] = 0;
    return error_new(CODE_INTERNAL, "custom_call @%.*s, at %s: %s",
                     STR_ARG(target), loc_name(n->loc), *message ? message : "failed");
}
