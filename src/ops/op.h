/* op.h - what is known of an operation by both sides of the seam. */
#ifndef TUTTI_OPS_OP_H
#define TUTTI_OPS_OP_H
#include "base/text.h"
#include "ops/attrs.h"
#include "ops/type.h"

#include <stdbool.h>

typedef enum OpId {
#define OP(id, ...) OP_##id,
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

typedef enum OpEffect { EFFECT_NONE, EFFECT_DEVICE, EFFECT_ORDER, EFFECT_WORLD } OpEffect;

typedef enum OpInPlace {
    IN_PLACE_NEVER,
    IN_PLACE_ELEMENT,
    IN_PLACE_ALIAS,
    IN_PLACE_SAME,
    IN_PLACE_SECOND
} OpInPlace;

/* What an operation costs: for each element of its result, or by a rule of its shapes. */
typedef struct OpCost {
    enum {
        WORK_NONE,
        WORK_MOVE,
        WORK_FLOP,
        WORK_SPECIAL,
        WORK_DOT,
        WORK_CONVOLUTION,
        WORK_REDUCE,
        WORK_WINDOW,
        WORK_SORT,
        WORK_TOP_K,
        WORK_FFT,
        WORK_SCATTER,
        WORK_SELECT_SCATTER,
        WORK_FACTOR,
        WORK_CALL
    } work;
    double ns; /* of an element; 0 where a rule finds it */
} OpCost;

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

struct Factors;
/* Which dimensions of operands and results belong together (cuts.h). */
typedef void CutRule(struct Factors *f);

typedef struct OpInfo {
    const char *id;   /* "EXP" */
    const char *name; /* "exponential", or with its dialect: "func.call" */
    int arity;
    AttrsKind attrs;
    OpKind kind;
    OpFlow flow;
    OpEffect effect;
    OpInPlace in_place;
    OpCost cost;
} OpInfo;

extern const OpInfo op_info[OP_COUNT];
/* Tables of their own: programs that are compiled ahead need no rules, and link none. */
extern ShapeRule *const shape_rules[OP_COUNT];
extern CutRule *const cut_rules[OP_COUNT]; /* NULL: no dimension stays cut */

/* May that result be the same memory as that operand?  Of operations that work on whole arrays;
 * all_to_all only where all that goes from one device to another lies together, a broadcast only
 * from the first (analysis/liveness.c). */
static inline bool op_is_in_place(OpId op, int operand, int result)
{
    return op_info[op].in_place == IN_PLACE_SAME     ? operand == result
           : op_info[op].in_place == IN_PLACE_SECOND ? operand == 1
                                                     : false;
}

/* A collective_broadcast whose operand says which device sends; each device may name another. */
static inline bool op_has_dynamic_root(OpId op, const void *attrs)
{
    return op == OP_COLLECTIVE_BROADCAST &&
           ((const CollectiveBroadcastAttrs *)attrs)->has_dynamic_root;
}

/* Does it work between devices, or rows of a batch, that a name binds? */
static inline bool op_is_named(OpId op)
{
    return op_info[op].attrs == ATTRS_AXIS;
}

bool op_find(Str name, OpId *out); /* by full name, "stablehlo.add" */
const char *op_name(OpId op);      /* for messages, without "stablehlo.": "add", "func.call" */
#endif
