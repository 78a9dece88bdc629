/* fn.c - functions as values: enlisting, interning, and what becomes of each kind.
 *
 *     tt_pmap(tt_grad(loss))     FnKey { PMAP, inner: . }
 *                                                     FnKey { GRAD, inner: . }
 *                                                                         FnKey { C, loss }
 *
 * A key in goes, the one tt_function with that key comes out.  fn_graph goes down the chain: the
 * C function at its end is traced, and every transformation on the way up makes a graph of the
 * one below. */
#include "front/transform/transform.h"

#include "base/fail.h"
#include "base/sync.h"
#include "front/value/fields.h"
#include "front/value/library.h"
#include "front/value/memory.h"
#include "front/value/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(FnKey) == 8 * (16 + TT_MAX_RANK) + 4 * (TT_MAX_ARGS + TT_MAX_RESULTS + 12),
               "keys are compared as bytes");

static Lock lock;       /* guards the tables */
static Table functions; /* FnKey -> tt_fn */
static Table enlisted;  /* address -> const tt_fun * */

/* ---- interning ---- */

/* NULL: reported. */
static tt_fn make_function(const FnKey *key, const char *how, const char *name)
{
    const char *own = key->inner ? key->inner->name : intern_string(name);
    const char *label = own;
    if (own && how) {
        const char *inner = key->inner ? key->inner->label : own;
        size_t n = strlen(how) + strlen(inner) + sizeof "()";
        char *text = malloc(n);
        if (!text)
            return report_broken("no memory on the host for %zu bytes of a name", n), NULL;
        snprintf(text, n, "%s(%s)", how, inner);
        label = intern_string(text);
        free(text);
    }
    tt_fn f = label ? calloc(1, sizeof *f) : NULL;
    if (label && !f)
        report_broken("%s: no memory on the host for a function", label);
    if (!f)
        return NULL;
    f->key = *key;
    f->how = how;
    f->name = own;
    f->label = label;
    f->nested = key->inner ? key->inner->nested + 1 : 0;
    f->arity = key->arity;
    f->fun = key->fun;
    const tt_closure *closure = key->kind == FN_CLOSURE ? key->config : NULL;
    f->file = f->fun ? f->fun->file : closure && closure->file ? closure->file : call_site.file;
    f->line = f->fun ? f->fun->line : closure && closure->file ? closure->line : call_site.line;
    pthread_mutex_init(&f->building, NULL);
    return f;
}

tt_fn fn_intern(const FnKey *key, const char *how, const char *name)
{
    enum { MOST_NESTED = 256 }; /* each is a level of recursion, and its name has all inside */
    uint64_t found = 0;
    lock_take(&lock);
    bool known = table_get(&functions, key, sizeof *key, &found);
    lock_give(&lock);
    if (known)
        return (tt_fn)(uintptr_t)found;
    if (key->inner && key->inner->nested >= MOST_NESTED)
        return report_broken("%s of a function that is transformed %d times already: no more are "
                             "possible",
                             how, MOST_NESTED),
               NULL;
    tt_fn f = make_function(key, how, name);
    if (!f)
        return NULL;
    lock_take(&lock);
    known = table_get(&functions, key, sizeof *key, &found); /* another thread was faster */
    Error *error = known ? NULL : intern_put(&functions, key, sizeof *key, f);
    lock_give(&lock);
    if (known || error) {
        pthread_mutex_destroy(&f->building);
        free(f);
    }
    if (error)
        return report_error(error), NULL;
    return known ? (tt_fn)(uintptr_t)found : f;
}

/* ---- C functions ---- */

void tt_enlist(const tt_fun *fun)
{
    PUBLIC;
    lock_take(&lock);
    Error *error = intern_put(&enlisted, &fun->function, sizeof fun->function, fun);
    lock_give(&lock);
    if (error)
        report_error(error_in(error, "TT_FUN of %s", fun->name));
}

