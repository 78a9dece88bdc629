/* fn.c - functions as values: enlisting, interning, and what becomes of each kind.
 *
 *     tt_pmap(tt_grad(loss))     FnKey { PMAP, inner: . }
 *                                                     FnKey { GRAD, inner: . }
 *                                                                         FnKey { C, loss }
 *
 * A key in goes, the one tt_function with that key comes out.  fn_graph goes down the chain: the
 * C function at its end is traced, and every transformation on the way up makes a graph of the
 * one below. */
#include "front/transform/fn.h"

#include "base/fail.h"
#include "base/sync.h"
#include "front/value/entry.h"
#include "front/value/intern.h"
#include "front/value/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(FnKey) == 8 * (11 + (TT_MAX_ARGS + 1) * TT_MAX_RANK) +
                                    4 * (TT_MAX_ARGS + TT_MAX_RESULTS + 8),
               "keys are compared as bytes");

static Lock lock;       /* guards the tables */
static Table strings;   /* interned bytes, strings among them */
static Table functions; /* FnKey -> tt_fn */
static Table enlisted;  /* address -> const tt_fun * */

/* ---- interning ---- */

const void *intern_bytes(const void *bytes, size_t n)
{
    uint64_t found = 0;
    Error *error = NULL;
    lock_take(&lock);
    if (!table_get(&strings, bytes, n, &found)) {
        char *copy = malloc(n + 1);
        if (copy) {
            memcpy(copy, bytes, n);
            copy[n] = 0;
            error = intern_put(&strings, bytes, n, copy);
        }
        if (error)
            free(copy);
        else
            found = (uint64_t)(uintptr_t)copy;
    }
    lock_give(&lock);
    if (error)
        report_error(error);
    else if (!found)
        report_broken("no memory on the host for %zu bytes of a name", n);
    return (const void *)(uintptr_t)found;
}

const char *intern_string(const char *s)
{
    return s ? intern_bytes(s, strlen(s)) : NULL;
}

/* NULL: said. */
static const char *make_label(const FnKey *key, const char *how, const char *name)
{
    if (!how)
        return name;
    const char *inner = key->inner ? key->inner->label : name;
    size_t n = strlen(how) + strlen(inner) + sizeof "()";
    char *text = malloc(n);
    if (!text)
        return report_broken("no memory on the host for %zu bytes of a name", n), NULL;
    snprintf(text, n, "%s(%s)", how, inner);
    const char *label = intern_string(text);
    free(text);
    return label;
}

/* NULL: said. */
static tt_fn make_function(const FnKey *key, const char *how, const char *name)
{
    const char *own = key->inner ? key->inner->name : intern_string(name);
    const char *label = own ? make_label(key, how, own) : NULL;
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
    f->file = f->fun ? f->fun->file : here.file;
    f->line = f->fun ? f->fun->line : here.line;
    pthread_mutex_init(&f->building, NULL);
    return f;
}

