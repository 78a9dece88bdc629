/* call.c - CONTENTS of the front: what happens when a function is called.
 *
 *     tt_call_n(f, arguments)            f: what tt_pmap, tt_grad, ... made       api/transforms.c
 *        |  count_leaves                 trees become leaves; fn_accepts: do they fit f?
 *        |
 *        +-- outside a trace: call_concrete
 *        |     |
 *        |     |  pin_all                what the leaves name cannot end now      value/value.c
 *        |     |  make_signature         f, and each leaf's type, weakness, layout
 *        |     |  compiled_fn_find       is it compiled?  Then compiled_fn_call   run/compiled_fn.c
 *        |     |
 *        |     |  compiled_fn_make       no: compile it                           run/compiled_fn.c
 *        |     |    session_begin          one Module for all that is made        value/trace.c
 *        |     |    fn_graph               f's C code is called on traced         transform/fn.c
 *        |     |      |                    values, and each tt_ function that
 *        |     |      |                    it calls is recorded: trace_apply      value/trace.c
 *        |     |      |                    A transformation makes a graph of
 *        |     |      |                    the graph of the function inside it:
 *        |     |      +-- grad_graph         jvp, then backwards: transpose.c     transform/grad.c
 *        |     |      +-- jvp_graph          by the rules of rules/               transform/jvp.c
 *        |     |      +-- vmap_graph         by the rules of rules/               transform/batch.c
 *        |     |      +-- pmap_graph         the body goes into a MANUAL node;    transform/spmd.c
 *        |     |      |                      shard_map_graph likewise
 *        |     |      +-- flow_graph         tt_while, tt_fori, tt_scan, tt_cond,  transform/flow.c
 *        |     |      |                      tt_switch
 *        |     |      +-- jacobian_graph     vmap of jvp or of vjp               transform/jacobian.c
 *        |     |      +-- linearize_graph    the two halves of jvp               transform/linearize.c
 *        |     |      +-- associative_graph  running combinations                transform/associative.c
 *        |     |      +-- composite_graph    a node with rules of its own:       transform/composite.c
 *        |     |      |                      tt_custom_jvp and _vjp (custom.c),
 *        |     |      |                      tt_checkpoint (checkpoint.c)
 *        |     |      +-- loaded_graph       a program from a file                transform/load.c
 *        |     |    lower_graph            the graph as StableHLO text            lower/lower.c
 *        |     |      open_composites        composites become their bodies       transform/composite.c
 *        |     |      resolve_axes           psum over "i": all_reduce in groups  lower/axes.c
 *        |     |      flatten_maps           maps inside maps: one map            lower/nested_maps.c
 *        |     |      follow                 how results lie                      lower/follow_sharding.c
 *        |     |    client_compile         to the plugin, over the seam           client/client.c
 *        |     |    session_end            all traced values are stale now        value/trace.c
 *        |     |  compiled_fn_add                                                 run/compiled_fn.c
 *        |     |
 *        |     |  compiled_fn_call                                                run/compiled_fn.c
 *        |     |    reshard_arguments      to the devices that the program wants  value/array.c
 *        |     |    execute_on_devices     client_execute: returns at once        client/client.c
 *        |     |    value_of_array         buffers, which may still be on their   value/scope.c
 *        |     |                           way, become arrays, arrays values
 *        |
 *        +-- inside a trace: call_traced    what is called becomes part of the trace
 *              FN_C, FN_CLOSURE               its C code is called, and records in place
 *              FN_JIT                         call_jit: a call of a private function
 *              all others                     fn_graph, copied into the trace by trace_inline
 *
 * A public function that is called outside a trace (tt_add) goes the same way, by call_eager: its
 * body is the function.  Reading a result (tt_read) waits for it: array_read, client_download.
 *
 * A call whose program is there costs a hash of the signature and a look into a table; nothing is
 * allocated for it but the results. */
#include "front/run/call.h"

#include "front/run/compiled_fn.h"
#include "front/transform/build.h"
#include "front/transform/transform.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "front/value/slot.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 }; /* leaves of a call */

/* ---- outside a trace: from signature to program ---- */

typedef struct Args {
    int n;
    const tt *leaf;
    const Held **held; /* pinned */
} Args;

