/* compiled_fn.c - one function for one signature: made once, run often.
 *
 *     make:   trace -> transform            -> lower          -> compile
 *             fn_graph, in a session          lower             client_compile
 *     run:    arguments laid out as wanted  -> execute        -> results wrapped
 */
#include "front/run/compiled_fn.h"

#include "base/guard.h"
#include "base/sync.h"
#include "front/run/line_order.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "hlo/bind_arguments.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static void *keep(const void *data, size_t bytes)
{
    void *copy = heap_new(bytes + 1, "a program");
    if (bytes)
        memcpy(copy, data, bytes);
    return copy;
}

#define KEEP(at, n) keep((at), sizeof *(at) * (size_t)(n))

/* Which leaves the program may consume; in the session's arena. */
static bool *donated_leaves(tt_fn f, const Leaves *leaves)
{
    bool *donated = NULL;
    for (int i = 0; i < leaves->n; i++) {
        int within, argument = leaf_argument(leaves, i, &within);
        if (!(f->key.donate >> argument & 1))
            continue;
        if (!donated)
            donated = ARENA_ARRAY(trace_arena(), bool, leaves->n);
        donated[i] = true;
    }
    return donated;
}

/* A program being made: what is asked for, and what is there when the guard has ended. */
typedef struct Making {
    tt_fn f;
    const Leaves *leaves;
    const ArrayLayout *const *layouts;
    Lowered lowered;
    CompiledFn *program; /* all but its code and what it captures */
    bool wants_text;     /* and no program */
    bool is_closed;      /* what it captured is to be in the text */
} Making;

static CompiledFn *compiled_fn_of(const Graph *g, const Lowered *lowered, const bool *donated)
{
    CompiledFn *p = heap_new(sizeof *p, "a program");
    atomic_init(&p->holders, 1);
    p->ndevices = lowered->ndevices;
    p->nleaves = g->nleaves;
    p->nargs = lowered->nargs;
    p->nresults = lowered->nresults;
    p->nslots = graph_slots(g);
    p->absent = g->absent ? KEEP(g->absent, g->nslots) : NULL;
    p->is_awaited = session->is_awaited;
    p->args = KEEP(lowered->args, p->nargs);
    p->results = KEEP(lowered->results, p->nresults);
    p->is_weak = KEEP(g->is_weak, p->nresults);
    p->donated = donated ? KEEP(donated, p->nleaves) : NULL;
    p->captured = HEAP_ARRAY(Array *, p->nargs - p->nleaves + 1, "a program");
    p->types = KEEP(lowered->types, p->nresults);
    for (int i = 0; i < p->nresults; i++)
        p->types[i].dims = KEEP(lowered->types[i].dims, lowered->types[i].rank);
    return p;
}

/* Captured arrays, which are hidden arguments, become constants of the text.  False: reported. */
static bool close_text(Lowered *l, int nleaves)
{
    Module *m = NULL;
    Text text = { 0 };
    Error *error = read_program(l->text.at, l->text.n, "a program", &m);
    bool is_read = !error;
    const Dense **values = m ? ARENA_ARRAY(m->arena, const Dense *, l->nargs + 1) : NULL;
    for (int i = nleaves; is_read && i < l->nargs; i++) {
        Array *array = session->captured[l->captured[i - nleaves]].array;
        char *data = ARENA_ARRAY(m->arena, char, type_bytes(array->type) + 1);
        Dense *value = ARENA_NEW(m->arena, Dense);
        *value = (Dense){ .type = array->type, .data = data };
        values[i] = value;
        is_read = array_read(array, data);
    }
    if (is_read)
        error = module_bind_arguments(m, values);
    if (error)
        report_error(error);
    if (is_read && !error) {
        module_print(&text, m, true);
        text_free(&l->text);
        l->text = text;
    }
    module_free(m);
    return is_read && !error;
}

