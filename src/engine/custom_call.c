/* custom_call.c - custom calls: their options, the types of those that factor matrices, and the
 * functions that other programs registered.
 *
 * Registered functions stay as long as the engine: compiled code may still call them.  There is one
 * for each name: a program's own few, and one of some 80 bytes for each callback that JAX lowers,
 * whose Python function stays just as long. */
#include "engine/custom_call.h"

#include "base/sync.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

const Attr *custom_option_find(const Node *n, const char *name)
{
    const Attr *places[] = { ((const CustomCallAttrs *)n->attrs)->backend_config,
                             attr_get(n->extra, "mhlo.backend_config"), n->extra };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const Attr *dict = places[i] && places[i]->kind == ATTR_DICT ? places[i] : NULL;
        const Attr *found = attr_get(dict, name);
        if (found)
            return found;
    }
    return NULL;
}

int64_t custom_option(const Node *n, const char *name, int64_t otherwise)
{
    const Attr *found = custom_option_find(n, name);
    return found && (found->kind == ATTR_INT || found->kind == ATTR_BOOL) ? found->integer
                                                                          : otherwise;
}

/* ---- types ---- */

static int64_t rows_of(Type t)
{
    return t.dims[t.rank - 2];
}

static int64_t columns_of(Type t)
{
    return t.dims[t.rank - 1];
}

static Error *misfit(const Node *n, const char *should)
{
    Str target = ((const CustomCallAttrs *)n->attrs)->call_target_name;
    return error_new(CODE_INVALID, "custom_call @%.*s, at %s: %s", STR_ARG(target),
                     loc_name(n->loc), should);
}

/* Factors: one row of n per matrix of a. */
static bool are_factors(Type factors, Type a, int64_t n)
{
    bool fits = factors.element == a.element && factors.rank == a.rank - 1 &&
                factors.dims[factors.rank - 1] == n;
    for (int i = 0; fits && i < a.rank - 2; i++)
        fits = factors.dims[i] == a.dims[i];
    return fits;
}

Error *custom_qr_fits(const Node *n, const Tensor *in, const Tensor *out)
{
    Type a = n->nin ? in[0].type : type_scalar(TOKEN);
    if (n->nin != 1 || n->nout != 2 || a.rank < 2 || !type_equal(a, out[0].type) ||
        !are_factors(out[1].type, a, rows_of(a) < columns_of(a) ? rows_of(a) : columns_of(a)))
        return misfit(n, "it takes matrices, and gives as many of the same type and one factor for "
                         "each of the first columns");
    return NULL;
}

static int64_t count_factors(const Node *n, const Tensor *in)
{
    return n->nin == 2 && in[1].type.rank ? in[1].type.dims[in[1].type.rank - 1] : -1;
}

Error *custom_householder_fits(const Node *n, const Tensor *in, const Tensor *out)
{
    Type a = n->nin ? in[0].type : type_scalar(TOKEN);
    int64_t nfactors = count_factors(n, in);
    if (n->nin != 2 || n->nout != 1 || a.rank < 2 || !type_equal(a, out->type) ||
        !are_factors(in[1].type, a, nfactors) || nfactors > rows_of(a) || nfactors > columns_of(a))
        return misfit(n, "it takes matrices and at most one factor for each of their columns, and "
                         "gives matrices of the same type");
    return NULL;
}

/* ---- registered functions ---- */

typedef struct Entry {
    struct Entry *next;
    TuttiFunction *f;
    void *user;
    int holders;  /* programs */
    bool dropped; /* by its owner: the last holder removes it */
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
    *fresh = (Entry){ .n = name.n };
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
    entry->dropped = false;
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

bool call_registry_hold(Str name)
{
    lock_take(&lock);
    Entry *entry = find(name);
    if (entry)
        entry->holders++;
    lock_give(&lock);
    return entry;
}

/* Counts a holder less, or marks the entry as dropped, and removes it when it is both unheld and
 * dropped.  Its owner is told without the lock: Python's waits for the interpreter's. */
static void let_go(Str name, int holders, bool dropped)
{
    lock_take(&lock);
    Entry **at = list_of(name), *gone = NULL, *entry = find(name);
    if (entry) {
        entry->holders -= holders;
        entry->dropped |= dropped;
        if (entry->dropped && entry->holders == 0) {
            while (*at != entry)
                at = &(*at)->next;
            *at = entry->next;
            gone = entry;
        }
    }
    lock_give(&lock);
    if (gone && gone->f)
        gone->f(gone->user, NULL);
    free(gone);
}

void call_registry_release(Str name)
{
    let_go(name, 1, false);
}

void call_registry_drop(Str name)
{
    let_go(name, 0, true);
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

static _Thread_local int ncalls; /* of this thread, one inside the other */

bool call_is_under_way(void)
{
    return ncalls > 0;
}

Floats foreign_enter(void)
{
    ncalls++;
    return floats_enter_foreign();
}

void foreign_leave(Floats before)
{
    ncalls--;
    floats_restore(before);
}

/* The device whose call it is; -1: there is one, or the call is on whole arrays, for all. */
static int device_of(const Frame *f)
{
    return f && f->program->ndevices > 1 ? f->device : -1;
}

/* Finds the function that n names and calls it; *call has its operands. */
static Error *call_function(const Node *n, TuttiCall *call)
{
    Str target = ((const CustomCallAttrs *)n->attrs)->call_target_name;
    TuttiFunction *function;
    void *user;
    if (!call_registry_find(target, &function, &user) || !function)
        return error_new(CODE_NOT_FOUND, "custom_call @%.*s, at %s: no function has that name",
                         STR_ARG(target), loc_name(n->loc));
    char message[2000] = "";
    call->message = message;
    call->room = sizeof message;
    Floats before = foreign_enter();
    int32_t failed = function(user, call);
    foreign_leave(before);
    if (!failed)
        return NULL;
    message[sizeof message - 1] = 0;
    if (failed == TUTTI_CALL_FAILED_THERE)
        return error_new(CODE_INTERNAL, "%s", message);
    return error_new(CODE_INTERNAL, "custom_call @%.*s, at %s: %s", STR_ARG(target),
                     loc_name(n->loc), *message ? message : "failed");
}

Error *call_registered(const Frame *f, const Node *n, const Tensor *in, Tensor *out)
{
    TuttiOperand *arrays = calloc((size_t)(n->nin + n->nout) + 1, sizeof *arrays);
    if (!arrays)
        return error_new(CODE_EXHAUSTED, "no memory for the operands of a custom call");
    TuttiCall call = { .args = arrays, .results = arrays + n->nin };
    call.device = device_of(f);
    call.is_first = !f || (f->partition == 0 && f->replica == 0);
    call.launch = f ? f->launch : 0;
    call.nargs = operands(n->nin, in, arrays);
    call.nresults = operands(n->nout, out, arrays + n->nin);
    Error *error = call_function(n, &call);
    free(arrays);
    return error;
}

Error *call_with_bytes(const Node *n, Str bytes)
{
    int64_t size = (int64_t)bytes.n;
    TuttiOperand operand = { (PJRT_Buffer_Type)element_info[U8].pjrt, 1, &size, (void *)bytes.at };
    TuttiCall call = { .nargs = 1, .args = &operand, .device = -1, .is_first = true };
    return call_function(n, &call);
}
