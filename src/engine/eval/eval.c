/* eval.c - the reference evaluator: executes regions node by node.
 *
 * A Evaluator keeps one slot per value of the module: where the value's elements lie.  A slot's
 * memory is taken when the value is first made and used again when it is made anew (in a loop,
 * by a second call); values are static in size, so it always fits.  Since value numbers are
 * unique in a module, regions and called functions share the slots of their evaluator.
 *
 *     slots     1     2     3     4 ...
 *               |     |     +-- made here: owned
 *               |     +-------- a constant: borrowed from the module
 *               +-------------- an argument: borrowed from the caller
 *
 * Operations without control flow are functions of their operands: rules/eval_*.c. */
#include "engine/eval/eval.h"

#include "base/fail.h"
#include "base/guard.h"
#include "engine/eval/rules.h"
#include "engine/tensor.h"

#include <inttypes.h>
#include <string.h>

typedef struct Slot {
    void *data;  /* NULL: not there (yet) */
    void *owned; /* memory of its own, kept from one making to the next */
} Slot;

struct Evaluator {
    const Module *m;
    RegionId region;
    Slot *slots;         /* by ValueId */
    ValueId first, last; /* of those that own memory; last 0: none */
    int depth;           /* of calls */
};

static Error *evaluate_region(Evaluator *p, RegionId r);

/* Slots. */

static Error *no_memory(Type type)
{
    return error_new(CODE_EXHAUSTED, "no memory to evaluate a value of type %s (%zu bytes)",
                     type_name(type), type_bytes(type));
}

/* Memory of v's own for it. */
static Error *make_value(Evaluator *p, ValueId v, Tensor *out)
{
    Slot *slot = &p->slots[v];
    Type type = type_of(p->m, v);
    if (!slot->owned) {
        size_t bytes = type_bytes(type);
        slot->owned = heap_try(bytes);
        if (!slot->owned)
            return no_memory(type);
        p->first = p->last && p->first < v ? p->first : v;
        p->last = p->last > v ? p->last : v;
    }
    slot->data = slot->owned;
    *out = (Tensor){ type, slot->data };
    return NULL;
}

static void borrow_value(Evaluator *p, ValueId v, void *data)
{
    p->slots[v].data = data;
}

/* A constant from outside the region that is executed is known all the same. */
static Error *get_value(Evaluator *p, ValueId v, Tensor *out)
{
    const Module *m = p->m;
    *out = (Tensor){ type_of(m, v), p->slots[v].data };
    if (out->data)
        return NULL;
    const Dense *constant = value_constant(m, v);
    if (constant) {
        TRY(make_value(p, v, out));
        return eval_constant(m, node_at(m, value_def(m, v)), NULL, out);
    }
    const Region *region = region_at(m, p->region);
    return error_new(CODE_UNIMPLEMENTED,
                     "not supported: a region of %s evaluated by itself that uses a value of type "
                     "%s from outside",
                     region->parent ? op_name(node_at(m, region->parent)->op) : "func.func",
                     type_name(out->type));
}

static void copy_tensor(Tensor to, Tensor from)
{
    memcpy(to.data, from.data, type_bytes(to.type));
}

/* What the RETURN of r names, after r was executed. */
static Error *copy_results(Evaluator *p, RegionId r, int n, Tensor *out)
{
    const Node *last = region_return(p->m, r);
    require(last->nin == n);
    for (int i = 0; i < n; i++) {
        Tensor value;
        TRY(get_value(p, last->in[i], &value));
        copy_tensor(out[i], value);
    }
    return NULL;
}

static void bind_args(Evaluator *p, RegionId r, const Tensor *in)
{
    const Region *region = region_at(p->m, r);
    for (int i = 0; i < region->nargs; i++)
        borrow_value(p, region->args + (ValueId)i, in[i].data);
}

/* Control flow. */

/* A copy of tensors with memory of its own. */
static Error *tensors_copy(int n, const Tensor *from, Tensor **out)
{
    size_t bytes = sizeof **out * (size_t)n;
    for (int i = 0; i < n; i++)
        bytes += type_bytes(from[i].type) + 16;
    char *room = heap_try(bytes);
    if (!room)
        return error_new(CODE_EXHAUSTED, "no memory to evaluate a loop over %zu bytes", bytes);
    Tensor *copy = (Tensor *)room;
    room += sizeof *copy * (size_t)n;
    for (int i = 0; i < n; i++) {
        copy[i] = (Tensor){ from[i].type, room };
        copy_tensor(copy[i], from[i]);
        room += (type_bytes(from[i].type) + 15) / 16 * 16;
    }
    *out = copy;
    return NULL;
}

