/* locals.c - small values that one function of glue keeps to itself.
 *
 * The slab is memory that every function of a program may read, so LLVM must write a loop's counter
 * there in every iteration and read it again in the next.  A value that one function alone reads and
 * writes can be a variable of that function instead (an alloca), which LLVM turns into registers
 * where the kernels that work on it are copied into the loop.
 *
 *     slab 64: i32 counter, f32[3] state            slab 128: f32[3], read in the next segment
 *        -> variables of segment 1                     -> stays
 *
 * A kernel that is called, not copied, gets such a value in the slab: it is written there before the
 * call and read after it.  So only what some copied kernel works on becomes a variable.
 *
 * Values that assign gave one address are one variable: what a loop carries and what its body gives
 * back.  An address with its size stands for them: values that are coalesced are equally large, and
 * if others of that size lie there at another time, sharing a variable with them is as right as
 * sharing memory was. */
#include "engine/link/link.h"

#include <limits.h>

typedef struct Walk {
    const Layout *l;
    const Module *m;
    GlueTables *t;
    int functions; /* of glue, so far */
} Walk;

typedef struct Key {
    int64_t at, bytes;
} Key;

/* What the table says of a key: the function, or SHARED; and whether a copied kernel works on it. */
enum { SHARED = INT_MAX };
typedef union Use {
    struct {
        int32_t function, is_copied;
    };
    uint64_t bits;
} Use;

static bool key_of(Address a, size_t bytes, Key *key)
{
    *key = (Key){ a.at, (int64_t)bytes };
    return a.where == ADDRESS_SLAB && bytes > 0 && bytes <= LOCAL_BYTES;
}

static void note(Walk *w, ValueId v, Use use)
{
    Key key;
    Use known;
    size_t bytes = type_bytes(schedule_type(w->l->s, v));
    if (!key_of(w->l->addresses[v], bytes, &key))
        return;
    if (table_get(&w->t->owners, &key, sizeof key, &known.bits)) {
        use.function = known.function == use.function ? use.function : SHARED;
        use.is_copied |= known.is_copied;
    }
    table_set(&w->t->owners, &key, sizeof key, use.bits);
}

static void note_list(Walk *w, int n, const ValueId *list, Use use)
{
    for (int i = 0; i < n; i++)
        note(w, list[i], use);
}

static void note_range(Walk *w, ValueId first, int n, Use use)
{
    for (int i = 0; i < n; i++)
        note(w, first + (ValueId)i, use);
}

static void walk_nodes(Walk *w, int n, const NodeId *nodes, int function);

static void walk_node(Walk *w, NodeId n, int function)
{
    const Node *node = node_at(w->m, n);
    bool is_code = node_flow(node) == FLOW_LOOP || node_flow(node) == FLOW_BRANCH;
    bool is_kernel = node_flow(node) == FLOW_KERNEL;
    bool is_name = node_is_alias(w->m, node);
    Use here = { .function = function };
    Use use = { .function =
                    is_code || is_kernel || is_name ? function : SHARED, /* else a routine */
                .is_copied = is_kernel && w->t->is_copied[n] };
    note_list(w, node->nin, node->in, use);
    note_range(w, node->out, node->nout, use);
    for (int i = 0; is_code && i < node->nregions; i++) {
        const Region *region = region_at(w->m, node->regions[i]);
        const Node *end = region_return(w->m, node->regions[i]);
        note_range(w, region->args, region->nargs, here);
        note_list(w, end->nin, end->in, here);
        walk_nodes(w, region->nnodes - 1, region->nodes, function);
    }
}

static void walk_nodes(Walk *w, int n, const NodeId *nodes, int function)
{
    bool is_long = n > GLUE_LONG;
    for (int i = 0; i < n; i++) {
        if (is_long && i % GLUE_CHUNK == 0)
            function = w->functions++;
        walk_node(w, nodes[i], function);
    }
}

void locals_find(const Layout *l, GlueTables *t)
{
    const Schedule *s = l->s;
    Walk w = { .l = l, .m = s->k->m, .t = t };
    for (int i = 0; i < s->nsegments; i++) {
        const Segment *segment = &s->segments[i];
        const SegmentEnd *end = &segment->end;
        Use here = { .function = w.functions++ }, all = { .function = SHARED };
        walk_nodes(&w, segment->nnodes, segment->nodes, here.function);
        for (int j = 0; j < segment->nmoves; j++) {
            note(&w, segment->moves[j].dst, here);
            note(&w, segment->moves[j].src, here);
        }
        if (end->kind == END_SWITCH)
            note(&w, end->on, here);
        if (end->kind != END_COLLECTIVE)
            continue;
        const Node *node = node_at(w.m, end->collective);
        note_list(&w, node->nin, node->in, all);
        note_range(&w, node->out, node->nout, all);
    }
}

bool is_local(const GlueTables *t, Address a, size_t bytes, int function)
{
    Key key;
    Use use;
    return key_of(a, bytes, &key) && table_get(&t->owners, &key, sizeof key, &use.bits) &&
           use.function == function && use.is_copied;
}
