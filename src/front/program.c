/* program.c - one function for one signature: made once, played often.
 *
 *     make:   trace -> transform            -> lower          -> compile
 *             fn_graph, in a session          lower             client_compile
 *     run:    arguments laid out as wanted  -> execute        -> results wrapped
 */
#include "front/program.h"

#include "base/fail.h"
#include "front/say.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static void *keep(const void *data, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    if (!copy)
        fail("no memory for a program's %zu bytes", bytes);
    if (bytes)
        memcpy(copy, data, bytes);
    return copy;
}

#define KEEP(at, n) keep((at), sizeof *(at) * (size_t)(n))

/* Which leaves the program may consume. */
static bool *donated_leaves(tt_fn f, const Leaves *leaves)
{
    bool *donated = NULL;
    for (int i = 0; i < leaves->n; i++) {
        int within, argument = leaf_argument(leaves, i, &within);
        if (!(f->key.donate >> argument & 1))
            continue;
        if (!donated)
            donated = calloc((size_t)leaves->n, sizeof *donated);
        if (!donated)
            fail("no memory for %d leaves", leaves->n);
        donated[i] = true;
    }
    return donated;
}

/* C functions record in the frame of whoever wants them; here that is the call. */
static Trace call_frame(tt_fn f)
{
    bool is_jit = f->key.kind == FN_JIT;
    Trace frame = { .file = f->file, .line = f->line };
    if (is_jit || f->key.kind == FN_C) {
        frame.how = is_jit ? f->how : "call";
        frame.name = is_jit ? f->key.inner->label : f->label;
    }
    return frame;
}

static bool trace_and_lower(tt_fn f, const Leaves *leaves, const Layout *const *layouts,
                            const bool *donated, Graph *g, Lowered *lowered)
{
    Trace frame = call_frame(f);
    unsigned before = said_count();
    Here at = here;
    frame_push(&frame);
    bool ok = fn_graph(f, leaves, g) && said_count() == before;
    frame_pop(&frame);
    here = at;
    return ok && lower(f, g, layouts, donated, lowered);
}

static bool take_captured(Program *p, const Lowered *lowered)
{
    int n = p->nargs - p->nleaves;
    p->captured = calloc((size_t)(n + 1), sizeof *p->captured);
    if (!p->captured)
        fail("no memory for %d captured arrays", n);
    for (int i = 0; i < n; i++) {
        Array *array = session->captured[lowered->captured[i]].array;
        p->captured[i] = array_relay(array, p->args[p->nleaves + i]);
        if (!p->captured[i])
            return false;
    }
    return true;
}

static void copy_types(Program *p, const Type *types)
{
    p->types = KEEP(types, p->nresults);
    for (int i = 0; i < p->nresults; i++)
        p->types[i].dims = KEEP(types[i].dims, types[i].rank);
}

/* One that could not be finished. */
static void program_free(Program *p)
{
    for (int i = 0; i < p->nresults; i++)
        free((void *)p->types[i].dims);
    for (int i = 0; p->captured && i < p->nargs - p->nleaves; i++)
        if (p->captured[i])
            array_release(p->captured[i]);
    free(p->captured);
    free(p->args);
    free(p->results);
    free(p->is_weak);
    free(p->types);
    free(p);
}

static Program *program_of(tt_fn f, const Graph *g, const Lowered *lowered)
{
    Program *p = calloc(1, sizeof *p);
    if (!p)
        fail("no memory for a program");
    p->ndevices = lowered->ndevices;
    p->nleaves = g->nleaves;
    p->nargs = lowered->nargs;
    p->nresults = lowered->nresults;
    p->args = KEEP(lowered->args, p->nargs);
    p->results = KEEP(lowered->results, p->nresults);
    p->is_weak = KEEP(g->is_weak, p->nresults);
    copy_types(p, lowered->types);
    Error *error = client_compile((Str){ lowered->text.at, lowered->text.n }, p->ndevices,
                                  lowered->devices, p->nargs, p->nresults, &p->code);
    if (error)
        say_error(error_in(error, "%s", f->label));
    if (!error && take_captured(p, lowered))
        return p;
    program_free(p);
    return NULL;
}

Program *program_make(tt_fn f, const Leaves *leaves, const Layout *const *layouts)
{
    Error *error = client_need();
    if (error) {
        say_error(error);
        return NULL;
    }
    Session s;
    Graph g;
    Lowered lowered = { 0 };
    bool *donated = donated_leaves(f, leaves);
    Program *p = NULL;
    session_begin(&s);
    if (trace_and_lower(f, leaves, layouts, donated, &g, &lowered))
        p = program_of(f, &g, &lowered);
    session_end(&s);
    text_free(&lowered.text);
    if (p)
        p->donated = donated;
    else
        free(donated);
    return p;
}

