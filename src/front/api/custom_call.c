/* custom_call.c - functions in C that programs call by name: tt_define_call hands one to the engine,
 * tt_custom_call records a call of one. */
#include "front/api/numpy.h"
#include "front/client/client.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What the engine calls. */

typedef struct Foreign {
    tt_call_function *function;
    void *user;
    struct Foreign *next; /* of all there are, for ever: a run may still be in an older one */
} Foreign;

static _Atomic(Foreign *) foreigns;

/* Arrays in the interface's words.  False: an element type that it has no word for. */
static bool put_in_words(int n, const TuttiOperand *from, tt_operand *to)
{
    for (int i = 0; i < n; i++) {
        Element e;
        to[i] = (tt_operand){ .rank = from[i].rank, .dims = from[i].dims, .data = from[i].data };
        if (!element_of_pjrt((int)from[i].type, &e) || !dtype_of(e, &to[i].type))
            return false;
    }
    return true;
}

static int32_t answer(void *user, const TuttiCall *call)
{
    const Foreign *f = user;
    const char *why = "one of its arrays has elements that no tt_dtype stands for";
    tt_operand *in = calloc((size_t)(call->nargs + call->nresults) + 1, sizeof *in);
    if (!in)
        why = "no memory on the host for the list of its arrays";
    tt_operand *out = in ? in + call->nargs : NULL;
    if (in && put_in_words(call->nargs, call->args, in) &&
        put_in_words(call->nresults, call->results, out))
        why = f->function(f->user, in, call->nargs, out, call->nresults);
    free(in);
    if (why)
        snprintf(call->message, call->room, "%s", why);
    return why != NULL;
}

bool tt_define_call(const char *name, tt_call_function *function, void *user)
{
    PUBLIC;
    if (!name || !*name || !function)
        return report_broken("tt_define_call: %s is missing", function ? "a name" : "the function"),
               false;
    Error *error = client_need();
    Foreign *f = malloc(sizeof *f);
    if (!f) {
        error_free(error);
        return report_broken("tt_define_call: no memory on the host for %s", name), false;
    }
    *f = (Foreign){ function, user, atomic_load(&foreigns) };
    while (!atomic_compare_exchange_weak(&foreigns, &f->next, f))
        ;
    if (!error)
        error = client_define("tt_define_call", name, answer, f);
    if (error)
        report_error(error);
    return !error;
}

/* ---- A call of one. */

/* The configuration of a call, by which its trace is found again: this, then the results, then the
 * name. */
typedef struct CallKey {
    int64_t nin, nout;
} CallKey;

typedef struct Result {
    int32_t element, rank;
    int64_t dims[TT_MAX_RANK];
} Result;

static void call_body(const tt *in, tt *out, const void *config)
{
    const CallKey *key = config;
    const Result *results = (const Result *)(key + 1);
    const char *name = (const char *)(results + key->nout);
    tt *settled = ARENA_ARRAY(trace_arena(), tt, key->nin + 1);
    Type *types = ARENA_ARRAY(trace_arena(), Type, key->nout);
    for (int64_t i = 0; i < key->nin; i++) {
        Shape s;
        if (!value_shape(in[i], "tt_custom_call", &s))
            return;
        settled[i] = as_element(in[i], element_canonical(s.element, s.is_weak));
    }
    for (int64_t i = 0; i < key->nout; i++)
        types[i] =
            type_new(trace_arena(), (Element)results[i].element, results[i].rank, results[i].dims);
    const CustomCallAttrs *attrs =
        BUILD_ATTRS(CustomCallAttrs, .call_target_name = str_copy(trace_arena(), str_of(name)),
                    .api_version = 1);
    trace_apply("tt_custom_call", OP_CUSTOM_CALL, (int)key->nin, settled, attrs, (int)key->nout,
                types, out);
}

/* False: reported. */
static bool put_results(Text *out, tt_tree like)
{
    for (int i = 0; i < like.n; i++) {
        Shape s;
        if (!value_shape(like.leaf[i], "tt_custom_call", &s))
            return false;
        Result r = { (int32_t)element_canonical(s.element, s.is_weak), s.rank, { 0 } };
        memcpy(r.dims, s.dims, sizeof *r.dims * (size_t)s.rank);
        text_add(out, &r, sizeof r);
    }
    return true;
}

/* The arguments of tt_custom_call. */
typedef struct CustomCall {
    const char *name;
    tt_tree like;
    const tt_tree *args;
    int nargs;
    tt *results;
} CustomCall;

static void record_call(void *user)
{
    const CustomCall *a = user;
    Text leaves = { 0 }, config = { 0 };
    for (int i = 0; i < a->nargs; i++)
        text_add(&leaves, a->args[i].leaf, sizeof(tt) * (size_t)a->args[i].n);
    CallKey key = { (int64_t)(leaves.n / sizeof(tt)), a->like.n };
    text_add(&config, &key, sizeof key);
    if (put_results(&config, a->like)) {
        text_add(&config, a->name, strlen(a->name) + 1);
        call_eager("tt_custom_call", call_body, config.at, config.n, (int)key.nin,
                   (const tt *)leaves.at, a->like.n, a->results);
    }
    text_free(&leaves);
    text_free(&config);
}

const tt *tt_custom_call_n(const char *name, tt_tree like, const tt_tree *args, int nargs)
{
    PUBLIC;
    tt *results = scope_values(like.n > 0 ? like.n : 1);
    if (!results)
        return no_values;
    if (!name || !*name || like.n < 1) {
        report_broken("tt_custom_call: %s",
                      like.n < 1 ? "it gives no array: like has none" : "a name is missing");
        return results;
    }
    CustomCall call = { name, like, args, nargs, results };
    if (!library_guard("tt_custom_call", record_call, &call))
        memset(results, 0, sizeof *results * (size_t)like.n);
    return results;
}
