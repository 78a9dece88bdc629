/* rules.h - what the rules of ops.def's columns jvp, transpose and batch are asked.
 *
 * Rules are written with public operations or with build.h's, so whatever they build is recorded,
 * transformed and lowered like anything the user wrote.  Operands and results are lists, since
 * some operations take and give several.  In formulas g is a tangent, y the answer, x (or a, b)
 * operands, ct a cotangent; NO_VALUE is a zero tangent or cotangent. */
#ifndef TUTTI_FRONT_TRANSFORM_RULES_H
#define TUTTI_FRONT_TRANSFORM_RULES_H
#include "front/transform/build.h"

/* Given operands, their tangents and the results: the tangents of the results. */
typedef struct Jvp {
    OpId op;
    const void *attrs;
    int nin, nout;
    const tt *x, *dx;
    tt *y;  /* recorded already, but for the operations that jvp.c's `differentiate` names */
    tt *dy; /* NO_VALUE to begin with */
    Module *m;
    NodeId node;             /* being differentiated: for its regions */
    struct Forward *forward; /* transform.h: for what its regions use from around them */
} Jvp;

/* Given cotangents of the results: those of the operands that it is linear in. */
typedef struct Transpose {
    OpId op;
    const void *attrs;
    int nin, nout;
    const tt *ct;
    const tt *x; /* NO_VALUE where linear */
    const bool *linear;
    const Type *types;   /* of the operands */
    const Type *results; /* of the results */
    tt *out;             /* NO_VALUE to begin with */
    Module *m;
    NodeId node;
    struct Backward *backward; /* transform.h */
} Transpose;

/* Given operands of which some have a batch axis, which is axis 0: results with one.  At least
 * one operand is mapped, or the operation is on the axis's name. */
typedef struct Batch {
    OpId op;
    const void *attrs;
    int nin, nout;
    const tt *x;
    const bool *mapped;
    const Type *types;   /* of the operands of one row */
    const Type *results; /* of the results of one row */
    int64_t size;
    Str axis_name; /* empty: none */
    tt *y;
    bool *y_mapped; /* true to begin with */
    Module *m;
    NodeId node;
    struct Batcher *batcher; /* transform.h */
} Batch;

typedef void JvpRule(const Jvp *j);
typedef void TransposeRule(const Transpose *t);
typedef void BatchRule(const Batch *b);

typedef struct FrontRules {
    JvpRule *jvp;
    TransposeRule *transpose;
    BatchRule *batch;
} FrontRules;

extern const FrontRules front_rules[OP_COUNT];

#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, element, \
           block, jvp, transpose, batch)                                                           \
    JvpRule jvp_##jvp;                                                                             \
    TransposeRule transpose_##transpose;                                                           \
    BatchRule batch_##batch;
#include "ops/ops.def"

/* The operation's name for messages: pmax, not tutti.pmax. */
const char *rule_op_name(OpId op);

/* What several families use. */
tt value_or_zeros(tt x, Type type); /* x, or zeros where there is no value */
/* An operand of a batch rule with its batch axis, whether it is mapped or not. */
tt batch_operand(const Batch *b, int i);
/* The result with batch axis: type of result i with it in front. */
Type batch_result_type(const Batch *b, int i);
/* x at the places that `at` names along dim, each for its own place along the others. */
tt gather_along(tt x, tt at, int dim);
/* Elements by their numbers in row-major order, in the shape of `at`; zero for negative ones. */
tt gather_flat(tt x, tt at);
tt scatter_add_flat(tt x, tt at, tt updates); /* x with updates added there */
/* Row after row: no form for many is needed. */
void batch_rows(const Batch *b);
/* reduce and its like: half of the operands are arrays, half initial values. */
void batch_folding(const Batch *b, const void *attrs);
/* The tangents of a fold of n arrays along their last axis, which there is none of in the results,
 * by the reduce or reduce_window that j asks about, from these initial values on. */
void jvp_fold(const Jvp *j, tt *x, tt *dx);
#endif