Text program_text(tt_fn f, const Leaves *leaves, const Layout *const *layouts)
{
    Session s;
    Graph g;
    Lowered lowered = { 0 };
    Error *error = client_need();
    if (error) {
        say_error(error);
        return lowered.text;
    }
    bool *donated = donated_leaves(f, leaves);
    session_begin(&s);
    trace_and_lower(f, leaves, layouts, donated, &g, &lowered);
    session_end(&s);
    free(donated);
    return lowered.text;
}

/* ---- running ---- */

typedef struct Run {
    const Program *p;
    Array **args;  /* [nargs], as they are passed */
    bool *is_ours; /* [nargs]: laid out for this run; to be let go */
    int64_t *kept; /* donated arguments that somebody else holds */
    int nkept;
} Run;

static bool lay_out(Run *r, Array *const *leaves)
{
    const Program *p = r->p;
    for (int i = 0; i < p->nargs; i++) {
        Array *a = i < p->nleaves ? leaves[i] : p->captured[i - p->nleaves];
        bool is_sole = i < p->nleaves && p->donated && p->donated[i] && array_is_sole(a);
        if (a->layout != p->args[i]) {
            a = array_relay(a, p->args[i]);
            if (!a)
                return false;
            r->is_ours[i] = true;
            is_sole = false;
        }
        r->args[i] = a;
        if (i < p->nleaves && p->donated && p->donated[i] && !is_sole)
            r->kept[r->nkept++] = i;
    }
    return true;
}

/* What one argument gives away no other may use.  False: said. */
static bool is_donated_once(const Run *r, const char *label)
{
    const Program *p = r->p;
    for (int i = 0, k = 0; p->donated && i < p->nleaves; i++) {
        bool is_kept = k < r->nkept && r->kept[k] == i;
        k += is_kept;
        for (int j = 0; p->donated[i] && !is_kept && j < p->nargs; j++)
            if (j != i && r->args[j] == r->args[i])
                return say_broken("%s: arguments %d and %d are the same %s, which is donated: pass "
                                  "a copy, or leave .donate out",
                                  label, j < i ? j : i, j < i ? i : j, type_words(r->args[i]->type)),
                       false;
    }
    return true;
}

static void let_go(Run *r, bool has_run)
{
    const Program *p = r->p;
    for (int i = 0, k = 0; i < p->nargs; i++) {
        bool is_kept = k < r->nkept && r->kept[k] == i;
        k += is_kept;
        if (has_run && i < p->nleaves && p->donated && p->donated[i] && !is_kept)
            atomic_store(&r->args[i]->is_donated, true);
        if (r->is_ours[i])
            array_release(r->args[i]);
    }
}

static bool execute(Run *r, PJRT_Buffer **results)
{
    const Program *p = r->p;
    PJRT_Buffer *in[p->ndevices * p->nargs + 1];
    PJRT_Buffer *const *ins[p->ndevices];
    PJRT_Buffer **outs[p->ndevices];
    for (int i = 0; i < p->nargs; i++) {
        PJRT_Buffer *const *parts = array_parts(r->args[i]);
        if (!parts)
            return false;
        for (int d = 0; d < p->ndevices; d++)
            in[d * p->nargs + i] = parts[d];
    }
    for (int d = 0; d < p->ndevices; d++) {
        ins[d] = in + d * p->nargs;
        outs[d] = results + d * p->nresults;
    }
    Error *error = client_execute(p->code, ins, outs, r->nkept, r->kept);
    if (error)
        say_error(error);
    return !error;
}

static void wrap(const Program *p, PJRT_Buffer *const *parts, tt *results)
{
    PJRT_Buffer *of_one[p->ndevices];
    for (int i = 0; i < p->nresults; i++) {
        for (int d = 0; d < p->ndevices; d++)
            of_one[d] = parts[d * p->nresults + i];
        results[i] = value_of_array(array_new(p->types[i], p->results[i], of_one), p->is_weak[i]);
    }
}

bool program_run(const Program *p, const char *label, Array *const *leaves, tt *results)
{
    Array *args[p->nargs + 1];
    bool is_ours[p->nargs + 1];
    int64_t kept[p->nargs + 1];
    PJRT_Buffer *parts[p->ndevices * p->nresults + 1];
    Run r = { .p = p, .args = args, .is_ours = is_ours, .kept = kept };
    memset(args, 0, sizeof args);
    memset(is_ours, 0, sizeof is_ours);
    bool ok = lay_out(&r, leaves) && is_donated_once(&r, label) && execute(&r, parts);
    let_go(&r, ok);
    if (ok)
        wrap(p, parts, results);
    return ok;
}
