/* compile_fuzz.c - whatever text comes in, reading, checking, compiling and running it returns.
 *
 * A libFuzzer target over the whole engine: programs small enough are compiled and, on devices
 * with little memory, run on arguments made up here; a loop that does not end is stopped.  LLVM and
 * the engine are linked as they are built for the other tests with sanitizers, so what is new about
 * an input is told not by instrumented code but here: which operations, on which elements, came how
 * far, and what was said.  mutate.h makes the changes. */
#include "engine/compile.h"
#include "engine/exec/launch.h"
#include "tests/fuzz/mutate.h"

#include <time.h>

enum { LONGEST = 8192, MOST_NODES = 300, MOST_BYTES = 1 << 16, MOST_DEVICES = 4, MOST_ARRAYS = 16 };
enum { DEVICE_BYTES = 16 << 20, WAIT_MS = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t room, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t room);

/* ---- what is new ---- */

enum { NCOUNTERS = 1 << 16 };
__attribute__((section("__libfuzzer_extra_counters"), used)) static uint8_t counters[NCOUNTERS];

typedef enum Stage { READ, CHECKED, COMPILED, RAN, FAILED } Stage;

static void note(uint32_t x)
{
    counters[x * 2654435761u >> 16] = 1;
}

static void note_module(const Module *m, Stage stage)
{
    for (uint32_t i = 1; i < m->nnodes; i++) {
        const Node *n = &m->nodes[i];
        Element e = n->nout  ? type_of(m, n->out).element
                    : n->nin ? type_of(m, n->in[0]).element
                             : I1;
        note((uint32_t)n->op << 16 | (uint32_t)e << 8 | (uint32_t)stage << 4);
        NodeId from = n->nin ? value_def(m, n->in[0]) : 0; /* what feeds what is what is fused */
        note((uint32_t)n->op << 16 | (uint32_t)(from ? m->nodes[from].op : 0) << 4 | 8 | stage);
    }
}

/* A message without its numbers. */
static void note_error(const Error *error)
{
    uint32_t hash = 1;
    for (const char *c = error_text(error); *c; c++)
        if (!isdigit((unsigned char)*c))
            hash = hash * 31 + (unsigned char)*c;
    note(hash);
}

/* ---- small enough ---- */

static bool is_small(const Module *m)
{
    if (m->nnodes > MOST_NODES || m->nreplicas * m->npartitions > MOST_DEVICES)
        return false;
    size_t bytes = 0;
    for (uint32_t i = 1; i < m->nvalues; i++) {
        if (!type_is_static(m->values[i].type))
            continue;
        size_t own = type_bytes(m->values[i].type);
        if (own > MOST_BYTES || (bytes += own) > 16 * MOST_BYTES)
            return false;
    }
    const Func *main = func_find(m, STR("main"));
    return main && main->body && main->nresults <= MOST_ARRAYS &&
           region_at(m, main->body)->nargs <= MOST_ARRAYS;
}

/* ---- running ---- */

typedef struct Trial {
    const Program *p;
    Executor *e;
    Buffer *args[MOST_DEVICES][MOST_ARRAYS], *outs[MOST_DEVICES][MOST_ARRAYS];
    Event *done[MOST_DEVICES];
} Trial;

static Error *make_arguments(Trial *y)
{
    static char data[MOST_BYTES];
    for (int d = 0; d < y->p->ndevices; d++)
        for (int i = 0; i < y->p->nargs; i++) {
            Type t = y->p->args[i].local;
            for (size_t k = 0; k < type_bytes(t) && k < sizeof data; k++)
                data[k] = (char)(t.element == I1 ? k & 1 : k * 37 + (size_t)i);
            if (type_bytes(t) > sizeof data)
                return error_new(CODE_INVALID, "an argument too large for this test");
            TRY(buffer_from_host(executor_device(y->e, d), t, data, NULL, &y->args[d][i]));
        }
    return NULL;
}

/* Until all are done, but not for ever: freeing the executor stops what still runs. */
static void await_some(Trial *y)
{
    for (int ms = 0; ms < WAIT_MS; ms++) {
        bool is_done = true;
        for (int d = 0; d < y->p->ndevices; d++)
            is_done &= event_is_ready(y->done[d]);
        if (is_done)
            return;
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
}

static Error *launch_and_await(Trial *y)
{
    Buffer *const *args[MOST_DEVICES], **outs[MOST_DEVICES];
    Device *devices[MOST_DEVICES];
    for (int d = 0; d < y->p->ndevices; d++) {
        args[d] = y->args[d];
        outs[d] = y->outs[d];
        devices[d] = executor_device(y->e, d);
    }
    Launch l = { .program = y->p, .devices = devices, .args = args, .outs = outs, .done = y->done };
    TRY(launch_start(y->e, &l));
    await_some(y);
    Error *error = event_is_ready(y->done[0]) ? event_error(y->done[0]) : NULL;
    for (int d = 0; d < y->p->ndevices; d++)
        event_release(y->done[d]);
    return error;
}

static Error *run(const Program *p)
{
    static Trial y;
    y = (Trial){ .p = p };
    TRY(executor_new(p->ndevices, 1, DEVICE_BYTES, &y.e));
    Error *error = make_arguments(&y);
    if (!error)
        error = launch_and_await(&y);
    for (int d = 0; d < p->ndevices; d++)
        for (int i = 0; i < MOST_ARRAYS; i++) {
            if (y.args[d][i])
                buffer_free(y.args[d][i]);
            if (y.outs[d][i])
                buffer_free(y.outs[d][i]);
        }
    executor_free(y.e);
    return error;
}

/* ---- the target ---- */

static Error *read_and_check(const char *bytes, size_t n, bool *is_worth)
{
    Module *m = NULL;
    TRY(read_text(bytes, n, "fuzz", &m));
    note_module(m, READ);
    Error *error = module_check(m);
    if (!error) {
        note_module(m, CHECKED);
        *is_worth = is_small(m);
    }
    module_free(m);
    return error;
}

static Error *compile_and_run(const char *bytes, size_t n)
{
    Program *p = NULL;
    Source s = { .bytes = { bytes, n }, .options = { .name = "fuzz", .no_fold = n & 1 } };
    TRY(compile_program(&s, &p));
    note_module(p->module, COMPILED);
    Error *error = p->slab_bytes < DEVICE_BYTES ? run(p) : NULL;
    note_module(p->module, error ? FAILED : RAN);
    program_free(p);
    return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    bool is_worth = false;
    if (n > LONGEST)
        return -1;
    Error *error = read_and_check((const char *)bytes, n, &is_worth);
    if (!error && is_worth)
        error = compile_and_run((const char *)bytes, n);
    if (error)
        note_error(error);
    error_free(error);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t room, unsigned seed)
{
    room = room < LONGEST ? room : LONGEST;
    if (n > room || seed % 16 == 0)
        return LLVMFuzzerMutate(data, n < room ? n : room, room);
    return mutate_program(data, n, room, seed);
}