/* The name of a function at the head of a list of arguments. */
static tt_fn make_c(int arity, void (*function)(void), const char *arguments)
{
    size_t n = strcspn(arguments, ",");
    while (n && arguments[n - 1] == ' ')
        n--;
    const char *name = intern_bytes(arguments, n);
    uint64_t found = 0;
    lock_take(&lock);
    table_get(&enlisted, &function, sizeof function, &found);
    lock_give(&lock);
    const tt_fun *fun = (const tt_fun *)(uintptr_t)found;
    if (!name)
        return NULL;
    if (!arity && !fun && strncmp(name, "tt_", 3) == 0) {
        report_broken(
            "%s is no function of arrays alone: call it in a function that is one, and give "
            "that",
            name);
        return NULL;
    }
    if (!arity && !fun) {
        report_broken("%s is not traceable: add TT_FUN(result, %s, parameters...) after its "
                      "definition, or TT_METHOD where its first parameter is a pointer",
                      name, name);
        return NULL;
    }
    FnKey key = { .kind = FN_C, .function = function, .fun = fun, .arity = fun ? 0 : arity };
    return fn_intern(&key, NULL, fun ? fun->name : name);
}

tt_fn tt_fn_of(int arity, void (*function)(void), const char *name)
{
    /* Calls in a loop find their function here, without a lock. */
    enum { RECENT = 16 };
    static _Thread_local struct {
        void (*function)(void);
        tt_fn f;
    } recent[RECENT];
    if (arity < 0)
        return (tt_fn)(void *)function;
    unsigned at = (unsigned)((uintptr_t)function >> 4) % RECENT;
    if (recent[at].function != function) {
        PUBLIC;
        tt_fn f = make_c(arity, function, name);
        if (!f)
            return NULL;
        recent[at].function = function;
        recent[at].f = f;
    }
    return recent[at].f;
}

static void apply_to_arrays(tt_fn f, const tt *in, tt *out)
{
    void (*p)(void) = f->key.function;
    /* clang-format off */
#define A(i) in[i]
#define A4(i) A(i), A(i + 1), A(i + 2), A(i + 3)
#define T4 tt, tt, tt, tt
    switch (f->arity) {
    case 1: *out = ((tt(*)(tt))p)(A(0)); break;
    case 2: *out = ((tt(*)(tt, tt))p)(A(0), A(1)); break;
    case 3: *out = ((tt(*)(tt, tt, tt))p)(A(0), A(1), A(2)); break;
    case 4: *out = ((tt(*)(T4))p)(A4(0)); break;
    case 5: *out = ((tt(*)(T4, tt))p)(A4(0), A(4)); break;
    case 6: *out = ((tt(*)(T4, tt, tt))p)(A4(0), A(4), A(5)); break;
    case 7: *out = ((tt(*)(T4, tt, tt, tt))p)(A4(0), A(4), A(5), A(6)); break;
    case 8: *out = ((tt(*)(T4, T4))p)(A4(0), A4(4)); break;
    case 9: *out = ((tt(*)(T4, T4, tt))p)(A4(0), A4(4), A(8)); break;
    case 10: *out = ((tt(*)(T4, T4, tt, tt))p)(A4(0), A4(4), A(8), A(9)); break;
    case 11: *out = ((tt(*)(T4, T4, tt, tt, tt))p)(A4(0), A4(4), A(8), A(9), A(10)); break;
    case 12: *out = ((tt(*)(T4, T4, T4))p)(A4(0), A4(4), A4(8)); break;
    case 13: *out = ((tt(*)(T4, T4, T4, tt))p)(A4(0), A4(4), A4(8), A(12)); break;
    case 14: *out = ((tt(*)(T4, T4, T4, tt, tt))p)(A4(0), A4(4), A4(8), A(12), A(13)); break;
    case 15: *out = ((tt(*)(T4, T4, T4, tt, tt, tt))p)(A4(0), A4(4), A4(8), A(12), A(13), A(14)); break;
    case 16: *out = ((tt(*)(T4, T4, T4, T4))p)(A4(0), A4(4), A4(8), A4(12)); break;
    default: fail("a function of %d arrays", f->arity);
    }
    /* clang-format on */
#undef T4
#undef A4
#undef A
}

void fn_apply(tt_fn f, const tt *in, tt *out)
{
    Suspended s = library_suspend();
    if (f->fun)
        f->fun->apply(f->key.config, in, out);
    else
        apply_to_arrays(f, in, out);
    library_resume(s);
}