static void report_no_memory(tt_fn f, int n)
{
    report_broken("%s: no memory on the host for a call with %d arrays", f->label, n);
}

/* Leaf i is not what it should be.  Messages do not distinguish the leaves of a public function. */
static void report_leaf(tt_fn f, const Leaves *leaves, const tt *leaf, int i)
{
    value_report(leaf[i], f->label,
                 f->key.kind == FN_PUBLIC ? "an argument" : leaf_name(leaves, i));
}

static bool pin_all(Args *args, tt_fn f, const Leaves *leaves)
{
    for (int i = 0; i < args->n; i++)
        if (!(args->held[i] = value_try_pin(args->leaf[i]))) {
            report_leaf(f, leaves, args->leaf, i);
            while (i-- > 0)
                value_unpin(args->leaf[i]);
            return false;
        }
    return true;
}

static void unpin_all(Args *args)
{
    for (int i = 0; i < args->n; i++)
        value_unpin(args->leaf[i]);
}

/* The function, the bytes of its configuration; then two words and the extents for every leaf, and where
 * some are absent, which.  Equal words are equal signatures.  False: there is no memory for it; reported. */
static bool make_signature(tt_fn f, const Leaves *leaves, const Args *args, Scratch *scratch,
                           Signature *out)
{
    size_t bytes = leaves->config_size, words = 2 + (bytes + 7) / 8, n = 0;
    size_t slots = leaves->absent ? (size_t)leaves_slots(leaves) : 0;
    for (int i = 0; i < args->n; i++)
        words += 2 + (size_t)args->held[i]->type.rank;
    words += (slots + 7) / 8;
    uint64_t *key = SCRATCH(scratch, uint64_t, words);
    if (!key)
        return report_no_memory(f, args->n), false;
    key[n++] = (uint64_t)(uintptr_t)f;
    key[n++] = bytes;
    if (bytes) {
        n += (bytes + 7) / 8;
        key[n - 1] = 0;
        memcpy(key + 2, leaves->config, bytes);
    }
    for (int i = 0; i < args->n; i++) {
        const Held *h = args->held[i];
        key[n++] =
            (uint64_t)h->type.element | (uint64_t)h->type.rank << 8 | (uint64_t)h->is_weak << 16;
        key[n++] = (uint64_t)(uintptr_t)h->array->layout;
        for (int k = 0; k < h->type.rank; k++)
            key[n++] = (uint64_t)h->type.dims[k];
    }
    if (slots) {
        n += (slots + 7) / 8;
        key[n - 1] = 0;
        memcpy(key + n - (slots + 7) / 8, leaves->absent, slots);
    }
    *out = (Signature){ key, n * sizeof *key, hash_bytes(key, n * sizeof *key, 0) };
    return true;
}

static bool is_concrete(tt_fn f, const Args *args)
{
    for (int i = 0; i < args->n; i++)
        if (!args->held[i]->array) {
            report_broken("%s: an argument is being traced, by another thread or inside another "
                          "function",
                          f->label);
            return false;
        }
    return true;
}

/* Fills in the types of the leaves; gives how they lie.  NULL: reported. */
static const ArrayLayout *const *describe(tt_fn f, Leaves *leaves, const Args *args,
                                          Scratch *scratch)
{
    const ArrayLayout **layouts = SCRATCH(scratch, const ArrayLayout *, args->n);
    leaves->types = SCRATCH(scratch, Type, args->n);
    leaves->is_weak = SCRATCH(scratch, bool, args->n);
    if (!layouts || !leaves->types || !leaves->is_weak)
        return report_no_memory(f, args->n), NULL;
    for (int i = 0; i < args->n; i++) {
        layouts[i] = args->held[i]->array->layout;
        leaves->types[i] = args->held[i]->type;
        leaves->is_weak[i] = args->held[i]->is_weak;
    }
    return layouts;
}

