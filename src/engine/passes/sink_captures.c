/* sink_captures.c - regions of scalars that use values from outside.
 *
 * In: reducers, comparators and the like.  Out: the same, with what they use from outside and
 * what that is computed from moved inside, when all of it comes from constants:
 *
 *     half = constant 0.5                      reduce { (a, b):
 *     q = multiply half, half          -->        q = multiply half, half
 *     reduce { (a, b): ... q ... }                ... q ... }
 *
 * Constants themselves may stay where they are.  A value that depends on data is refused: such a
 * region is compiled as a function of its arguments alone. */
#include "base/guard.h"
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

enum { MOST_REGIONS = 64, MOST_SUNK = 256 };

typedef struct Sinker {
    Module *m;
    NodeId owner;
    int nregions, nsunk;
    RegionId regions[MOST_REGIONS]; /* the one looked at, and those inside it */
    NodeId sunk[MOST_SUNK];         /* copies, in order, to stand at its beginning */
    Subst map;
} Sinker;

static bool is_inside(const Sinker *s, ValueId v)
{
    RegionId region = value_at(s->m, v)->region;
    for (int i = 0; i < s->nregions; i++)
        if (s->regions[i] == region)
            return true;
    return false;
}

static MUST_USE Error *refuse(const Sinker *s, ValueId v)
{
    const Node *owner = node_at(s->m, s->owner);
    NodeId from = value_def(s->m, v);
    return error_new(CODE_UNIMPLEMENTED,
                     "not supported: a region of %s, at %s, that uses a value from outside which "
                     "is not constant: %s of type %s",
                     op_name(owner->op), loc_name(owner->loc),
                     from ? op_name(node_at(s->m, from)->op) : "an argument",
                     type_name(type_of(s->m, v)));
}

static MUST_USE Error *sink(Sinker *s, ValueId v)
{
    NodeId from = value_def(s->m, v);
    if (is_inside(s, v) || subst_get(&s->map, v) != v)
        return NULL;
    const Node *node = from ? node_at(s->m, from) : NULL;
    if (node && node->op == OP_CONSTANT)
        return NULL;
    OpKind kind = node ? op_info[node->op].kind : KIND_FLOW;
    bool may_move =
        (kind == KIND_MAP || kind == KIND_VIEW) && op_info[node->op].effect != EFFECT_DEVICE;
    if (!may_move || s->nsunk == MOST_SUNK)
        return refuse(s, v);
    for (int i = 0; i < node_at(s->m, from)->nin; i++)
        TRY(sink(s, node_at(s->m, from)->in[i]));
    s->sunk[s->nsunk++] = node_copy(s->m, from, &s->map);
    return NULL;
}

/* Every operand below r; regions inside are noted before their operands are looked at. */
static MUST_USE Error *look(Sinker *s, RegionId r)
{
    if (s->nregions == MOST_REGIONS)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: a region of %s with more than %d regions inside, at %s",
                         op_name(node_at(s->m, s->owner)->op), MOST_REGIONS,
                         loc_name(node_at(s->m, s->owner)->loc));
    s->regions[s->nregions++] = r;
    for (int i = 0; i < region_at(s->m, r)->nnodes; i++) {
        NodeId n = region_at(s->m, r)->nodes[i];
        for (int k = 0; k < node_at(s->m, n)->nregions; k++)
            TRY(look(s, node_at(s->m, n)->regions[k]));
        for (int k = 0; k < node_at(s->m, n)->nin; k++)
            TRY(sink(s, node_at(s->m, n)->in[k]));
    }
    return NULL;
}

static void prepend(Sinker *s, RegionId r)
{
    int n = region_at(s->m, r)->nnodes;
    NodeId *list = HEAP_ARRAY(NodeId, n + s->nsunk, "a list of operations");
    for (int i = 0; i < s->nsunk; i++)
        list[i] = s->sunk[i];
    for (int i = 0; i < n; i++)
        list[s->nsunk + i] = region_at(s->m, r)->nodes[i];
    subst_apply(&s->map, s->m, r);
    region_set_nodes(s->m, r, s->nsunk + n, list);
    heap_free(list);
}

static MUST_USE Error *sink_into(Module *m, NodeId owner, RegionId r)
{
    Sinker s = { .m = m, .owner = owner };
    Error *error = look(&s, r);
    if (!error && s.nsunk)
        prepend(&s, r);
    subst_free(&s.map);
    return error;
}

static MUST_USE Error *sink_below(Module *m, RegionId r)
{
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        NodeId n = region_at(m, r)->nodes[i];
        bool is_scalar = node_flow(node_at(m, n)) == FLOW_PLAIN; /* reducers, comparators */
        for (int k = 0; k < node_at(m, n)->nregions; k++) {
            RegionId inner = node_at(m, n)->regions[k];
            TRY(is_scalar ? sink_into(m, n, inner) : sink_below(m, inner));
        }
    }
    return NULL;
}

Error *pass_sink_captures(Module *m)
{
    return sink_below(m, module_main(m));
}