/* The carried values are in `now`; the body writes `next`; then the two change places. */
static Error *evaluate_loop(Evaluator *p, const Node *n, Tensor **now, Tensor **next)
{
    for (;;) {
        unsigned char goes_on = 0;
        Tensor condition = { type_scalar(I1), &goes_on };
        bind_args(p, n->regions[0], *now);
        TRY(evaluate_region(p, n->regions[0]));
        TRY(copy_results(p, n->regions[0], 1, &condition));
        if (!goes_on)
            return NULL;
        bind_args(p, n->regions[1], *now);
        TRY(evaluate_region(p, n->regions[1]));
        TRY(copy_results(p, n->regions[1], n->nin, *next));
        Tensor *swap = *now;
        *now = *next;
        *next = swap;
    }
}

static Error *evaluate_while(Evaluator *p, const Node *n, const Tensor *in, Tensor *out)
{
    Tensor *now = NULL, *next = NULL;
    Error *error = tensors_copy(n->nin, in, &now);
    error = error ? error : tensors_copy(n->nin, in, &next);
    error = error ? error : evaluate_loop(p, n, &now, &next);
    for (int i = 0; !error && i < n->nout; i++)
        copy_tensor(out[i], now[i]);
    heap_free(now);
    heap_free(next);
    return error;
}

/* A number that names no region means the last. */
static Error *evaluate_branch(Evaluator *p, const Node *n, const Tensor *in, Tensor *out)
{
    int64_t which = int_at(in[0], 0);
    if (in[0].type.element == I1) /* an if, in a program as it was read: true is region 0 */
        which = which ? 0 : 1;
    if (which < 0 || which >= n->nregions)
        which = n->nregions - 1;
    TRY(evaluate_region(p, n->regions[which]));
    return copy_results(p, n->regions[which], n->nout, out);
}

/* A region that takes the operands and gives the results: fusions, function bodies. */
static Error *evaluate_body(Evaluator *p, RegionId r, int nout, const Tensor *in, Tensor *out)
{
    bind_args(p, r, in);
    TRY(evaluate_region(p, r));
    return copy_results(p, r, nout, out);
}

static Error *check_call(const Module *m, const Node *n, Str name, const Func *f)
{
    bool fits = f && f->body && region_at(m, f->body)->nargs == n->nin && f->nresults == n->nout;
    for (int i = 0; fits && i < n->nin; i++)
        fits =
            type_equal(type_of(m, n->in[i]), type_of(m, region_at(m, f->body)->args + (ValueId)i));
    for (int i = 0; fits && i < n->nout; i++)
        fits = type_equal(type_of(m, n->out + (ValueId)i), f->results[i]);
    if (fits)
        return NULL;
    return error_new(CODE_INVALID, "%s @%.*s, at %s: %s", op_name(n->op), STR_ARG(name),
                     loc_name(n->loc),
                     f ? "the function takes or gives other types" : "there is no such function");
}

static Error *evaluate_call(Evaluator *p, const Node *n, const Tensor *in, Tensor *out)
{
    Str name = n->op == OP_CALL ? ((const CallAttrs *)n->attrs)->callee
                                : ((const CompositeAttrs *)n->attrs)->decomposition;
    const Func *f = func_find(p->m, name);
    TRY(check_call(p->m, n, name, f));
    if (p->depth >= p->m->nfuncs)
        return error_new(CODE_INVALID, "%s @%.*s, at %s: the function calls itself", op_name(n->op),
                         STR_ARG(name), loc_name(n->loc));
    p->depth++;
    Error *error = evaluate_body(p, f->body, n->nout, in, out);
    p->depth--;
    return error;
}

/* Between devices, when there is one only: the only member's part is the whole. */

static Error *evaluate_alone(const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    if (m->nreplicas * m->npartitions != 1)
        return error_new(CODE_UNIMPLEMENTED, "not supported: %s evaluated on %d devices, at %s",
                         op_name(n->op), m->nreplicas * m->npartitions, loc_name(n->loc));
    if (op_info[n->op].effect == EFFECT_DEVICE) {
        int_set(out[0], 0, 0);
        return NULL;
    }
    bool sends_nothing =
        n->op == OP_PERMUTE && ((const PermuteAttrs *)n->attrs)->source_target_pairs.rows == 0;
    for (int i = 0; i < n->nout; i++)
        if (sends_nothing)
            memset(out[i].data, 0, type_bytes(out[i].type));
        else
            copy_tensor(out[i], in[i]);
    return NULL;
}

static bool is_alone_rule(OpId op)
{
    return op_info[op].effect == EFFECT_DEVICE || op == OP_BARRIER || op == OP_CONSTRAINT ||
           (op_info[op].kind == KIND_COLLECTIVE && op_info[op].flow != FLOW_GLOBAL);
}