/* With a hold for the caller.  NULL: reported. */
static CompiledFn *need_compiled(tt_fn f, Leaves *leaves, const Args *args, Scratch *scratch)
{
    Signature signature;
    if (!make_signature(f, leaves, args, scratch, &signature))
        return NULL;
    CompiledFn *p = compiled_fn_find(&signature);
    if (p)
        return p;
    pthread_mutex_lock(&f->building);
    p = compiled_fn_find(&signature);
    const ArrayLayout *const *layouts = p ? NULL : describe(f, leaves, args, scratch);
    if (layouts && outermost_begin(f->label, args->n, args->leaf, scratch, &f->building)) {
        p = compiled_fn_make(f, leaves, layouts);
        if (p)
            compiled_fn_add(p, &signature); /* without memory for it, it is run this once */
        outermost_end();
    }
    pthread_mutex_unlock(&f->building);
    return p;
}

static bool has_room(tt_fn f, int there, int room)
{
    const char *by = f->key.kind == FN_SCAN     ? "tt_scan_as"
                     : f->key.kind == FN_COND   ? "tt_cond_as"
                     : f->key.kind == FN_SWITCH ? "tt_switch_as"
                                                : "tt_call_as";
    if (there != room)
        report_broken("%s returns %d array%s; the caller has room for %d: name what it returns by "
                      "%s(type, ...)",
                      f->label, there, there == 1 ? "" : "s", room, by);
    return there == room;
}

/* leaves: how many each argument has; its types are filled in when they are needed. */
static bool call_concrete(tt_fn f, Leaves *leaves, const tt *leaf, Scratch *scratch, int nresults,
                          tt *results)
{
    Args args = { leaves->n, leaf, SCRATCH(scratch, const Held *, leaves->n) };
    Array **arrays = SCRATCH(scratch, Array *, leaves->n);
    bool ok = args.held && arrays;
    if (!ok)
        report_no_memory(f, leaves->n);
    if (ok && (ok = pin_all(&args, f, leaves))) {
        CompiledFn *p = is_concrete(f, &args) ? need_compiled(f, leaves, &args, scratch) : NULL;
        for (int i = 0; i < args.n; i++)
            arrays[i] = args.held[i]->array;
        ok = p && has_room(f, p->nslots, nresults) &&
             compiled_fn_call(p, f->label, arrays, scratch, results);
        if (p)
            compiled_fn_release(p);
        unpin_all(&args);
    }
    return ok;
}

/* ---- inside a trace ---- */

/* The types of traced leaves, in the session's arena. */
static bool leaf_types(tt_fn f, Leaves *leaves, const tt *leaf)
{
    leaves->types = ARENA_ARRAY(trace_arena(), Type, leaves->n + 1);
    leaves->is_weak = ARENA_ARRAY(trace_arena(), bool, leaves->n + 1);
    for (int i = 0; i < leaves->n; i++) {
        Shape shape;
        if (!value_try_pin(leaf[i])) {
            report_leaf(f, leaves, leaf, i);
            return false;
        }
        value_unpin(leaf[i]);
        value_shape(leaf[i], f->label, &shape);
        leaves->types[i] = type_new(trace_arena(), shape.element, shape.rank, shape.dims);
        leaves->is_weak[i] = shape.is_weak;
    }
    bool in_place = f->key.kind == FN_C || f->key.kind == FN_CLOSURE;
    leaves->varies = in_place ? NULL : values_vary(leaves->n, leaf);
    return true;
}

/* What a traced call of a jit function calls; lies in the session's arena. */
typedef struct Callee {
    struct Callee *next; /* of the session */
    Str key;
    uint64_t hash; /* of the key */
    Str name;      /* empty: a map is inside, and it is copied where it is called */
    Graph graph;
    int nresults;
    const Type *results;
    Values free; /* what it uses from around it: further arguments */
} Callee;

/* Everything the body of a call depends on but its code. */
static Str callee_key(tt_fn f, const Leaves *leaves)
{
    Text key = { 0 };
    text_add(&key, &f, sizeof f);
    for (int i = 0; i < leaves->n; i++) {
        text_add(&key, &leaves->is_weak[i], 1);
        type_print(&key, leaves->types[i]);
        if (leaves->varies)
            text_add(&key, &leaves->varies[i], sizeof *leaves->varies);
    }
    if (leaves->absent)
        text_add(&key, leaves->absent, (size_t)leaves_slots(leaves));
    for (const Trace *t = tracing; t; t = t->outer) {
        if (t->axis_name)
            text_printf(&key, "|%s=%d", t->axis_name, t->axis_size);
        text_add(&key, &t->mesh, sizeof t->mesh);
        text_add(&key, &t->is_manual, sizeof t->is_manual);
    }
    Str copy = str_copy(trace_arena(), (Str){ key.at, key.n });
    text_free(&key);
    return copy;
}

