/* services.c - what a handler may ask for while it runs: errors, memory, states, threads.
 *
 * There is no pool for its tasks: they run on the thread that schedules them, as the ABI allows. */
#include "base/sync.h"
#include "engine/custom_call.h"
#include "engine/ffi/ffi.h"
#include "engine/slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

struct FfiError {
    int code;
    char message[];
};

static FfiError no_memory = { .code = CODE_EXHAUSTED };

static FfiError *fail(int code, const char *message)
{
    size_t n = strlen(message) + 1;
    FfiError *error = malloc(sizeof *error + n);
    if (!error)
        return &no_memory;
    error->code = code;
    memcpy(error->message, message, n);
    return error;
}

static FfiError *error_create(FfiErrorCreate *a)
{
    return fail(a->code, a->message ? a->message : "");
}

static void error_message(FfiErrorMessage *a)
{
    a->message = a->error == &no_memory ? "no memory" : a->error->message;
}

static void error_destroy(FfiErrorDestroy *a)
{
    if (a->error != &no_memory)
        free(a->error);
}

Error *ffi_error(FfiError *error)
{
    if (!error)
        return NULL;
    FfiErrorMessage asked = { .error = error };
    error_message(&asked);
    ErrorCode code = error->code > 0 && error->code <= 16 ? (ErrorCode)error->code : CODE_INTERNAL;
    Error *own = error_new(code, "%s", asked.message);
    error_destroy(&(FfiErrorDestroy){ .error = error });
    return own;
}

/* An error of ours, for the handler. */
static FfiError *told(Error *error)
{
    if (!error)
        return NULL;
    FfiError *theirs = fail((int)error_code(error), error_text(error));
    error_free(error);
    return theirs;
}

/* ---- types of states ---- */

typedef struct StateType {
    struct StateType *next;
    int64_t id;
    void (*destroy)(void *object);
    size_t n;
    char name[];
} StateType;

static Lock types_lock; /* of all that follows; entries stay */
static StateType *types;
static int64_t last_type = 1 << 20; /* above those that XLA gives */

static StateType *type_find(Str name, int64_t id)
{
    StateType *t = types;
    while (t && t->id != id && !(t->n == name.n && memcmp(t->name, name.at, name.n) == 0))
        t = t->next;
    return t;
}

Error *type_add(Str name, int64_t *id, void (*destroy)(void *object))
{
    StateType *fresh = malloc(sizeof *fresh + name.n);
    if (!fresh)
        return error_new(CODE_EXHAUSTED, "no memory for the type %.*s", STR_ARG(name));
    *fresh = (StateType){ .id = *id, .destroy = destroy, .n = name.n };
    memcpy(fresh->name, name.at, name.n);
    lock_take(&types_lock);
    StateType *known = type_find(name, *id ? *id : -1);
    if (!known) {
        if (!fresh->id)
            fresh->id = ++last_type;
        fresh->next = types;
        types = fresh;
    }
    int64_t given = known ? known->id : fresh->id;
    bool is_same = !known || (known->n == name.n && memcmp(known->name, name.at, name.n) == 0 &&
                              (*id == 0 || *id == known->id));
    lock_give(&types_lock);
    if (known)
        free(fresh);
    if (!is_same)
        return error_new(CODE_INVALID,
                         "the type %.*s is to have the number %lld; that name or that number is "
                         "another's, which has %lld",
                         STR_ARG(name), (long long)*id, (long long)given);
    *id = given;
    return NULL;
}

static FfiError *type_register(FfiTypeRegister *a)
{
    return told(type_add((Str){ a->name.at, a->name.n }, a->id, a->info ? a->info->destroy : NULL));
}

void state_free(State *state)
{
    lock_take(&types_lock);
    const StateType *type = state->type ? type_find((Str){ NULL, SIZE_MAX }, state->type) : NULL;
    lock_give(&types_lock);
    if (type && type->destroy && state->object)
        type->destroy(state->object);
    *state = (State){ 0 };
}

/* NULL: there is no such stage. */
static State *state_of(FfiContext *context, FfiStage stage)
{
    if ((unsigned)stage >= FFI_STAGES)
        return NULL;
    return stage == FFI_INSTANTIATE ? &context->site->state : &context->states[stage];
}

