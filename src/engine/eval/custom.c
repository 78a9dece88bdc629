/* custom.c - custom calls by the name of their target.
 *
 * check.* compare a result with what is expected and fail the run when it is not that:
 *
 *     check.expect_eq          equal; nan equals nan
 *     check.expect_close       floats at most max_ulp_difference (3) steps apart
 *     check.expect_almost_eq   floats at most `tolerance` (0.001) apart, absolutely or relatively
 *
 * Those that say something about where an array lies hand it on unchanged.  Names that have
 * no rule here are routines (routine.h) or registered functions. */
#include "engine/eval/rules.h"

#include "engine/custom_call.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tolerance {
    bool is_equal;                /* exactly; else by the two below */
    int64_t max_steps, min_steps; /* between neighbouring floats */
    double difference;            /* not 0: counts instead of steps */
} Tolerance;

static bool parts_agree(Tensor actual, Tensor expected, int64_t i, const Tolerance *t)
{
    double x = float_at(actual, i), y = float_at(expected, i);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    if (t->is_equal || isinf(x) || isinf(y))
        return x == y;
    if (t->difference != 0)
        return fabs(x - y) <= t->difference * fmax(1, fabs(y));
    int64_t steps = 0;
    if (x != y && __builtin_sub_overflow(float_rank(actual, i), float_rank(expected, i), &steps))
        steps = INT64_MAX; /* -1.0 and 1.0 are more steps apart than an int64_t counts */
    return llabs(steps) >= t->min_steps && llabs(steps) <= t->max_steps;
}

/* A complex array as twice as many floats. */
static Tensor as_parts(Tensor t)
{
    return (Tensor){ type_scalar(element_part(t.type.element)), t.data };
}

static bool agree(Tensor actual, Tensor expected, int64_t i, const Tolerance *t)
{
    switch (element_carrier(actual.type.element)) {
    case CARRY_INT: return int_at(actual, i) == int_at(expected, i);
    case CARRY_FLOAT: return parts_agree(actual, expected, i, t);
    case CARRY_COMPLEX:
        return parts_agree(as_parts(actual), as_parts(expected), 2 * i, t) &&
               parts_agree(as_parts(actual), as_parts(expected), 2 * i + 1, t);
    default: return true;
    }
}

static void print_element(Text *out, Tensor t, int64_t i)
{
    switch (element_carrier(t.type.element)) {
    case CARRY_INT:
        if (element_info[t.type.element].kind == SIGNED)
            text_printf(out, "%" PRId64, int_at(t, i));
        else
            text_printf(out, "%" PRIu64, (uint64_t)int_at(t, i));
        break;
    case CARRY_FLOAT:
        text_printf(out, "%.*g", t.type.element == F64 ? 17 : 9, float_at(t, i));
        break;
    default:
        text_printf(out, "(%.*g, %.*g)", t.type.element == C128 ? 17 : 9, creal(complex_at(t, i)),
                    t.type.element == C128 ? 17 : 9, cimag(complex_at(t, i)));
    }
}

static void print_index(Text *out, Type type, int64_t i)
{
    int64_t index[MAX_RANK], strides[MAX_RANK];
    type_strides(type, strides);
    for (int d = 0; d < type.rank; d++)
        index[d] = i / strides[d] % type.dims[d];
    text_printf(out, "[");
    text_ints(out, index, type.rank);
    text_printf(out, "]");
}

static Error *disagree(const Node *n, const Tensor *in, int64_t first, int64_t differ)
{
    const CustomCallAttrs *a = n->attrs;
    Text text = { 0 };
    text_printf(&text,
                "%.*s of %s, at %s: %" PRId64 " of %" PRId64 " elements differ, the first at ",
                STR_ARG(a->call_target_name), type_name(in->type), loc_name(n->loc), differ,
                type_count(in->type));
    print_index(&text, in->type, first);
    text_printf(&text, ": ");
    print_element(&text, in[0], first);
    text_printf(&text, " where ");
    print_element(&text, in[1], first);
    text_printf(&text, " is expected");
    Error *error = error_new(CODE_INVALID, "%s", text_cstr(&text));
    text_free(&text);
    return error;
}

static Error *check(const Node *n, const Tensor *in, Tolerance t)
{
    if (!call_takes(node_call(n), n->nin, n->nout) || !type_equal(in[0].type, in[1].type))
        return error_new(CODE_INVALID, "%.*s, at %s: takes two arrays of one type",
                         STR_ARG(((const CustomCallAttrs *)n->attrs)->call_target_name),
                         loc_name(n->loc));
    int64_t count = type_count(in->type), differ = 0, first = 0;
    for (int64_t i = count - 1; i >= 0; i--)
        if (!agree(in[0], in[1], i, &t)) {
            differ++;
            first = i;
        }
    return differ ? disagree(n, in, first, differ) : NULL;
}

/* ---- the rules of calls.def's column `eval` ---- */

typedef MUST_USE Error *EvalCall(const Node *n, const Tensor *in, Tensor *out);
static EvalCall eval_check_eq, eval_check_close, eval_check_almost_eq, eval_hand_on;

static EvalCall *const eval_calls[CALL_COUNT + 1] = {
#define eval_none NULL
#define CALL(id, name, nin, nout, effect, role, shapes, rewrite, eval, ...)                        \
    [CALL_##id] = eval_##eval,
#include "ops/calls.def"
};

static Error *eval_check_eq(const Node *n, const Tensor *in, __attribute__((unused)) Tensor *out)
{
    return check(n, in, (Tolerance){ .is_equal = true });
}

static Error *eval_check_close(const Node *n, const Tensor *in, __attribute__((unused)) Tensor *out)
{
    return check(n, in,
                 (Tolerance){ .max_steps = custom_option(n, "max_ulp_difference", 3),
                              .min_steps = custom_option(n, "min_ulp_difference", 0) });
}

static Error *eval_check_almost_eq(const Node *n, const Tensor *in,
                                   __attribute__((unused)) Tensor *out)
{
    const Attr *given = custom_option_find(n, "tolerance");
    return check(
        n, in,
        (Tolerance){ .difference = given && given->kind == ATTR_FLOAT ? given->number : 1e-3 });
}

/* Results are the operands, one by one. */
static Error *eval_hand_on(const Node *n, const Tensor *in, Tensor *out)
{
    for (int i = 0; i < n->nout; i++) {
        if (i >= n->nin || !type_equal(in[i].type, out[i].type))
            return error_new(CODE_UNIMPLEMENTED,
                             "not supported: custom_call @%.*s from %s to %s, at %s",
                             STR_ARG(((const CustomCallAttrs *)n->attrs)->call_target_name),
                             i < n->nin ? type_name(in[i].type) : "nothing", type_name(out[i].type),
                             loc_name(n->loc));
        memcpy(out[i].data, in[i].data, type_bytes(out[i].type));
    }
    return NULL;
}

Error *eval_custom_call(const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    EvalCall *eval = eval_calls[node_call(n)];
    if (eval)
        return eval(n, in, out);
    Routine *routine = routine_find(m, n);
    if (routine)
        return routine(NULL, n, in, out);
    return error_new(CODE_UNIMPLEMENTED,
                     "not supported: custom_call @%.*s, at %s: nobody has defined it; a C program "
                     "does with %s",
                     STR_ARG(((const CustomCallAttrs *)n->attrs)->call_target_name),
                     loc_name(n->loc), call_definer);
}