static Str unique_name(Module *m, const char *name)
{
    Text text = { 0 };
    text_printf(&text, "%s", name);
    for (int i = 0;
         str_is((Str){ text.at, text.n }, "main") || func_find(m, (Str){ text.at, text.n }); i++) {
        text.n = 0;
        text_printf(&text, "%s_%d", name, i);
    }
    Str unique = str_copy(m->arena, (Str){ text.at, text.n });
    text_free(&text);
    return unique;
}

static bool has_map(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        for (int k = 0; k < node->nregions; k++)
            if (node->op == OP_MANUAL || has_map(m, node->regions[k]))
                return true;
    }
    return false;
}

static Callee *add_callee(tt_fn f, const Graph *g)
{
    Module *m = session->m;
    Callee *callee = ARENA_NEW(m->arena, Callee);
    callee->free = free_values(m, 1, &g->body);
    callee->graph = *g;
    callee->nresults = g->nresults;
    if (has_map(m, g->body))
        return callee;
    callee->name = unique_name(m, f->name);
    Type *types = ARENA_ARRAY(m->arena, Type, g->nresults + 1);
    RegionId body = region_isolate(m, g->body, callee->free);
    for (int i = 0; i < g->nresults; i++)
        types[i] = type_of(m, region_return(m, body)->in[i]);
    callee->results = types;
    Func *func = func_add(m, callee->name);
    func->body = body;
    func->nresults = g->nresults;
    func->results = types;
    func->arg_attrs = ARENA_ARRAY(m->arena, const Attr *, region_at(m, body)->nargs + 1);
    func->result_attrs = ARENA_ARRAY(m->arena, const Attr *, g->nresults + 1);
    return callee;
}

/* May it be called from elsewhere too: does it use nothing but what the session captured? */
static bool is_portable(const Callee *callee)
{
    for (int i = 0; i < callee->free.n; i++) {
        bool found = false;
        for (int k = 0; k < session->ncaptured && !found; k++)
            found = session->captured[k].value == callee->free.at[i];
        if (!found)
            return false;
    }
    return true;
}

static const Callee *need_callee(tt_fn f, const Leaves *leaves)
{
    Str key = callee_key(f, leaves);
    uint64_t hash = hash_bytes(key.at, key.n, 0);
    for (const Callee *c = session->callees; c; c = c->next)
        if (c->hash == hash && str_equal(c->key, key))
            return c;
    Trace frame = { .how = f->how, .name = f->key.inner->label, .file = f->file, .line = f->line };
    Graph g;
    frame_push(&frame);
    bool ok = fn_graph(f, leaves, &g);
    frame_pop(&frame);
    Callee *callee = ok ? add_callee(f, &g) : NULL;
    if (callee && is_portable(callee)) {
        callee->key = key;
        callee->hash = hash;
        callee->next = session->callees;
        session->callees = callee;
    }
    return callee;
}

/* A traced call of a jit function stays a call, of a private function. */
static bool call_jit(tt_fn f, const Leaves *leaves, const tt *leaf, tt *results)
{
    const Callee *callee = need_callee(f, leaves);
    if (!callee)
        return false;
    if (!callee->name.n)
        return trace_inline(f->label, &callee->graph, leaf, results);
    int n = leaves->n + callee->free.n;
    tt *operands = ARENA_ARRAY(trace_arena(), tt, n + 1);
    memcpy(operands, leaf, sizeof *leaf * (size_t)leaves->n);
    for (int i = 0; i < callee->free.n; i++)
        operands[leaves->n + i] = trace_tt(callee->free.at[i]);
    return trace_apply(f->label, OP_CALL, n, operands,
                       BUILD_ATTRS(CallAttrs, .callee = callee->name), callee->nresults,
                       callee->results, results);
}