int fn_c_results(tt_fn f)
{
    return f->fun ? f->fun->nresults : 1;
}

/* ---- arguments ---- */

bool fn_is_given(tt_fn f, const char *who)
{
    if (!f && !report_is_kept())
        report_broken("%s: there is no function: the tt_fn is NULL", who);
    return f != NULL;
}

Leaves leaves_canonical(const Leaves *leaves)
{
    Leaves l = *leaves;
    l.types = ARENA_ARRAY(trace_arena(), Type, l.n + 1);
    l.is_weak = ARENA_ARRAY(trace_arena(), bool, l.n + 1);
    for (int i = 0; i < l.n; i++) {
        Type t = leaves->types[i];
        l.types[i] = type_with(t, element_canonical(t.element, leaves->is_weak[i]));
    }
    return l;
}

int leaf_argument(const Leaves *leaves, int i, int *within)
{
    int argument = 0;
    while (i >= leaves->counts[argument])
        i -= leaves->counts[argument++];
    *within = i;
    return argument;
}

const char *fn_types(tt_fn f)
{
    while (f->key.inner && f->key.kind < FN_WHILE)
        f = f->key.inner;
    return f->fun ? f->fun->types : NULL;
}

/* What is known of the type of an argument; NULL: nothing. */
static const tt_fields *argument_fields(const Leaves *leaves, int argument, int there)
{
    const char *at = leaves->arg_types;
    for (int i = 0; at && i < argument; i++) {
        at = strchr(at, ',');
        at += at ? 1 : 0;
    }
    if (!at)
        return NULL;
    at += strspn(at, " ");
    size_t n = strcspn(at, ",");
    const tt_fields *fields = fields_of(at, n);
    return fields && fields_leaves(fields) == there ? fields : NULL;
}

enum { WORDS = 4, WORDS_ROOM = 160 };

const char *slot_name(const Leaves *leaves, int slot)
{
    static _Thread_local char ring[WORDS][WORDS_ROOM];
    static _Thread_local unsigned next;
    char *at = ring[next++ % WORDS];
    const int *counts = leaves->absent ? leaves->slots : leaves->counts;
    int argument = 0, within = slot;
    while (within >= counts[argument])
        within -= counts[argument++];
    const tt_fields *fields = argument_fields(leaves, argument, counts[argument]);
    int n = snprintf(at, WORDS_ROOM, "argument %d", argument);
    if (fields && counts[argument] > 1) {
        n += snprintf(at + n, WORDS_ROOM - (size_t)n, ", ");
        fields_path(fields, within, at + n, WORDS_ROOM - (size_t)n);
    } else if (counts[argument] > 1) {
        snprintf(at + n, WORDS_ROOM - (size_t)n, ", leaf %d", within);
    }
    return at;
}

const char *leaf_name(const Leaves *leaves, int i)
{
    return slot_name(leaves, leaf_slot(leaves, i));
}

const char *leaf_text(const Leaves *leaves, int i)
{
    static _Thread_local char ring[WORDS][WORDS_ROOM];
    static _Thread_local unsigned next;
    char *at = ring[next++ % WORDS];
    Type t = leaves->types[i];
    t.element = element_canonical(t.element, leaves->is_weak && leaves->is_weak[i]);
    snprintf(at, WORDS_ROOM, "%s, %.100s", leaf_name(leaves, i), type_text(t));
    return at;
}

int fn_arguments(tt_fn f, int *counts)
{
    if (f->key.kind == FN_VJP || f->key.kind == FN_LINEAR)
        return -1; /* how many cotangents there are, the function's results say; or what it keeps */
    if (f->key.kind == FN_ASSOCIATIVE) {
        int n = fn_arguments(f->key.inner, counts); /* two, of which it is given the rows of one */
        return n < 0 ? -1 : n == 2 && counts[0] == counts[1] ? 1 : n;
    }
    if (f->key.inner) {
        int n = fn_arguments(f->key.inner, counts), primal = n;
        for (int i = 0; f->key.kind == FN_JVP && i < primal; i++)
            if (f->key.wrt >> i & 1) {
                if (n < TT_MAX_ARGS)
                    counts[n] = counts[i];
                n++;
            }
        return n;
    }
    if (f->key.kind == FN_CLOSURE) {
        const tt_closure *closure = f->key.config;
        memcpy(counts, closure->nleaves, sizeof closure->nleaves);
        return closure->nargs ? closure->nargs : -1;
    }
    int n = f->key.kind != FN_C ? -1 : f->fun ? f->fun->nargs : f->arity;
    for (int i = 0; i < n; i++)
        counts[i] = f->fun ? f->fun->nleaves[i] : 1;
    return n;
}

