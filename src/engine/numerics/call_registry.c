/* call_registry.c - custom calls that the embedding process answers: from a name to a C function.
 *
 * Entries stay as long as the engine: compiled code may still call them.  There is one for each
 * name: a program's own few, and one of some 80 bytes for each callback that JAX lowers, whose
 * Python function stays just as long. */
#include "engine/numerics/call_registry.h"

#include "base/sync.h"
#include "base/table.h"
#include "engine/floats.h"
#include "engine/numerics/routines.h"

#include <stdlib.h>
#include <string.h>

typedef struct Entry {
    struct Entry *next;
    TuttiFunction *f;
    void *user;
    size_t n;
    char name[];
} Entry;

enum { LISTS = 256 };
static Lock lock; /* of the lists and the entries; by hash of the name */
static Entry *entries[LISTS];

static Entry **list_of(Str name)
{
    return &entries[hash_bytes(name.at, name.n, 0) % LISTS];
}

/* NULL: none.  The lock is held. */
static Entry *find(Str name)
{
    Entry *e = *list_of(name);
    while (e && !(e->n == name.n && memcmp(e->name, name.at, name.n) == 0))
        e = e->next;
    return e;
}

bool call_registry_add(Str name, TuttiFunction *f, void *user)
{
    Entry *fresh = malloc(sizeof *fresh + name.n);
    if (!fresh)
        return false;
    fresh->n = name.n;
    memcpy(fresh->name, name.at, name.n);
    lock_take(&lock);
    Entry *entry = find(name);
    if (!entry) {
        entry = fresh;
        entry->next = *list_of(name);
        *list_of(name) = entry;
    }
    entry->f = f;
    entry->user = user;
    lock_give(&lock);
    if (entry != fresh)
        free(fresh);
    return true;
}

bool call_registry_find(Str name, TuttiFunction **f, void **user)
{
    lock_take(&lock);
    const Entry *entry = find(name);
    if (entry) {
        *f = entry->f;
        *user = entry->user;
    }
    lock_give(&lock);
    return entry;
}

void call_registry_end(void)
{
    for (int i = 0; i < LISTS; i++)
        while (entries[i]) {
            Entry *entry = entries[i];
            entries[i] = entry->next;
            free(entry);
        }
}

/* The operands or results that foreign code sees: all but tokens.  Returns how many. */
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
    if (!call_registry_find(target, &function, &user))
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
    Floats before = floats_enter_foreign();
    int32_t failed = function(user, &call);
    floats_restore(before);
    free(arrays);
    if (!failed)
        return NULL;
    message[sizeof message - 1] = 0;
    return error_new(CODE_INTERNAL, "custom_call @%.*s, at %s: %s",
                     STR_ARG(target), loc_name(n->loc), *message ? message : "failed");
}