static int traced_results(tt_fn f, const Leaves *leaves, Graph *g)
{
    if (f->key.kind == FN_C)
        return fn_c_results(f);
    if (f->key.kind == FN_JIT) {
        const Callee *callee = need_callee(f, leaves);
        if (callee)
            *g = callee->graph;
        return callee ? graph_slots(g) : -1;
    }
    Trace frame = { 0 };
    bool needs_frame = f->key.kind == FN_LOADED;
    if (needs_frame)
        frame_push(&frame);
    bool ok = fn_graph(f, leaves, g);
    if (needs_frame)
        frame_pop(&frame);
    return ok ? graph_slots(g) : -1;
}

/* Its code is called, and records in place. */
static bool call_closure(tt_fn f, const Leaves *leaves, const tt *leaf, int nresults, tt *results)
{
    CallSite at = call_site;
    int there;
    const tt *y = closure_apply(f, leaves, leaves_spread(leaves, leaf), &there);
    call_site = at;
    if (!y || !has_room(f, there, nresults))
        return false;
    memcpy(results, y, sizeof *y * (size_t)nresults);
    return true;
}

static bool call_traced(tt_fn f, Leaves *leaves, const tt *leaf, int nresults, tt *results)
{
    CallSite at = call_site;
    Graph g;
    if (!leaf_types(f, leaves, leaf))
        return false;
    if (f->key.kind == FN_CLOSURE)
        return call_closure(f, leaves, leaf, nresults, results);
    int there = traced_results(f, leaves, &g);
    bool ok = there >= 0 && has_room(f, there, nresults);
    call_site = at;
    if (ok && f->key.kind == FN_C) {
        fn_apply(f, leaves_spread(leaves, leaf), results);
    } else if (ok) {
        tt *y = ARENA_ARRAY(trace_arena(), tt, g.nresults + 1);
        ok = f->key.kind == FN_JIT ? call_jit(f, leaves, leaf, y)
                                   : trace_inline(f->label, &g, leaf, y);
        slots_spread(there, g.absent, y, results);
    }
    call_site = at;
    return ok;
}

/* ---- the interface ---- */

static bool count_leaves(tt_fn f, const tt_tree *args, int nargs, Leaves *leaves)
{
    *leaves = (Leaves){ .nargs = nargs };
    if (nargs > TT_MAX_ARGS)
        return report_broken("%s: %d arguments; at most %d are possible", f->label, nargs,
                             TT_MAX_ARGS),
               false;
    for (int i = 0; i < nargs; i++) {
        leaves->counts[i] = args[i].n;
        if (args[i].n < 0 || args[i].n > MOST - leaves->n)
            return report_broken("%s: %lld arrays; at most %d are possible in a call", f->label,
                                 (long long)args[i].n + leaves->n, MOST),
                   false;
        leaves->n += args[i].n;
    }
    leaves->arg_types = fn_types(f);
    return fn_accepts(f, nargs, leaves->counts);
}

/* The leaves of all arguments, one after the other, into `leaf` if they are not so already. */
static const tt *join_leaves(const tt_tree *args, const Leaves *leaves, tt *leaf)
{
    if (leaves->nargs == 1 && args[0].leaf)
        return args[0].leaf;
    for (int i = 0, n = 0; leaf && i < leaves->nargs; n += args[i++].n)
        if (args[i].n)
            memcpy(leaf + n, args[i].leaf, sizeof *leaf * (size_t)args[i].n);
    return leaf;
}

static bool has_absent(const Leaves *leaves, const tt *leaf)
{
    for (int i = 0; i < leaves->n; i++)
        if (!leaf[i].slot && value_is_absent(leaf[i]))
            return true;
    return false;
}

/* Some are absent: the others, in `there`; which, in `absent`.  Both have room for all. */
static const tt *drop_absent(Leaves *leaves, const tt *leaf, tt *there, bool *absent)
{
    int at = 0, n = 0;
    memcpy(leaves->slots, leaves->counts, sizeof leaves->slots);
    for (int argument = 0; argument < leaves->nargs; argument++) {
        leaves->counts[argument] = 0;
        for (int end = at + leaves->slots[argument]; at < end; at++)
            if (!(absent[at] = value_is_absent(leaf[at]))) {
                there[n++] = leaf[at];
                leaves->counts[argument]++;
            }
    }
    leaves->absent = absent;
    leaves->n = n;
    return there;
}