bool fn_has_config(const char *who, tt_fn f)
{
    tt_fn c = f;
    while (c->key.inner)
        c = c->key.inner;
    if (!c->fun || !c->fun->config_size || c->key.config)
        return true;
    return report_broken(
               "%s: %s has no configuration: give it where the function is transformed, as "
               "in tt_jit(%s, .config = &c)",
               who, c->name, c->name),
           false;
}

static bool donates_within(tt_fn f, int nargs)
{
    uint32_t beyond = nargs < 32 ? f->key.donate >> nargs : 0;
    if (!beyond)
        return true;
    return report_broken(
               "%s: .donate = %u has a bit for argument %d, but there %s %d argument%s: bit i "
               "is for argument i, so .donate = 1 is for argument 0",
               f->label, f->key.donate, nargs + __builtin_ctz(beyond), nargs == 1 ? "is" : "are",
               nargs, nargs == 1 ? "" : "s"),
           false;
}

bool fn_accepts(tt_fn f, int nargs, const int *counts)
{
    if (f->key.kind >= FN_WHILE)
        return flow_accepts(f, nargs, counts);
    int wanted[TT_MAX_ARGS], n = fn_arguments(f, wanted);
    if (!fn_has_config(f->label, f))
        return false;
    if (n < 0)
        return donates_within(f, nargs);
    if (nargs != n) {
        report_broken("%s takes %d argument%s, not %d", f->label, n, n == 1 ? "" : "s", nargs);
        return false;
    }
    for (int i = 0; i < n; i++)
        if (counts[i] != wanted[i]) {
            report_broken("%s: argument %d has %d array%s, not %d", f->label, i, counts[i],
                          counts[i] == 1 ? "" : "s", wanted[i]);
            return false;
        }
    return donates_within(f, nargs);
}

/* ---- the axes and specs of maps ---- */

/* The run in which array i is; NULL: behind them all. */
static const tt_axis_run *axis_run(const tt_axis_run *run, int n, int i)
{
    for (int k = 0; k < n; i -= run[k++].leaves)
        if (i < run[k].leaves)
            return &run[k];
    return NULL;
}

static const tt_spec_run *spec_run(const tt_spec_run *run, int n, int i)
{
    for (int k = 0; k < n; i -= run[k++].leaves)
        if (i < run[k].leaves)
            return &run[k];
    return NULL;
}

static bool runs_fit(tt_fn f, const char *option, const char *of, int described, int there)
{
    if (described != there)
        report_broken("%s: %s describes %d array%s, but the %s: %d", f->label, option, described,
                      described == 1 ? "" : "s", of, there);
    return described == there;
}

bool runs_describe(tt_fn f, int nleaves, int nresults)
{
    const FnKey *k = &f->key;
    int in = 0, out = 0;
    for (int i = 0; i < k->nin_runs; i++)
        in += k->in_axis_runs ? k->in_axis_runs[i].leaves : k->in_spec_runs[i].leaves;
    for (int i = 0; i < k->nout_runs; i++)
        out += k->out_axis_runs ? k->out_axis_runs[i].leaves : k->out_spec_runs[i].leaves;
    bool ok = (!k->nin_runs || runs_fit(f, ".in", "arguments have", in, nleaves)) &&
              (!k->nout_runs || runs_fit(f, ".out", "results are", out, nresults));
    bool has_list = k->out_specs != NULL;
    for (int i = 0; i < TT_MAX_RESULTS; i++)
        has_list = has_list || k->out_axes[i];
    if (ok && has_list && nresults > TT_MAX_RESULTS)
        return report_broken(
                   "%s: %s has room for %d results, but there are %d: describe them by type, as "
                   "in .out = %s(TT_RUN(Net, %s), TT_RUN(tt, %s))",
                   f->label, k->out_specs ? ".out_specs" : ".out_axes", TT_MAX_RESULTS, nresults,
                   k->out_specs ? "TT_EACH_SPEC" : "TT_EACH_AXIS",
                   k->out_specs ? "TT_P(NULL)" : "TT_NONE", k->out_specs ? "TT_P(\"x\")" : "0"),
               false;
    return ok;
}