static void free_function(tt_fn f)
{
    pthread_mutex_destroy(&f->building);
    free(f);
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
    if (known || error)
        free_function(f);
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

static const tt_fun *find_enlisted(void (*function)(void))
{
    uint64_t found = 0;
    lock_take(&lock);
    table_get(&enlisted, &function, sizeof function, &found);
    lock_give(&lock);
    return (const tt_fun *)(uintptr_t)found;
}

/* The name of a function at the head of a list of arguments. */
static tt_fn make_c(int arity, void (*function)(void), const char *arguments)
{
    size_t n = strcspn(arguments, ",");
    while (n && arguments[n - 1] == ' ')
        n--;
    const char *name = intern_bytes(arguments, n);
    const tt_fun *fun = find_enlisted(function);
    if (!name)
        return NULL;
    if (!arity && !fun && strncmp(name, "tt_", 3) == 0) {
        report_broken("%s is no function of arrays alone: call it in a function that is one, and give "
                   "that",
                   name);
        return NULL;
    }
    if (!arity && !fun) {
        report_broken("%s is not traceable: add TT_FUN(result, %s, parameters...) after its "
                   "definition",
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

void fn_apply(tt_fn f, const tt *in, tt *out)
{
    typedef void F(void);
    F *p = f->key.function;
    if (f->fun) {
        f->fun->apply(f->key.config, in, out);
        return;
    }
#define A(i) in[i]
    switch (f->arity) {
    case 1: *out = ((tt(*)(tt))p)(A(0)); break;
    case 2: *out = ((tt(*)(tt, tt))p)(A(0), A(1)); break;
    case 3: *out = ((tt(*)(tt, tt, tt))p)(A(0), A(1), A(2)); break;
    case 4: *out = ((tt(*)(tt, tt, tt, tt))p)(A(0), A(1), A(2), A(3)); break;
    case 5: *out = ((tt(*)(tt, tt, tt, tt, tt))p)(A(0), A(1), A(2), A(3), A(4)); break;
    case 6: *out = ((tt(*)(tt, tt, tt, tt, tt, tt))p)(A(0), A(1), A(2), A(3), A(4), A(5)); break;
    case 7:
        *out = ((tt(*)(tt, tt, tt, tt, tt, tt, tt))p)(A(0), A(1), A(2), A(3), A(4), A(5), A(6));
        break;
    case 8:
        *out = ((tt(*)(tt, tt, tt, tt, tt, tt, tt, tt))p)(A(0), A(1), A(2), A(3), A(4), A(5), A(6),
                                                          A(7));
        break;
    default: fail("a function of %d arrays", f->arity);
    }
#undef A
}

int fn_c_results(tt_fn f)
{
    return f->fun ? f->fun->nresults : 1;
}

/* ---- arguments ---- */

int leaf_argument(const Leaves *leaves, int i, int *within)
{
    int argument = 0;
    while (i >= leaves->counts[argument])
        i -= leaves->counts[argument++];
    *within = i;
    return argument;
}

enum { WORDS = 4, WORDS_ROOM = 160 };

const char *leaf_place(const Leaves *leaves, int i)
{
    static _Thread_local char ring[WORDS][WORDS_ROOM];
    static _Thread_local unsigned next;
    char *at = ring[next++ % WORDS];
    int within, argument = leaf_argument(leaves, i, &within);
    if (leaves->counts[argument] == 1)
        snprintf(at, WORDS_ROOM, "argument %d", argument);
    else
        snprintf(at, WORDS_ROOM, "argument %d, leaf %d", argument, within);
    return at;
}

const char *leaf_words(const Leaves *leaves, int i)
{
    static _Thread_local char ring[WORDS][WORDS_ROOM];
    static _Thread_local unsigned next;
    char *at = ring[next++ % WORDS];
    Type t = leaves->types[i];
    t.element = element_settled(t.element, leaves->is_weak && leaves->is_weak[i]);
    snprintf(at, WORDS_ROOM, "%s, %.100s", leaf_place(leaves, i), type_words(t));
    return at;
}

int fn_arguments(tt_fn f, int *counts)
{
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
    return report_broken("%s: %s has no configuration: give it where the function is transformed, as "
                      "in tt_jit(%s, .config = &c)",
                      who, c->name, c->name),
           false;
}

static bool donates_within(tt_fn f, int nargs)
{
    uint32_t beyond = nargs < 32 ? f->key.donate >> nargs : 0;
    if (!beyond)
        return true;
    return report_broken("%s: .donate = %u has a bit for argument %d, but there %s %d argument%s: bit i "
                      "is for argument i, so .donate = 1 is for argument 0",
                      f->label, f->key.donate, nargs + __builtin_ctz(beyond),
                      nargs == 1 ? "is" : "are", nargs, nargs == 1 ? "" : "s"),
           false;
}

bool fn_takes(tt_fn f, int nargs, const int *counts)
{
    if (f->key.kind >= FN_WHILE)
        return flow_takes(f, nargs, counts);
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

/* ---- graphs ---- */

/* The innermost frame is that of whoever wants the graph; the function records in it. */
static bool trace_c(tt_fn f, const Leaves *leaves, Graph *out)
{
    int nresults = fn_c_results(f);
    tt *in = ARENA_ARRAY(trace_arena(), tt, leaves->n + 1);
    tt *results = ARENA_ARRAY(trace_arena(), tt, nresults + 1);
    record_begin(leaves->n, leaves->types, leaves->is_weak, in);
    Here before = here;
    user_call(f, in, results);
    here = before;
    return record_end(f->label, nresults, results, out);
}

static bool trace_public(tt_fn f, const Leaves *leaves, Graph *out)
{
    int nresults = f->arity;
    tt *in = ARENA_ARRAY(trace_arena(), tt, leaves->n + 1);
    tt *results = ARENA_ARRAY(trace_arena(), tt, nresults + 1);
    record_begin(leaves->n, leaves->types, leaves->is_weak, in);
    Body *body = (Body *)f->key.function;
    body(in, results, leaves->config);
    return record_end(f->label, nresults, results, out);
}

bool fn_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    switch ((FnKind)f->key.kind) {
    case FN_C: return trace_c(f, leaves, out);
    case FN_PUBLIC: return trace_public(f, leaves, out);
    case FN_LOADED: return loaded_graph(f, leaves, out);
    case FN_JIT: return fn_graph(f->key.inner, leaves, out);
    case FN_GRAD:
    case FN_VALUE_AND_GRAD: return grad_graph(f, leaves, out);
    case FN_JVP: return jvp_graph(f, leaves, out);
    case FN_VMAP: return vmap_graph(f, leaves, out);
    case FN_PMAP: return pmap_graph(f, leaves, out);
    case FN_SHARD_MAP: return shard_map_graph(f, leaves, out);
    case FN_WHILE:
    case FN_FORI:
    case FN_SCAN:
    case FN_COND: return flow_graph(f, leaves, out);
    }
    fail("a function of kind %d", (int)f->key.kind);
}

/* ---- transformations ---- */

bool fn_is(tt_fn f, const char *who)
{
    if (!f && !said_something())
        report_broken("%s: there is no function: the tt_fn is NULL", who);
    return f != NULL;
}

/* The C function inside f with its configuration, and f of that.  NULL: said. */
static tt_fn configured(tt_fn f, const char *who, const void *config, size_t size)
{
    if (!config)
        return f;
    FnKey key = f->key;
    if (key.inner) {
        key.inner = configured(key.inner, who, config, size);
        return key.inner ? fn_intern(&key, f->how, NULL) : NULL;
    }
    size_t wanted = f->fun ? f->fun->config_size : 0;
    if (!wanted)
        return report_broken("%s(%s): .config is given, but %s takes none: describe it by "
                          "TT_FUN_WITH(type, ...), and its first parameter is a const type *",
                          who, f->label, f->name),
               NULL;
    if (size && size != wanted)
        return report_broken("%s(%s): config_size is %zu, but the configuration of %s has %zu bytes",
                          who, f->label, size, f->name, wanted),
               NULL;
    if (key.config)
        return report_broken("%s(%s): %s has its configuration already", who, f->label, f->name), NULL;
    key.config = intern_bytes(config, wanted);
    key.config_size = wanted;
    return key.config ? fn_intern(&key, NULL, f->name) : NULL;
}

/* The function that a transformation is of: f, with the configuration in `options`. */
#define CONFIGURED(f, who, options)                                                                \
    ((f) = configured(f, who, (options).config, (options).config_size))

tt_fn tt_jit_with(tt_fn f, const tt_jit_options *given)
{
    PUBLIC;
    if (!fn_is(f, "tt_jit"))
        return NULL;
    OPTIONS(tt_jit_options, "tt_jit", given, return NULL);
    if (!CONFIGURED(f, "tt_jit", options))
        return NULL;
    FnKey key = { .kind = FN_JIT, .inner = f, .donate = options.donate };
    return fn_intern(&key, "jit", NULL);
}

static tt_fn grad_with(tt_fn f, const tt_grad_options *given, FnKind kind, const char *how)
{
    const char *who = kind == FN_GRAD ? "tt_grad" : "tt_value_and_grad";
    if (!fn_is(f, who))
        return NULL;
    OPTIONS(tt_grad_options, who, given, return NULL);
    if (!CONFIGURED(f, who, options))
        return NULL;
    FnKey key = {
        .kind = kind, .inner = f, .wrt = options.wrt ? options.wrt : 1, .has_aux = options.has_aux
    };
    return fn_intern(&key, how, NULL);
}

tt_fn tt_grad_with(tt_fn f, const tt_grad_options *given)
{
    PUBLIC;
    return grad_with(f, given, FN_GRAD, "grad");
}

tt_fn tt_value_and_grad_with(tt_fn f, const tt_grad_options *given)
{
    PUBLIC;
    return grad_with(f, given, FN_VALUE_AND_GRAD, "value_and_grad");
}

tt_fn tt_jvp_with(tt_fn f, const tt_jvp_options *given)
{
    PUBLIC;
    if (!fn_is(f, "tt_jvp"))
        return NULL;
    OPTIONS(tt_jvp_options, "tt_jvp", given, return NULL);
    if (!CONFIGURED(f, "tt_jvp", options))
        return NULL;
    FnKey key = { .kind = FN_JVP, .inner = f, .wrt = options.wrt ? options.wrt : 1 };
    return fn_intern(&key, "jvp", NULL);
}

static bool is_axis_name(const char *who, tt_fn f, const char *name)
{
    bool is_list = name && strchr(name, ',');
    if (is_list)
        report_broken("%s(%s): .axis_name is \"%s\": a map has one axis, and a comma is for naming "
                   "several at once",
                   who, f->label, name);
    return !is_list;
}

tt_fn tt_vmap_with(tt_fn f, const tt_vmap_options *given)
{
    PUBLIC;
    if (!fn_is(f, "tt_vmap"))
        return NULL;
    OPTIONS(tt_vmap_options, "tt_vmap", given, return NULL);
    if (!is_axis_name("tt_vmap", f, options.axis_name) ||
        !CONFIGURED(f, "tt_vmap", options))
        return NULL;
    unsigned before = said_count();
    FnKey key = { .kind = FN_VMAP,
                  .inner = f,
                  .axis_size = options.axis_size,
                  .axis_name = intern_string(options.axis_name),
                  .out_axis = options.out_axis };
    memcpy(key.in_axes, options.in_axes, sizeof key.in_axes);
    memcpy(key.out_axes, options.out_axes, sizeof key.out_axes);
    return said_count() == before ? fn_intern(&key, "vmap", NULL) : NULL;
}

tt_fn tt_pmap_with(tt_fn f, const tt_pmap_options *given)
{
    PUBLIC;
    if (!fn_is(f, "tt_pmap"))
        return NULL;
    OPTIONS(tt_pmap_options, "tt_pmap", given, return NULL);
    if (!is_axis_name("tt_pmap", f, options.axis_name) ||
        !CONFIGURED(f, "tt_pmap", options))
        return NULL;
    if ((options.devices != NULL) != (options.ndevices > 0)) {
        report_broken("tt_pmap(%s): devices must list at least one device, and ndevices say how many, "
                   "or neither be given",
                   f->label);
        return NULL;
    }
    unsigned before = said_count();
    FnKey key = { .kind = FN_PMAP,
                  .inner = f,
                  .axis_size = options.axis_size,
                  .axis_name = intern_string(options.axis_name),
                  .out_axis = options.out_axis,
                  .donate = options.donate,
                  .ndevices = options.ndevices };
    if (options.devices)
        key.devices = intern_bytes(options.devices, sizeof(int) * (size_t)options.ndevices);
    memcpy(key.in_axes, options.in_axes, sizeof key.in_axes);
    memcpy(key.out_axes, options.out_axes, sizeof key.out_axes);
    return said_count() == before ? fn_intern(&key, "pmap", NULL) : NULL;
}

static tt_spec intern_spec(tt_spec spec)
{
    for (int i = 0; i < TT_MAX_RANK; i++)
        spec.axis[i] = intern_string(spec.axis[i]);
    return spec;
}

static bool is_empty(const tt_spec *spec)
{
    static const tt_spec empty;
    return memcmp(spec, &empty, sizeof empty) == 0;
}

/* Interned; NULL: none is given. */
static const tt_spec *intern_specs(const tt_spec *specs)
{
    tt_spec copy[TT_MAX_RESULTS];
    bool any = false;
    for (int i = 0; i < TT_MAX_RESULTS; i++) {
        copy[i] = intern_spec(specs[i]);
        any |= !is_empty(&specs[i]);
    }
    return any ? intern_bytes(copy, sizeof copy) : NULL;
}

tt_fn tt_shard_map_with(tt_fn f, const tt_shard_map_options *given)
{
    PUBLIC;
    if (!fn_is(f, "tt_shard_map"))
        return NULL;
    OPTIONS(tt_shard_map_options, "tt_shard_map", given, return NULL);
    if (!CONFIGURED(f, "tt_shard_map", options))
        return NULL;
    if (!options.mesh) {
        report_broken("tt_shard_map(%s): no mesh is given: make one with tt_mesh_of", f->label);
        return NULL;
    }
    unsigned before = said_count();
    FnKey key = { .kind = FN_SHARD_MAP, .inner = f, .mesh = options.mesh };
    for (int i = 0; i < TT_MAX_ARGS; i++)
        key.in_specs[i] = intern_spec(options.in_specs[i]);
    key.out_spec = intern_spec(options.out_spec);
    key.out_specs = intern_specs(options.out_specs);
    if (key.out_specs && !is_empty(&key.out_spec)) {
        report_broken("tt_shard_map(%s): .out_spec is for every result and .out_specs has one for each: "
                   "give one of the two",
                   f->label);
        return NULL;
    }
    return said_count() == before ? fn_intern(&key, "shard_map", NULL) : NULL;
}