static FfiError *state_set(FfiState *a)
{
    State *state = state_of(a->context, a->stage);
    if (!state)
        return fail(CODE_INVALID, "there is no such stage");
    if (state->type)
        return fail(CODE_INVALID, "the state of this stage is set already");
    *state = (State){ *a->type, a->state };
    return NULL;
}

static FfiError *state_get(FfiState *a)
{
    const State *state = state_of(a->context, a->stage);
    if (!state || !state->type)
        return fail(CODE_NOT_FOUND, "the state of this stage is not set");
    if (state->type != *a->type)
        return fail(CODE_INVALID, "the state of this stage has another type");
    a->state = state->object;
    return NULL;
}

static FfiError *context_get(FfiContextGet *a)
{
    (void)a;
    return fail(CODE_NOT_FOUND, "the caller gave the run no object of this type");
}

/* ---- memory and threads ---- */

static FfiError *allocate(FfiAllocate *a)
{
    size_t alignment = a->alignment < 64 ? 64 : a->alignment;
    if (alignment & (alignment - 1) || a->bytes > SIZE_MAX - alignment)
        return fail(CODE_INVALID, "memory is asked for with an alignment that is no power of two");
    a->data = aligned_alloc(alignment, (a->bytes + alignment - 1) & ~(alignment - 1));
    return a->data || !a->bytes ? NULL : fail(CODE_EXHAUSTED, "no memory for the handler");
}

static FfiError *give_back(FfiFree *a)
{
    free(a->data);
    return NULL;
}

static FfiError *schedule(FfiSchedule *a)
{
    a->task(a->data);
    return NULL;
}

static FfiError *threads(FfiThreads *a)
{
    *a->n = slices_workers(a->context->frame);
    return NULL;
}

static FfiError *stream(FfiStream *a)
{
    a->stream = NULL;
    return fail(CODE_UNIMPLEMENTED, "a CPU has no streams");
}

static FfiError *run(FfiRun *a)
{
    a->run = (int64_t)(uintptr_t)a->context->frame;
    return NULL;
}

static FfiError *device(FfiDevice *a)
{
    const Frame *f = a->context->frame;
    a->device = f ? f->replica * f->program->npartitions + f->partition : 0;
    return NULL;
}

static FfiError *handler_register(FfiRegister *a)
{
    return told(handler_add((Str){ a->name.at, a->name.n }, a->stages));
}

/* ---- futures ---- */

struct FfiFuture {
    _Atomic int is_over; /* 1: it is, and `error` is written; waited for */
    FfiError *error;
};

static FfiError *future_create(FfiFutureCall *a)
{
    a->future = calloc(1, sizeof *a->future);
    return a->future ? NULL : fail(CODE_EXHAUSTED, "no memory for a future");
}

static void future_over(FfiFuture *future, FfiError *error)
{
    future->error = error;
    /* release: pairs with the acquire of future_wait, which reads the error and the results, and may
     * free the future at once: address_wake only names the address. */
    atomic_store_explicit(&future->is_over, 1, memory_order_release);
    address_wake(&future->is_over, WAKE_ALL);
}

static FfiError *future_end(FfiFutureCall *a)
{
    future_over(a->future, NULL);
    return NULL;
}

static FfiError *future_fail(FfiFutureCall *a)
{
    future_over(a->future, a->error);
    return NULL;
}

Error *future_wait(FfiFuture *future)
{
    if (!future)
        return NULL;
    /* acquire: pairs with the release in future_over */
    while (!atomic_load_explicit(&future->is_over, memory_order_acquire))
        address_wait(&future->is_over, 0);
    Error *error = ffi_error(future->error);
    free(future);
    return error;
}

const FfiTable ffi_table = {
    .struct_size = sizeof(FfiTable),
    .version = { .struct_size = sizeof(FfiVersion), .major = FFI_MAJOR, .minor = FFI_MINOR },
    .error_create = error_create,
    .error_message = error_message,
    .error_destroy = error_destroy,
    .handler_register = handler_register,
    .stream = stream,
    .type_register = type_register,
    .context_get = context_get,
    .state_set = state_set,
    .state_get = state_get,
    .allocate = allocate,
    .free = give_back,
    .schedule = schedule,
    .threads = threads,
    .future_create = future_create,
    .future_end = future_end,
    .future_fail = future_fail,
    .run = run,
    .device = device,
};
