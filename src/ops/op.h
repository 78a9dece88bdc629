/* op.h - what is known of an operation by both sides of the seam. */
#ifndef TUTTI_OPS_OP_H
#define TUTTI_OPS_OP_H
#include "base/text.h"
#include "ops/attrs.h"
#include "ops/type.h"

#include <stdbool.h>

typedef enum OpId {
#define OP(id, name, arity, attrs, kind, flow, shape, eval, element, block, ...) OP_##id,
#include "ops/ops.def"
    OP_COUNT
} OpId;

typedef enum OpKind {
    KIND_MAP,
    KIND_VIEW,
    KIND_FOLD,
    KIND_BLOCK,
    KIND_FLOW,
    KIND_COLLECTIVE,
    KIND_MARK,
    KIND_SHORT
} OpKind;

typedef enum OpFlow {
    FLOW_PLAIN,
    FLOW_LOOP,
    FLOW_BRANCH,
    FLOW_CALL,
    FLOW_BODY,
    FLOW_GLOBAL,
    FLOW_KERNEL,
    FLOW_END
} OpFlow;

enum { ANY = -1 };
enum { POSSIBLE_DEVICES = 4096 }; /* of a client; replicas times partitions */

struct Arena;

/* What a shape rule is asked: operands, attributes, the types that the program states for
 * the results, and for operations with regions what those take and yield.  With `settled` the
 * question is what the results are: operands have no open extent, and what a rule would compare
 * with a stated type it puts there. */
typedef struct ShapeQuery {
    int nin, nout, nregions;
    const Type *in;
    const Type *stated; /* [nout] */
    const void *attrs;
    const struct RegionTypes {
        int nargs, nresults;
        const Type *args, *results;
    } *regions;
    Type *settled;       /* [nout], or NULL */
    struct Arena *arena; /* for settled */
} ShapeQuery;

/* Says whether the stated results are right.  Returns true, or false with in `why` what is
 * wrong and what would be right, the operands' types included ("f32[2,3] and f32[3]: ..."). */
typedef bool ShapeRule(const ShapeQuery *q, Text *why);

typedef struct OpInfo {
    const char *id;   /* "EXP" */
    const char *name; /* "exponential", or with its dialect: "func.call" */
    int arity;
    AttrsKind attrs;
    OpKind kind;
    OpFlow flow;
    ShapeRule *shape;
} OpInfo;

extern const OpInfo op_info[OP_COUNT];

/* Does it work between devices, or rows of a batch, that a name binds? */
static inline bool op_is_named(OpId op) { return op_info[op].attrs == ATTRS_AXIS; }

bool op_find(Str name, OpId *out); /* by full name, "stablehlo.add" */
const char *op_name(OpId op);      /* for messages, without "stablehlo.": "add", "func.call" */
#endif