static void trace_and_lower(void *user)
{
    Making *w = user;
    /* A C function records in its caller's frame: here that is the frame of the call. */
    tt_fn f = w->f;
    bool is_jit = f->key.kind == FN_JIT;
    Trace frame = { .file = f->file, .line = f->line };
    if (is_jit || f->key.kind == FN_C || f->key.kind == FN_CLOSURE) {
        frame.how = is_jit ? f->how : "call";
        frame.name = is_jit ? f->key.inner->label : f->label;
    }
    if (f->fun) {
        frame.call_file = call_site.file;
        frame.call_line = call_site.line;
    }
    unsigned before = report_count();
    CallSite at = call_site;
    Graph g;
    const bool *donated = donated_leaves(w->f, w->leaves);
    frame_push(&frame);
    bool ok = fn_graph(w->f, w->leaves, &g) && report_count() == before;
    frame_pop(&frame);
    call_site = at;
    ok = ok && lower_graph(w->f, &g, w->layouts, donated, &w->lowered);
    if (ok && w->is_closed && !close_text(&w->lowered, w->leaves->n))
        text_free(&w->lowered.text);
    if (ok && !w->wants_text)
        w->program = compiled_fn_of(&g, &w->lowered, donated);
}

CompiledFn *compiled_fn_hold(CompiledFn *p)
{
    /* relaxed: the caller has a hold, or the lock under which the table's is let go */
    atomic_fetch_add_explicit(&p->holders, 1, memory_order_relaxed);
    return p;
}

void compiled_fn_release(CompiledFn *p)
{
    /* acq_rel: all use by others comes before the end */
    if (atomic_fetch_sub_explicit(&p->holders, 1, memory_order_acq_rel) > 1)
        return;
    if (p->code)
        client_end(p->code);
    for (int i = 0; i < p->nresults; i++)
        heap_free((void *)p->types[i].dims);
    for (int i = 0; i < p->nargs - p->nleaves; i++)
        if (p->captured[i])
            array_release(p->captured[i]);
    heap_free(p->captured);
    heap_free(p->args);
    heap_free(p->results);
    heap_free(p->is_weak);
    heap_free(p->absent);
    heap_free(p->types);
    heap_free(p->donated);
    free(p->key);
    heap_free(p);
}

static bool compile_lowered(CompiledFn *p, tt_fn f, const Lowered *lowered)
{
    Error *error = client_compile((Str){ lowered->text.at, lowered->text.n }, p->ndevices,
                                  lowered->devices, p->nargs, p->nresults, &p->code);
    if (error)
        report_error(error_in(error, "%s", f->label));
    for (int i = 0; !error && i < p->nargs - p->nleaves; i++) {
        Array *array = session->captured[lowered->captured[i]].array;
        p->captured[i] = array_reshard(array, p->args[p->nleaves + i]);
        if (!p->captured[i])
            return false;
    }
    return !error;
}

/* Traces and lowers in a session of its own.  What user code does between is under no guard; when
 * there is no memory for what we do, all is undone. */
static void trace_lower_compile(Making *w)
{
    Error *error = client_need();
    if (error)
        report_error(error);
    if (error || !session_begin(w->f->label))
        return;
    if (!library_guard(w->f->label, trace_and_lower, w)) {
        w->program = NULL;
        w->lowered = (Lowered){ 0 };
    } else if (w->program && !compile_lowered(w->program, w->f, &w->lowered)) {
        compiled_fn_release(w->program);
        w->program = NULL;
    }
    session_end();
}

CompiledFn *compiled_fn_make(tt_fn f, const Leaves *leaves, const ArrayLayout *const *layouts)
{
    Making w = { .f = f, .leaves = leaves, .layouts = layouts };
    trace_lower_compile(&w);
    text_free(&w.lowered.text);
    return w.program;
}

Text compiled_fn_text(tt_fn f, const Leaves *leaves, const ArrayLayout *const *layouts,
                      bool is_closed)
{
    Making w = {
        .f = f, .leaves = leaves, .layouts = layouts, .wants_text = true, .is_closed = is_closed
    };
    trace_lower_compile(&w);
    return w.lowered.text;
}

/* ---- running ---- */

/* What one call hands to the executable. */
typedef struct ExecuteArgs {
    const CompiledFn *p;
    Array **args;  /* [nargs], as they are passed */
    bool *is_ours; /* [nargs]: laid out for this run; to be let go */
    int64_t *kept; /* donated arguments that have another holder */
    int nkept;
} ExecuteArgs;

static void report_no_memory(const CompiledFn *p)
{
    report_broken("no memory on the host for a call with %d arrays and %d results on %d devices",
                  p->nargs, p->nresults, p->ndevices);
}