const tt_spec *leaf_spec(tt_fn f, const Leaves *leaves, int i)
{
    static const tt_spec whole;
    int within, argument = leaf_argument(leaves, i, &within);
    const tt_spec_run *run = spec_run(f->key.in_spec_runs, f->key.nin_runs, leaf_slot(leaves, i));
    return run ? &run->spec : f->key.in_specs ? &f->key.in_specs[argument] : &whole;
}

const tt_spec *result_spec(tt_fn f, int i)
{
    const tt_spec_run *run = spec_run(f->key.out_spec_runs, f->key.nout_runs, i);
    if (run)
        return &run->spec;
    return f->key.out_specs && i < TT_MAX_RESULTS ? &f->key.out_specs[i] : &f->key.out_spec;
}

bool map_axis(tt_fn f, const Leaves *leaves, int i, int32_t *axis)
{
    int within, argument = leaf_argument(leaves, i, &within), rank = leaves->types[i].rank;
    const tt_axis_run *run = axis_run(f->key.in_axis_runs, f->key.nin_runs, leaf_slot(leaves, i));
    *axis = run ? run->axis : f->key.in_axes[argument];
    if (*axis == TT_NONE)
        return true;
    if (rank == 0) {
        report_broken("%s: %s is one number and has no axis to map: in_axes[%d] must be TT_NONE",
                      f->label, leaf_text(leaves, i), argument);
        return false;
    }
    if (*axis < -rank || *axis >= rank) {
        report_broken("%s: %s has no axis %d to map: in_axes[%d] must be from %d to %d, or TT_NONE",
                      f->label, leaf_text(leaves, i), *axis, argument, -rank, rank - 1);
        return false;
    }
    *axis += *axis < 0 ? rank : 0;
    return true;
}

int64_t map_size(tt_fn f, const Leaves *leaves)
{
    int64_t size = f->key.axis_size;
    int first = -1;
    for (int i = 0; i < leaves->n; i++) {
        int32_t axis;
        if (!map_axis(f, leaves, i, &axis))
            return 0;
        if (axis == TT_NONE)
            continue;
        int64_t extent = leaves->types[i].dims[axis];
        if (!extent)
            return report_broken("%s: %s has 0 along its mapped axis %d: there is nothing to map",
                                 f->label, leaf_text(leaves, i), axis),
                   0;
        if (size && extent != size && first < 0)
            return report_broken("%s: %s has %lld along axis %d, but axis_size is %lld", f->label,
                                 leaf_text(leaves, i), (long long)extent, axis, (long long)size),
                   0;
        if (size && extent != size)
            return report_broken("%s: %s has %lld along its mapped axis %d, but %s has %lld: all "
                                 "mapped arguments must have the same",
                                 f->label, leaf_text(leaves, i), (long long)extent, axis,
                                 leaf_text(leaves, first), (long long)size),
                   0;
        if (first < 0)
            first = i;
        size = extent;
    }
    if (!size)
        report_broken("%s: no argument is mapped: at least one of in_axes must be an axis, or "
                      ".axis_size say how many",
                      f->label);
    return size;
}

bool map_out_axis(tt_fn f, int i, int rank, int32_t *axis)
{
    const tt_axis_run *run = axis_run(f->key.out_axis_runs, f->key.nout_runs, i);
    *axis = run                  ? run->axis
            : f->key.out_axis    ? f->key.out_axis
            : i < TT_MAX_RESULTS ? f->key.out_axes[i]
                                 : 0;
    if (*axis == TT_NONE)
        return true;
    if (*axis < -rank - 1 || *axis > rank) {
        report_broken(
            "%s: result %d cannot have its mapped axis at %d: with %d other%s, that is from "
            "%d to %d, or TT_NONE",
            f->label, i, *axis, rank, rank == 1 ? "" : "s", -rank - 1, rank);
        return false;
    }
    *axis += *axis < 0 ? rank + 1 : 0;
    return true;
}