/* The leaves of all arguments that are there.  NULL: no memory; reported. */
static const tt *outer_leaves(tt_fn f, const tt_tree *args, Leaves *leaves, Scratch *scratch)
{
    const tt *leaf = join_leaves(args, leaves, SCRATCH(scratch, tt, leaves->n));
    if (leaf && has_absent(leaves, leaf)) {
        tt *there = SCRATCH(scratch, tt, leaves->n);
        bool *absent = SCRATCH(scratch, bool, leaves->n);
        leaf = there && absent ? drop_absent(leaves, leaf, there, absent) : NULL;
    }
    if (!leaf)
        report_no_memory(f, leaves->n);
    return leaf;
}

/* The same where a function is being traced. */
static const tt *traced_leaves(const tt_tree *args, Leaves *leaves)
{
    const tt *leaf = join_leaves(args, leaves, ARENA_ARRAY(trace_arena(), tt, leaves->n + 1));
    return has_absent(leaves, leaf)
               ? drop_absent(leaves, leaf, ARENA_ARRAY(trace_arena(), tt, leaves->n + 1),
                             ARENA_ARRAY(trace_arena(), bool, leaves->n + 1))
               : leaf;
}

/* A call inside a trace; lies on the stack of tt_call_n. */
typedef struct TracedCall {
    tt_fn f;
    const tt_tree *args;
    Leaves *leaves;
    int nresults;
    tt *results;
} TracedCall;

static void run_traced(void *user)
{
    const TracedCall *c = user;
    call_traced(c->f, c->leaves, traced_leaves(c->args, c->leaves), c->nresults, c->results);
}

/* Its scratch is no part of the frames of calls inside calls. */
__attribute__((noinline)) static void call_outermost(tt_fn f, const tt_tree *args, Leaves *leaves,
                                                     int nresults, tt *results)
{
    Scratch scratch;
    scratch_begin(&scratch);
    const tt *leaf = outer_leaves(f, args, leaves, &scratch);
    if (leaf)
        call_concrete(f, leaves, leaf, &scratch, nresults, results);
    scratch_end(&scratch);
}

const tt *tt_call_n(tt_fn f, const tt_tree *args, int nargs, int nresults)
{
    enum { DEEPEST = 256 };
    PUBLIC;
    tt *results = scope_values(nresults);
    Leaves leaves;
    if (!results)
        return no_values;
    if (!fn_is_given(f, "tt_call") || !count_leaves(f, args, nargs, &leaves))
        return results;
    if (call_depth == DEEPEST)
        return report_broken(
                   "%s: calls are %d deep: a traced function that calls itself never ends, "
                   "since nothing is known yet to end it by",
                   f->label, DEEPEST),
               results;
    call_depth++;
    if (tracing) {
        TracedCall call = { f, args, &leaves, nresults, results };
        if (!library_guard(f->label, run_traced, &call))
            memset(results, 0, sizeof *results * (size_t)nresults);
    } else {
        call_outermost(f, args, &leaves, nresults, results);
    }
    call_depth--;
    return results;
}

/* How many leaves the trees of a tt_map have, those of one array aside; 0: reported. */
static int map_leaves(tt_fn f, const tt_tree *trees, int ntrees)
{
    int leaves = 1, first = 0;
    for (int i = 0; i < ntrees; i++)
        if (leaves == 1 && trees[i].n != 1)
            leaves = trees[first = i].n;
    for (int i = 0; i < ntrees; i++)
        if (trees[i].n != leaves && trees[i].n != 1)
            return report_broken("tt_map(%s): tree %d has %d arrays, tree %d has %d", f->label, i,
                                 trees[i].n, first, leaves),
                   0;
    return leaves;
}

/* Is leaf i there in every tree that has as many leaves, or absent in every one?  False: reported. */
static bool map_takes(tt_fn f, const tt_tree *trees, int ntrees, int leaves, int i, bool *is_there)
{
    int first = -1;
    for (int k = 0; k < ntrees; k++) {
        if (trees[k].n != leaves)
            continue;
        bool has = !value_is_absent(trees[k].leaf[i]);
        if (first >= 0 && has != *is_there)
            return report_broken("tt_map(%s): array %d is absent in tree %d, and there in tree %d: "
                                 "all must have it, or none",
                                 f->label, i, has ? first : k, has ? k : first),
                   false;
        first = first < 0 ? k : first;
        *is_there = has;
    }
    return true;
}