static bool reshard_arguments(ExecuteArgs *x, Array *const *leaves)
{
    const CompiledFn *p = x->p;
    for (int i = 0; i < p->nargs; i++) {
        Array *a = i < p->nleaves ? leaves[i] : p->captured[i - p->nleaves];
        bool is_sole = i < p->nleaves && p->donated && p->donated[i] && array_is_sole(a);
        if (a->layout != p->args[i]) {
            a = array_reshard(a, p->args[i]);
            if (!a)
                return false;
            x->is_ours[i] = true;
            is_sole = false;
        }
        x->args[i] = a;
        if (i < p->nleaves && p->donated && p->donated[i] && !is_sole)
            x->kept[x->nkept++] = i;
    }
    return true;
}

/* What one argument gives away no other may use.  False: reported. */
static bool is_donated_once(const ExecuteArgs *x, const char *label)
{
    const CompiledFn *p = x->p;
    for (int i = 0, k = 0; p->donated && i < p->nleaves; i++) {
        bool is_kept = k < x->nkept && x->kept[k] == i;
        k += is_kept;
        for (int j = 0; p->donated[i] && !is_kept && j < p->nargs; j++)
            if (j != i && x->args[j] == x->args[i])
                return report_broken(
                           "%s: arguments %d and %d are the same %s, which is donated: pass "
                           "a copy, or leave .donate out",
                           label, j < i ? j : i, j < i ? i : j, type_text(x->args[i]->type)),
                       false;
    }
    return true;
}

static bool execute_on_devices(ExecuteArgs *x, int id, Scratch *scratch, PJRT_Buffer **results)
{
    const CompiledFn *p = x->p;
    PJRT_Buffer **in = SCRATCH(scratch, PJRT_Buffer *, (size_t)p->ndevices * (size_t)p->nargs);
    PJRT_Buffer *const **ins = SCRATCH(scratch, PJRT_Buffer *const *, p->ndevices);
    PJRT_Buffer ***outs = SCRATCH(scratch, PJRT_Buffer **, p->ndevices);
    if (!in || !ins || !outs)
        return report_no_memory(p), false;
    for (int i = 0; i < p->nargs; i++) {
        PJRT_Buffer *const *buffers = array_buffers(x->args[i]);
        if (!buffers)
            return false;
        for (int d = 0; d < p->ndevices; d++)
            in[(size_t)d * (size_t)p->nargs + (size_t)i] = buffers[d];
    }
    for (int d = 0; d < p->ndevices; d++) {
        ins[d] = in + (size_t)d * (size_t)p->nargs;
        outs[d] = results + (size_t)d * (size_t)p->nresults;
    }
    Error *error = client_execute(p->code, ins, outs, x->nkept, x->kept, id);
    if (error)
        report_error(error);
    return !error;
}

/* Devices of a program for several are numbered from 0 on, process by process. */
static void begin_lines(const CompiledFn *p, LineOrder *order)
{
    int first = 0, n = 0;
    for (int d = 0; d < p->ndevices; d++)
        if (client_process_of(d) == client_process())
            first = n++ ? first : d;
    line_order_begin(order, first, n);
}

/* What a run gave: buffers [device][result], and room for what they become. */
typedef struct Wrapped {
    PJRT_Buffer **buffers, **of_one;
    Array **arrays;
    tt *values;
} Wrapped;

/* Buffers become arrays, arrays values.  False: reported, and there is none. */
static bool wrap_results(const CompiledFn *p, const Wrapped *w, tt *results)
{
    bool ok = true;
    for (int i = 0; i < p->nresults; i++) {
        for (int d = 0; d < p->ndevices; d++)
            w->of_one[d] = w->buffers[(size_t)d * (size_t)p->nresults + (size_t)i];
        w->arrays[i] = array_new(p->types[i], p->results[i], w->of_one);
        ok &= w->arrays[i] != NULL;
    }
    for (int i = 0; i < p->nresults && !ok; i++)
        if (w->arrays[i])
            array_release(w->arrays[i]);
    if (!ok)
        return false;
    values_of_arrays(p->nresults, w->arrays, p->is_weak, w->values);
    for (int i = 0, at = 0; i < p->nresults; i++, at++) {
        while (p->absent && p->absent[at])
            at++; /* it stays all zero */
        results[at] = w->values[i];
        ok &= results[at].slot != 0;
        if (p->is_awaited && ok)
            ok = array_wait(w->arrays[i]);
    }
    return ok;
}

