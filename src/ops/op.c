/* op.c - the part of ops.def that both sides use: names, arity, attributes, what passes ask for. */
#include "ops/op.h"

#include "ops/shape.h"

#include <string.h>

const OpInfo op_info[OP_COUNT] = {
#define COST_NONE { WORK_NONE, 0 }
#define COST_MOVE(ns) { WORK_MOVE, ns }
#define COST_FLOP(ns) { WORK_FLOP, ns }
#define COST_SPECIAL(ns) { WORK_SPECIAL, ns }
#define COST_BY(work) { WORK_##work, 0 }
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, ...)                        \
    [OP_##id] = { #id,         name,        arity,           ATTRS_##attrs,                        \
                  KIND_##kind, FLOW_##flow, EFFECT_##effect, IN_PLACE_##in_place,                  \
                  COST_##cost },
#include "ops/ops.def"
};

/* "stablehlo.add" and "func.call" against the table's "add" and "func.call". */
static bool names(const OpInfo *info, Str name)
{
    if (strchr(info->name, '.'))
        return str_is(name, info->name);
    size_t prefix = sizeof "stablehlo." - 1;
    return name.n > prefix && memcmp(name.at, "stablehlo.", prefix) == 0 &&
           str_is((Str){ name.at + prefix, name.n - prefix }, info->name);
}

bool op_find(Str name, OpId *out)
{
    for (int op = 0; op < OP_COUNT; op++)
        if (names(&op_info[op], name)) {
            *out = (OpId)op;
            return true;
        }
    return false;
}

const char *op_name(OpId op)
{
    return op_info[op].name;
}