const tt *tt_map_n(tt_fn f, const tt_tree *trees, int ntrees, int n)
{
    PUBLIC;
    tt *results = scope_values(n);
    if (!results)
        return no_values;
    if (!fn_is_given(f, "tt_map"))
        return results;
    int leaves = map_leaves(f, trees, ntrees);
    if (!leaves)
        return results;
    if (n % leaves)
        return report_broken("tt_map(%s): %d arrays are wanted of %d leaves: as many as f gives of "
                             "each, one tree after the other",
                             f->label, n, leaves),
               results;
    for (int i = 0; i < leaves; i++) {
        tt_tree leaf[TT_MAX_ARGS];
        bool is_there = true;
        for (int k = 0; k < ntrees && k < TT_MAX_ARGS; k++)
            leaf[k] = (tt_tree){ trees[k].leaf + (trees[k].n == 1 ? 0 : i), 1 };
        if (!map_takes(f, trees, ntrees, leaves, i, &is_there))
            return results;
        if (!is_there)
            continue;
        const tt *y = tt_call_n(f, leaf, ntrees, n / leaves);
        for (int k = 0; k < n / leaves; k++)
            results[k * leaves + i] = y[k];
    }
    return results;
}

/* The text, kept for this scope; empty: reported. */
static const char *lower_text(tt_fn f, const tt_tree *args, Leaves *leaves, Scratch *scratch,
                              bool is_closed)
{
    Args pinned = { .leaf = outer_leaves(f, args, leaves, scratch) };
    if (!pinned.leaf)
        return "";
    pinned.n = leaves->n;
    pinned.held = SCRATCH(scratch, const Held *, leaves->n);
    if (!pinned.held)
        return report_no_memory(f, leaves->n), "";
    if (!pin_all(&pinned, f, leaves))
        return "";
    const ArrayLayout *const *layouts =
        is_concrete(f, &pinned) ? describe(f, leaves, &pinned, scratch) : NULL;
    Text text = { 0 };
    if (layouts && outermost_begin(f->label, pinned.n, pinned.leaf, scratch, NULL)) {
        text = compiled_fn_text(f, leaves, layouts, is_closed);
        outermost_end();
    }
    unpin_all(&pinned);
    char *kept = scope_alloc(text.n + 1);
    if (text.n && kept)
        memcpy(kept, text.at, text.n);
    text_free(&text);
    return kept ? kept : "";
}

const char *lower_call(const char *asks, tt_fn f, const tt_tree *args, int nargs, bool is_closed)
{
    Leaves leaves;
    if (!fn_is_given(f, asks) || !count_leaves(f, args, nargs, &leaves))
        return "";
    if (tracing)
        return report_broken("%s(%s) inside a traced function: lower the outermost", asks,
                             f->label),
               "";
    Scratch scratch;
    scratch_begin(&scratch);
    const char *text = lower_text(f, args, &leaves, &scratch, is_closed);
    scratch_end(&scratch);
    return text;
}

const char *tt_lower_n(tt_fn f, const tt_tree *args, int nargs)
{
    PUBLIC;
    return lower_call("tt_lower", f, args, nargs, false);
}

/* ---- what a call would give ---- */

typedef struct Asked {
    tt_fn f;
    Leaves *leaves;
    tt_about *results;
    int room, n;
} Asked;

static void ask_types(void *user)
{
    Asked *a = user;
    Trace frame = {
        .how = "eval_shape", .name = a->f->label, .file = a->f->file, .line = a->f->line
    };
    CallSite at = call_site;
    Graph g;
    frame_push(&frame);
    bool ok = fn_graph(a->f, a->leaves, &g);
    frame_pop(&frame);
    call_site = at;
    for (int i = 0; ok && g.absent && i < g.nslots && i < a->room; i++)
        a->results[i] = (tt_about){ .shape = { .n = -1 } };
    for (int i = 0; ok && i < g.nresults && result_slot(&g, i) < a->room; i++) {
        tt_about *about = &a->results[result_slot(&g, i)];
        Type t = type_of(g.m, region_return(g.m, g.body)->in[i]);
        dtype_of(element_canonical(t.element, g.is_weak && g.is_weak[i]), &about->type);
        about->shape = (tt_dims){ t.rank, { 0 } };
        memcpy(about->shape.v, t.dims, sizeof *t.dims * (size_t)t.rank);
    }
    a->n = ok ? graph_slots(&g) : -1;
}