bool compiled_fn_call(const CompiledFn *p, const char *label, Array *const *leaves,
                      Scratch *scratch, tt *results)
{
    ExecuteArgs x = { .p = p,
                      .args = SCRATCH(scratch, Array *, p->nargs),
                      .is_ours = SCRATCH(scratch, bool, p->nargs),
                      .kept = SCRATCH(scratch, int64_t, p->nargs) };
    size_t nbuffers = (size_t)p->ndevices * (size_t)p->nresults;
    Wrapped w = { .buffers = SCRATCH(scratch, PJRT_Buffer *, nbuffers),
                  .of_one = SCRATCH(scratch, PJRT_Buffer *, p->ndevices),
                  .arrays = SCRATCH(scratch, Array *, p->nresults),
                  .values = SCRATCH(scratch, tt, p->nresults) };
    if (!x.args || !x.is_ours || !x.kept || !w.buffers || !w.of_one || !w.arrays || !w.values)
        return report_no_memory(p), false;
    memset(x.is_ours, 0, sizeof *x.is_ours * (size_t)p->nargs);
    for (size_t k = 0; k < nbuffers; k++)
        w.buffers[k] = NULL; /* of devices in other processes they stay so */
    LineOrder order;
    if (p->is_awaited)
        begin_lines(p, &order);
    bool ok = reshard_arguments(&x, leaves) && is_donated_once(&x, label) &&
              execute_on_devices(&x, p->is_awaited ? order.id : 0, scratch, w.buffers);
    for (int i = 0, k = 0; i < p->nargs; i++) {
        bool is_kept = k < x.nkept && x.kept[k] == i;
        k += is_kept;
        if (ok && i < p->nleaves && p->donated && p->donated[i] && !is_kept)
            atomic_store(&x.args[i]->is_donated, true);
        if (x.is_ours[i])
            array_release(x.args[i]);
    }
    ok = ok && wrap_results(p, &w, results);
    if (p->is_awaited)
        line_order_end(&order);
    return ok;
}

/* ---- the programs there are: a hash table, and a list in the order of their last use ----
 *
 *     buckets[hash] -> p3 -> p1             newest -> p1 <-> p2 <-> p3 <- oldest
 *
 * A function may be called with ever new shapes, and each has its program (about 80 KB, with its
 * code): so only so many are kept, and the one used longest ago goes.  A call holds its program
 * while it runs it, so a program that is dropped meanwhile ends after that. */

enum { BUCKETS = 1024 };

int compiled_fn_most = 2048;

static Lock lock; /* guards all below, and the links of programs */
static CompiledFn *buckets[BUCKETS];
static CompiledFn *newest, *oldest;
static int nprograms;

static void unlink_use(CompiledFn *p)
{
    *(p->newer ? &p->newer->older : &newest) = p->older;
    *(p->older ? &p->older->newer : &oldest) = p->newer;
}

static void link_newest(CompiledFn *p)
{
    p->newer = NULL;
    p->older = newest;
    *(newest ? &newest->newer : &oldest) = p;
    newest = p;
}

/* Takes the program used longest ago from table and list; its hold is the caller's. */
static CompiledFn *take_oldest(void)
{
    CompiledFn *p = oldest;
    CompiledFn **at = &buckets[p->hash % BUCKETS];
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    unlink_use(p);
    nprograms--;
    return p;
}

CompiledFn *compiled_fn_find(const Signature *s)
{
    lock_take(&lock);
    CompiledFn *p = buckets[s->hash % BUCKETS];
    while (p && !(p->hash == s->hash && p->key_size == s->n && memcmp(p->key, s->at, s->n) == 0))
        p = p->next;
    if (p) {
        compiled_fn_hold(p);
        if (p != newest) {
            unlink_use(p);
            link_newest(p);
        }
    }
    lock_give(&lock);
    return p;
}

void compiled_fn_drop(void)
{
    for (;;) {
        lock_take(&lock);
        CompiledFn *gone = oldest ? take_oldest() : NULL;
        lock_give(&lock);
        if (!gone)
            return;
        compiled_fn_release(gone);
    }
}

bool compiled_fn_add(CompiledFn *p, const Signature *s)
{
    void *copy = malloc(s->n + 1);
    if (!copy)
        return false;
    memcpy(copy, s->at, s->n);
    p->key = copy;
    p->key_size = s->n;
    p->hash = s->hash;
    lock_take(&lock);
    CompiledFn *gone = oldest && nprograms >= compiled_fn_most ? take_oldest() : NULL;
    p->next = buckets[s->hash % BUCKETS];
    buckets[s->hash % BUCKETS] = compiled_fn_hold(p);
    link_newest(p);
    nprograms++;
    lock_give(&lock);
    if (gone)
        compiled_fn_release(gone);
    return true;
}
