/* evaluation.c - a node that no kernel computes: the addresses of its operands and results become
 * tensors, and a function computes it from them.
 *
 * Results that share memory with an operand (a donated argument, a value updated in place) are made
 * apart and copied, since such functions may read an operand after they have begun to write. */
#include "engine/exec/evaluation.h"

#include "engine/stats.h"
#include "ops/number.h"

#include <stdlib.h>
#include <string.h>

static bool overlap(Tensor a, Tensor b)
{
    const char *x = a.data, *y = b.data;
    return x < y + type_bytes(b.type) && y < x + type_bytes(a.type);
}

/* Gives results that overlap operands memory of their own; apart[i] NULL: result i needs none. */
static Error *set_apart(int nin, const Tensor *in, int nout, Tensor *out, void **apart)
{
    for (int i = 0; i < nout; i++)
        for (int j = 0; j < nin && !apart[i]; j++) {
            if (!overlap(out[i], in[j]))
                continue;
            apart[i] = malloc(type_bytes(out[i].type));
            if (!apart[i])
                return error_new(CODE_EXHAUSTED, "no memory for a result of type %s",
                                 type_name(out[i].type));
            out[i].data = apart[i];
        }
    return NULL;
}

/* What an evaluation takes and gives: a node, or the whole of main. */
typedef struct Site {
    RegionId main;
    int nin, nout;
    ValueId in_first; /* node 0: arguments of main */
    const Node *node; /* of the evaluation, or main's RETURN */
} Site;

static Site site_of(const Module *m, const Evaluation *e)
{
    Site s = { 0 };
    if (e->node) {
        s.node = node_at(m, e->node);
        s.nin = s.node->nin;
        s.nout = s.node->nout;
        return s;
    }
    s.main = func_find(m, STR("main"))->body;
    s.node = region_return(m, s.main);
    s.nin = region_at(m, s.main)->nargs;
    s.in_first = region_at(m, s.main)->args;
    s.nout = s.node->nin;
    return s;
}

/* The frame knows which device it is. */
static bool tell_device(const Frame *f, const Site *s, const Tensor *out)
{
    if (s->main || op_info[s->node->op].effect != EFFECT_DEVICE)
        return false;
    number_set_int(out->type.element, s->node->op == OP_PARTITION_ID ? f->partition : f->replica,
                   out->data);
    return true;
}

static Error *evaluate_at(const Frame *f, const Evaluation *e, const Site *s, ComputeFn *compute,
                          Tensor *in, Tensor *out, void **apart)
{
    const Module *m = f->program->module;
    for (int i = 0; i < s->nin; i++) {
        ValueId v = s->in_first ? s->in_first + (ValueId)i : s->node->in[i];
        in[i] = (Tensor){ type_of(m, v), e->node ? frame_at(f, e->in[i]) : f->args[i] };
    }
    for (int i = 0; i < s->nout; i++) {
        ValueId v = e->node ? s->node->out + (ValueId)i : s->node->in[i];
        out[i] = (Tensor){ type_of(m, v), e->node ? frame_at(f, e->out[i]) : f->outs[i] };
    }
    TRY(set_apart(s->nin, in, s->nout, out, apart));
    if (!tell_device(f, s, out))
        TRY(compute(f, e, s->main, in, out));
    for (int i = 0; i < s->nout; i++)
        if (apart[i])
            memcpy(e->node ? frame_at(f, e->out[i]) : f->outs[i], apart[i],
                   type_bytes(out[i].type));
    return NULL;
}

/* Operations of at most so many operands and results take no memory of the heap. */
enum { FEW_VALUES = 16 };

int32_t evaluation_run(Frame *f, int32_t which, ComputeFn *compute)
{
    const Evaluation *e = &f->program->evaluations[which];
    Site s = site_of(f->program->module, e);
    stat_add(STAT_EVALUATIONS, e->is_counted);
    int n = s.nin + s.nout;
    struct {
        Tensor tensors[FEW_VALUES];
        void *apart[FEW_VALUES];
    } few;
    Tensor *tensors = few.tensors;
    void **apart = few.apart, *many = NULL;
    if (n > FEW_VALUES) {
        many = malloc((size_t)n * (sizeof *tensors + sizeof *apart));
        if (!many) {
            f->error = error_new(CODE_EXHAUSTED, "no memory for the %d values of an operation", n);
            return 1;
        }
        tensors = many;
        apart = (void **)(tensors + n);
    }
    memset(apart, 0, (size_t)s.nout * sizeof *apart);
    f->error = evaluate_at(f, e, &s, compute, tensors, tensors + s.nin, apart);
    for (int i = 0; i < s.nout; i++)
        free(apart[i]);
    free(many);
    return f->error != NULL;
}