static void ask_outermost(Asked *a, const tt_tree *args, Scratch *scratch)
{
    Args pinned = { .leaf = outer_leaves(a->f, args, a->leaves, scratch) };
    if (!pinned.leaf)
        return;
    int n = pinned.n = a->leaves->n;
    pinned.held = SCRATCH(scratch, const Held *, n);
    if (!pinned.held) {
        report_no_memory(a->f, n);
        return;
    }
    if (!pin_all(&pinned, a->f, a->leaves))
        return;
    bool ok = is_concrete(a->f, &pinned) && describe(a->f, a->leaves, &pinned, scratch);
    if (ok && outermost_begin(a->f->label, n, pinned.leaf, scratch, NULL)) {
        if (session_begin(a->f->label)) {
            library_guard(a->f->label, ask_types, a);
            session_end();
        }
        outermost_end();
    }
    unpin_all(&pinned);
}

/* The same where a function is being traced. */
typedef struct Inside {
    Asked *a;
    const TracedCall *call;
} Inside;

static void ask_inside(void *user)
{
    const Inside *w = user;
    const tt *leaf = traced_leaves(w->call->args, w->call->leaves);
    if (leaf_types(w->a->f, w->a->leaves, leaf))
        ask_types(w->a);
}

int tt_eval_shape_n(tt_fn f, const tt_tree *args, int nargs, tt_about *results, int room)
{
    PUBLIC;
    Leaves leaves;
    Asked a = { f, &leaves, results, room, -1 };
    if (!fn_is_given(f, "tt_eval_shape") || !count_leaves(f, args, nargs, &leaves))
        return -1;
    if (tracing) {
        TracedCall call = { f, args, &leaves, 0, NULL };
        Inside inside = { &a, &call };
        library_guard(f->label, ask_inside, &inside);
        return a.n;
    }
    Scratch scratch;
    scratch_begin(&scratch);
    ask_outermost(&a, args, &scratch);
    scratch_end(&scratch);
    return a.n;
}

/* ---- public functions, called outside a trace ---- */

typedef struct Recording {
    Body *body;
    const tt *in;
    tt *out;
    const void *config;
} Recording;

static void run_body(void *user)
{
    const Recording *r = user;
    r->body(r->in, r->out, r->config);
}

bool record_body(const char *name, Body *body, const void *config, const tt *in, int nout, tt *out)
{
    unsigned before = report_count();
    Recording recording = { body, in, out, config };
    if (!library_guard(name, run_body, &recording))
        memset(out, 0, sizeof *out * (size_t)nout);
    return report_count() == before;
}

bool call_eager(const char *name, Body *body, const void *config, size_t config_size, int nin,
                const tt *in, int nout, tt *out)
{
    PUBLIC;
    memset(out, 0, sizeof *out * (size_t)nout);
    if (tracing)
        return record_body(name, body, config, in, nout, out);
    /* One function for each body, whatever it is configured by; found here without a lock. */
    enum { RECENT = 64 };
    static _Thread_local tt_fn recent[RECENT];
    unsigned at = (unsigned)((uintptr_t)body >> 4 ^ (uintptr_t)name) % RECENT;
    tt_fn f = recent[at];
    if (!f || f->key.function != (void (*)(void))body || f->key.config != name ||
        f->arity != nout) {
        FnKey key = {
            .function = (void (*)(void))body, .config = name, .kind = FN_PUBLIC, .arity = nout
        };
        f = recent[at] = fn_intern(&key, NULL, name);
    }
    if (!f)
        return false;
    /* One argument: only messages of transformations tell leaves apart. */
    Leaves leaves = {
        .n = nin, .nargs = 1, .counts = { nin }, .config = config, .config_size = config_size
    };
    Scratch scratch;
    scratch_begin(&scratch);
    bool ok = call_concrete(f, &leaves, in, &scratch, nout, out);
    scratch_end(&scratch);
    return ok;
}
