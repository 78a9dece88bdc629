/* rules.c - the evaluator's column of ops.def as a table, and what its rules share. */
#include "engine/eval/rules.h"

#define eval_none NULL

EvalRule *const eval_rules[OP_COUNT] = {
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, ...)     \
    [OP_##id] = IF_SHORT_##kind(NULL, eval_##eval),
#include "ops/ops.def"
};

Error *eval_refuse(const Node *n, Type type)
{
    return error_new(CODE_UNIMPLEMENTED, "not supported: %s of %s, at %s", op_name(n->op),
                     type_name(type), loc_name(n->loc));
}

/* What the accumulator keeps of x. */
static double kept(Element e, int64_t terms, double x)
{
    bool is_wide = element_part(e) == F64 || element_info[e].kind < FLOAT || terms > SUM_FEW;
    return is_wide ? x : (float)x;
}

double sum_float(Element e, int64_t terms, double sum, double x, double y)
{
    return kept(e, terms, sum + kept(e, terms, x * y));
}

Complex sum_complex(Element e, int64_t terms, Complex sum, Complex x, Complex y)
{
    double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
    double re = kept(e, terms, kept(e, terms, a * c) - kept(e, terms, b * d));
    double im = kept(e, terms, kept(e, terms, a * d) + kept(e, terms, b * c));
    return CMPLX(kept(e, terms, creal(sum) + re), kept(e, terms, cimag(sum) + im));
}