/* ---- graphs ---- */

/* Ends the recording of the user's function with what it gave, in which arrays may be absent; not all. */
static bool end_function(tt_fn f, int n, const tt *given, Graph *out)
{
    bool *absent = ARENA_ARRAY(trace_arena(), bool, n + 1);
    tt *there = ARENA_ARRAY(trace_arena(), tt, n + 1);
    int nthere = 0;
    for (int i = 0; i < n; i++)
        if (!(absent[i] = value_is_absent(given[i])))
            there[nthere++] = given[i];
    if (!nthere || nthere == n)
        return record_end(f->label, n, given, out);
    bool ok = record_end(f->label, nthere, there, out);
    if (ok)
        slots_append(out, n, absent);
    return ok;
}

/* A C function, or the body of a public one, records in the innermost frame, which its caller has
 * pushed. */
static bool trace_function(tt_fn f, const Leaves *leaves, Graph *out)
{
    bool is_public = f->key.kind == FN_PUBLIC, is_closure = f->key.kind == FN_CLOSURE;
    int nresults = is_public ? f->arity : is_closure ? 0 : fn_c_results(f);
    tt *in = ARENA_ARRAY(trace_arena(), tt, leaves->n + 1);
    tt *results = ARENA_ARRAY(trace_arena(), tt, nresults + 1);
    const tt *given = results;
    record_begin(leaves->n, leaves->types, leaves->is_weak, in);
    tracing->varies = leaves->varies;
    CallSite before = call_site;
    if (is_public)
        ((Body *)f->key.function)(in, results, leaves->config);
    else if (is_closure)
        given = closure_apply(f, leaves, leaves_spread(leaves, in), &nresults);
    else
        fn_apply(f, leaves_spread(leaves, in), results);
    if (!is_public)
        call_site = before;
    if (!given)
        record_drop();
    return given && (is_public ? record_end(f->label, nresults, given, out)
                               : end_function(f, nresults, given, out));
}

bool fn_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    switch ((FnKind)f->key.kind) {
    case FN_C:
    case FN_CLOSURE:
    case FN_PUBLIC: return trace_function(f, leaves, out);
    case FN_LOADED: return leaves_are_whole(f, leaves) && loaded_graph(f, leaves, out);
    case FN_JIT: return fn_graph(f->key.inner, leaves, out);
    case FN_GRAD:
    case FN_VALUE_AND_GRAD: return grad_graph(f, leaves, out);
    case FN_JVP: return jvp_graph(f, leaves, out);
    case FN_VJP: return vjp_graph(f, leaves, out);
    case FN_VMAP: return vmap_graph(f, leaves, out);
    case FN_PMAP: return pmap_graph(f, leaves, out);
    case FN_SHARD_MAP: return shard_map_graph(f, leaves, out);
    case FN_LINEARIZE:
    case FN_LINEAR: return leaves_are_whole(f, leaves) && linearize_graph(f, leaves, out);
    case FN_ASSOCIATIVE: return leaves_are_whole(f, leaves) && associative_graph(f, leaves, out);
    case FN_JACFWD:
    case FN_JACREV: return leaves_are_whole(f, leaves) && jacobian_graph(f, leaves, out);
    case FN_CUSTOM_JVP:
    case FN_CUSTOM_VJP: return leaves_are_whole(f, leaves) && composite_graph(f, leaves, out);
    case FN_CHECKPOINT: return composite_graph(f, leaves, out);
    case FN_SUM_ROWS: return sum_rows_graph(f, leaves, out);
    case FN_WHILE:
    case FN_FORI:
    case FN_SCAN:
    case FN_STEPS:
    case FN_COND:
    case FN_SWITCH: return flow_graph(f, leaves, out);
    }
    fail("a function of kind %d", (int)f->key.kind);
}