static Error *evaluate_op(Evaluator *p, const Node *n, const Tensor *in, Tensor *out)
{
    switch (node_flow(n)) {
    case FLOW_LOOP: return evaluate_while(p, n, in, out);
    case FLOW_BRANCH: return evaluate_branch(p, n, in, out);
    case FLOW_CALL: return evaluate_call(p, n, in, out);
    case FLOW_KERNEL: return evaluate_body(p, n->regions[0], n->nout, in, out);
    case FLOW_BODY:
    case FLOW_GLOBAL:
        if (p->m->nreplicas * p->m->npartitions == 1)
            return evaluate_body(p, n->regions[0], n->nout, in, out);
        return evaluate_alone(p->m, n, in, out);
    default: break;
    }
    if (n->op == OP_BARRIER || n->op == OP_CONSTRAINT) {
        for (int i = 0; i < n->nout; i++)
            copy_tensor(out[i], in[i]);
        return NULL;
    }
    if (eval_rules[n->op])
        return eval_rules[n->op](p->m, n, in, out);
    if (is_alone_rule(n->op))
        return evaluate_alone(p->m, n, in, out);
    return error_new(CODE_UNIMPLEMENTED, "not supported: evaluating %s, at %s", op_name(n->op),
                     loc_name(n->loc));
}

/* Gathers operands, makes results, executes.  `room` holds nin + nout tensors. */
static Error *evaluate_with(Evaluator *p, const Node *n, Tensor *room)
{
    Tensor *in = room, *out = room + n->nin;
    for (int i = 0; i < n->nin; i++)
        TRY(get_value(p, n->in[i], &in[i]));
    for (int i = 0; i < n->nout; i++)
        TRY(make_value(p, n->out + (ValueId)i, &out[i]));
    return evaluate_op(p, n, in, out);
}

static Error *evaluate_node(Evaluator *p, const Node *n)
{
    enum { FEW = 8 };
    Tensor few[FEW];
    if (n->nin + n->nout <= FEW)
        return evaluate_with(p, n, few);
    Tensor *many = heap_try(sizeof *many * (size_t)(n->nin + n->nout));
    if (!many)
        return error_new(CODE_EXHAUSTED, "no memory for %d operands of %s", n->nin, op_name(n->op));
    Error *error = evaluate_with(p, n, many);
    heap_free(many);
    return error;
}

static Error *evaluate_region(Evaluator *p, RegionId r)
{
    const Region *region = region_at(p->m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *n = node_at(p->m, region->nodes[i]);
        if (node_flow(n) == FLOW_END)
            return NULL;
        const Dense *constant = n->op == OP_CONSTANT ? value_constant(p->m, n->out) : NULL;
        if (constant && !constant->is_splat)
            borrow_value(p, n->out, (void *)constant->data);
        else
            TRY(evaluate_node(p, n));
    }
    return NULL;
}

/* From outside. */

Error *evaluator_new(const Module *m, RegionId r, Evaluator **out)
{
    Evaluator *p = heap_try(sizeof *p);
    Slot *slots = heap_try(m->nvalues * sizeof *slots);
    if (!p || !slots) {
        heap_free(p);
        heap_free(slots);
        return error_new(CODE_EXHAUSTED, "no memory to evaluate a module of %" PRIu32 " values",
                         m->nvalues);
    }
    *p = (Evaluator){ .m = m, .region = r, .slots = slots };
    *out = p;
    return NULL;
}

void evaluator_free(Evaluator *p)
{
    if (!p)
        return;
    for (ValueId v = p->first; v <= p->last; v++)
        heap_free(p->slots[v].owned);
    heap_free(p->slots);
    heap_free(p);
}

Error *evaluator_run(Evaluator *p, const Tensor *in, Tensor *out)
{
    return evaluate_body(p, p->region, region_return(p->m, p->region)->nin, in, out);
}

/* What is asked of the evaluator: a node, or a region if there is none. */
typedef struct EvalJob {
    const Module *m;
    const Node *n;
    RegionId r;
    const Tensor *in;
    Tensor *out;
    Error *error;
} EvalJob;

static Error *evaluate_job(const EvalJob *job)
{
    const Node *n = job->n;
    if (n && eval_rules[n->op])
        return eval_rules[n->op](job->m, n, job->in, job->out);
    Evaluator *p;
    TRY(evaluator_new(job->m, job->r, &p));
    Error *error = n ? evaluate_op(p, n, job->in, job->out) : evaluator_run(p, job->in, job->out);
    evaluator_free(p);
    return error;
}

static void job_run(void *user)
{
    EvalJob *job = user;
    job->error = evaluate_job(job);
}

static Error *run_under_guard(EvalJob job)
{
    TRY(guard_run("evaluating", job_run, &job));
    return job.error;
}

Error *eval_region(const Module *m, RegionId r, const Tensor *in, Tensor *out)
{
    return run_under_guard((EvalJob){ .m = m, .r = r, .in = in, .out = out });
}

Error *eval_node(const Module *m, NodeId id, const Tensor *in, Tensor *out)
{
    const Node *n = node_at(m, id);
    RegionId r = n->nregions ? n->regions[0] : n->region;
    return run_under_guard((EvalJob){ .m = m, .n = n, .r = r, .in = in, .out = out });
}

bool eval_can(OpId op)
{
    switch (op_info[op].flow) {
    case FLOW_LOOP:
    case FLOW_BRANCH:
    case FLOW_CALL:
    case FLOW_KERNEL: return true;
    default: return eval_rules[op] || is_alone_rule(op);
    }
}
