/* fuse.c - operations in, kernels out: every computing node ends up in a tutti.fusion node.
 *
 * A kernel computes its results element by element and whatever those need on the fly, so a
 * value that only one kernel reads is never written to memory.  The walk goes backwards; a node
 * whose readers all lie in one group joins it, any other starts a group of its own:
 *
 *     a   b   c           {a b add}  is read by two groups: it is written
 *      \ / \ /
 *      add  exp           {exp mul return}   exp is read by mul alone: it joins
 *     /  \  /
 *   neg   mul             {neg}
 *
 * Inside a group a node is computed at an index that its reader decides.  Two readers that ask
 * for the same index share the work; readers that ask for different ones (through a slice and
 * through nothing, say) would repeat it, and repeat it again at the next level.  So each member
 * has a path, a number that stands for "the index at which I am computed", and a node joins only
 * if all its readers agree on one, or if so little is computed for it that repeating it costs less than
 * memory would.  What is little and made of one array joins several groups.  Path 0 is the index of the results themselves; what is computed there may be one
 * more result.
 *
 * Order: a group stands where its last node stood.  A node may join a group as a further result
 * only if all its other readers stand later than that. */
#include "engine/passes/fuse.h"

#include "base/grow.h"
#include "engine/analysis/analysis.h"
#include "engine/checks.h"
#include "engine/eval/eval.h"
#include "engine/kernels/query.h"
#include "hlo/rewrite.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_MEMBERS = 1024,
    MAX_RESULTS = 16,
    FEW_ELEMENTS = 64,  /* arrays so small that calls cost more than memory */
    SIBLINGS_SEEN = 16, /* how many earlier groups are tried */
    PATH_SEVERAL = -1,
    PATH_RESULT = 0,
    PATH_REDUCED = 1, /* the common index of all operands of a reduce */
    SHORT_ROW_BUDGET = 8,
    NO_LIMIT = INT_MAX,
};

/* Views that cost next to nothing at any index, so that every group may have its own. */
static bool is_free_view(OpId op)
{
    return op == OP_BROADCAST || op == OP_RESHAPE || op == OP_IOTA ||
           op_info[op].effect == EFFECT_DEVICE;
}

/* Where single numbers go is worth computing on the way, a little; a row would compute it for each vector. */
static Access scatter_access(const Node *u, int k)
{
    const ScatterAttrs *a = u->attrs;
    if (u->nin != 3 || k == 0)
        return ACCESS_MEMORY;
    return k == 1 && a->update_window_dims.n == 0 ? ACCESS_PICKED : ACCESS_VIEWED;
}

/* Where single elements are taken each index is computed once, for its element; for the vectors of a row, anew for
 * each. */
static Access index_access(const Module *m, const Node *gather)
{
    Type indices = type_of(m, gather->in[1]);
    int64_t d = ((const GatherAttrs *)gather->attrs)->index_vector_dim;
    int64_t each = d < indices.rank ? indices.dims[d] : 1;
    return each * type_count(type_of(m, gather->out)) == type_count(indices) ? ACCESS_MOVED
                                                                             : ACCESS_SPREAD;
}

/* Columns put side by side are a kernel of their own (is_stack in kernels/map.c): joined to another, that
 * would ask of each element which column it is of. */
static bool is_stacked(const Module *m, ValueId v)
{
    NodeId def = value_def(m, v);
    const Node *node = def ? node_at(m, def) : NULL;
    enum { FEW_COLUMNS = 4 };
    if (!node || node->op != OP_CONCATENATE || node->nin <= FEW_COLUMNS)
        return false;
    Type t = type_of(m, v);
    return ((const DimensionAttrs *)node->attrs)->dimension + 1 == t.rank &&
           t.dims[t.rank - 1] == node->nin;
}

/* Is operand k of the concatenate a border of short rows, such as pixels, backwards or spread?  Computed where
 * it is joined it would keep the loop from walking the others' rows as one (view_joins); it is little beside
 * them, and is written first. */
static bool is_turned_border(const Module *m, const Node *u, int k)
{
    enum { SHORT_ROW = 64, MANY = 4096, SHARE = 8 }; /* bytes; elements */
    NodeId def = value_def(m, u->in[k]);
    Type out = type_of(m, u->out), mine = type_of(m, u->in[k]);
    int64_t d = ((const DimensionAttrs *)u->attrs)->dimension, row = 1;
    for (int i = (int)d + 1; i < out.rank; i++)
        row *= out.dims[i];
    if (!def || row == 1 || row * element_info[out.element].bytes >= SHORT_ROW ||
        type_count(out) < MANY || type_count(mine) * SHARE > type_count(out))
        return false;
    const Node *node = node_at(m, def);
    return node->op == OP_BROADCAST ||
           (node->op == OP_REVERSE &&
            ints_find(((const DimensionsAttrs *)node->attrs)->dimensions, d) >= 0);
}

Access fuse_access(const Module *m, const Node *u, int k)
{
    switch (u->op) {
    case OP_BROADCAST:
        return type_count(type_of(m, u->in[0])) == type_count(type_of(m, u->out)) ? ACCESS_MOVED
                                                                                  : ACCESS_SPREAD;
    case OP_CONCATENATE:
        return is_stacked(m, u->in[k]) || is_turned_border(m, u, k) ? ACCESS_MEMORY : ACCESS_PICKED;
    case OP_PAD: return k == 0 ? ACCESS_PICKED : ACCESS_SPREAD;
    case OP_DYNAMIC_SLICE: return k == 0 ? ACCESS_MOVED : ACCESS_SPREAD;
    case OP_GATHER: return k == 0 ? ACCESS_MEMORY : index_access(m, u);
    case OP_DYNAMIC_UPDATE: return k == 0 ? ACCESS_MEMORY : k == 1 ? ACCESS_MOVED : ACCESS_SPREAD;
    case OP_SCATTER: return scatter_access(u, k);
    case OP_REDUCE: return k < u->nin / 2 ? ACCESS_MOVED : ACCESS_SPREAD;
    case OP_REDUCE_WINDOW: return k < u->nin / 2 ? ACCESS_MEMORY : ACCESS_SPREAD;
    default: break;
    }
    if (op_info[u->op].kind == KIND_VIEW)
        return ACCESS_MOVED;
    if (op_info[u->op].kind != KIND_MAP)
        return ACCESS_MEMORY;
    return type_same_shape(type_of(m, u->in[k]), type_of(m, u->out)) ? ACCESS_SAME : ACCESS_SPREAD;
}

/* How many cheap operations may stand below it. */
static int access_budget(Access a, int budget)
{
    int most = a == ACCESS_SPREAD ? 2 : a == ACCESS_PICKED ? 4 : a == ACCESS_VIEWED ? 0 : NO_LIMIT;
    return budget < most ? budget : most;
}

/* Many rows so short that most lanes of a kernel which reduces them stand empty: much that is computed for them
 * is computed in a loop of its own, whose lanes are full. */
static bool reduces_short_rows(const Module *m, const Node *reduce)
{
    enum { SHORT = 8, MANY = 1024 };
    Type t = type_of(m, reduce->in[0]);
    Ints reduced = ((const DimensionsAttrs *)reduce->attrs)->dimensions;
    return reduced.n == 1 && reduced.at[0] == t.rank - 1 && t.dims[t.rank - 1] > 1 &&
           t.dims[t.rank - 1] <= SHORT && type_count(type_of(m, reduce->out)) >= MANY;
}

/* ---- the state of one region ---- */

/* That an item belongs to a group. */
typedef struct Member {
    int group;
    int path;
    int budget; /* how many more operations may be stacked under it */
} Member;

/* A node of the region, by its position. */
typedef struct Item {
    NodeId node;
    enum { ITEM_BARE, ITEM_CONSTANT, ITEM_LOOP, ITEM_REDUCE, ITEM_UPDATE, ITEM_BLOCK } kind;
    int first_use, nuses; /* in uses */
    int nmembers, room;
    Member *members;
} Item;

/* Item `user` reads the results of an item by its operand k; k < 0: from a nested region. */
typedef struct Use {
    int user, operand;
} Use;

typedef struct RegionFuse {
    FuseState *s;
    RegionId region;
    int nitems;
    Item *items;
    Use *uses;
    int ngroups, groups_room;
    FuseGroup *groups;
    int npaths; /* numbers given out */
} RegionFuse;

/* What the readers of an item ask for, taken as a whole. */
typedef struct Wants {
    int n, room;
    Member *at;        /* one per group that reads it; path PATH_SEVERAL: at several indices */
    bool in_memory;    /* a reader needs it as an array */
    int before;        /* the earliest position of those */
    int item;          /* whose readers they are: its position, counted from 1 */
    int first, second; /* of the groups that read it, the two that stand first; -1: none */
} Wants;

/* ---- classes ---- */

static Error *item_classify(FuseState *s, NodeId n, Item *item)
{
    const Module *m = s->m;
    const Node *node = node_at(m, n);
    OpKind kind = op_info[node->op].kind;
    item->node = n;
    if (node->op == OP_CONSTANT) {
        item->kind = ITEM_CONSTANT;
        return NULL;
    }
    if (node_is_control(node) || node_flow(node) == FLOW_END || kind == KIND_COLLECTIVE)
        return NULL;
    if (kind != KIND_FLOW && kind != KIND_MARK && kernel_can_emit(m, n)) {
        item->kind = kind == KIND_MAP || kind == KIND_VIEW ? ITEM_LOOP
                     : kind == KIND_FOLD                   ? ITEM_REDUCE
                     : node->op == OP_DYNAMIC_UPDATE       ? ITEM_UPDATE
                                                           : ITEM_BLOCK;
        return NULL;
    }
    if (kind != KIND_FLOW && kind != KIND_MARK && eval_can(node->op))
        return NULL;
    return error_new(CODE_UNIMPLEMENTED, "not supported: operation %s (%s)", op_name(node->op),
                     loc_name(node->loc));
}

/* ---- which item reads which ---- */

/* Position of the item that defines v, or -1: defined outside this region. */
static int definer(const RegionFuse *f, ValueId v)
{
    const Value *value = value_at(f->s->m, v);
    return value->region == f->region && value->node ? f->s->position[value->node] : -1;
}

typedef void UseVisit(RegionFuse *f, int def, int user, int operand);

static void uses_below(RegionFuse *f, RegionId r, int user, UseVisit *visit)
{
    const Module *m = f->s->m;
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        for (int k = 0; k < node->nin; k++) {
            int def = definer(f, node->in[k]);
            if (def >= 0)
                visit(f, def, user, -1);
        }
        for (int k = 0; k < node->nregions; k++)
            uses_below(f, node->regions[k], user, visit);
    }
}

static void uses_visit(RegionFuse *f, UseVisit *visit)
{
    for (int i = 0; i < f->nitems; i++) {
        const Node *node = node_at(f->s->m, f->items[i].node);
        for (int k = 0; k < node->nin; k++) {
            int def = definer(f, node->in[k]);
            if (def >= 0)
                visit(f, def, i, k);
        }
        for (int k = 0; k < node->nregions; k++)
            uses_below(f, node->regions[k], i, visit);
    }
}

static void use_count(RegionFuse *f, int def, int user, int operand)
{
    (void)user, (void)operand;
    f->items[def].nuses++;
}

static void use_note(RegionFuse *f, int def, int user, int operand)
{
    Item *item = &f->items[def];
    f->uses[item->first_use + item->nuses++] = (Use){ user, operand };
}

static void uses_find(RegionFuse *f)
{
    uses_visit(f, use_count);
    int total = 0;
    for (int i = 0; i < f->nitems; i++) {
        f->items[i].first_use = total;
        total += f->items[i].nuses;
        f->items[i].nuses = 0;
    }
    f->uses = ARENA_ARRAY(f->s->scratch, Use, total);
    uses_visit(f, use_note);
}

/* ---- groups ---- */

static bool group_reads(const FuseGroup *g, ValueId v)
{
    for (int i = 0; i < g->nreads; i++)
        if (g->reads[i] == v)
            return true;
    return false;
}

static void member_add(RegionFuse *f, int position, Member as)
{
    Item *item = &f->items[position];
    ROOM(f->s->scratch, item->members, item->nmembers, &item->room);
    item->members[item->nmembers++] = as;
    FuseGroup *g = &f->groups[as.group];
    if (g->nmembers == g->room) {
        int *bigger = ARENA_ARRAY(f->s->scratch, int, g->room * 2);
        memcpy(bigger, g->members, sizeof *bigger * (size_t)g->nmembers);
        g->members = bigger;
        g->room *= 2;
    }
    g->members[g->nmembers++] = position;
    const Node *node = node_at(f->s->m, item->node);
    for (int k = 0; k < node->nin && as.path == PATH_RESULT && g->nreads < GROUP_READS; k++)
        if (!group_reads(g, node->in[k]))
            g->reads[g->nreads++] = node->in[k];
}

static void result_add(RegionFuse *f, int position, int group)
{
    FuseGroup *g = &f->groups[group];
    const Node *node = node_at(f->s->m, f->items[position].node);
    for (int i = 0; i < node->nout; i++) {
        if (g->nresults == g->results_room) {
            ValueId *bigger = ARENA_ARRAY(f->s->scratch, ValueId, g->results_room * 2);
            memcpy(bigger, g->results, sizeof *bigger * (size_t)g->nresults);
            g->results = bigger;
            g->results_room *= 2;
        }
        g->results[g->nresults++] = node->out + (ValueId)i;
    }
}

static void group_start(RegionFuse *f, int position)
{
    ROOM(f->s->scratch, f->groups, f->ngroups, &f->groups_room);
    int g = f->ngroups++;
    f->groups[g] = (FuseGroup){
        .last = position,
        .is_loop = f->items[position].kind == ITEM_LOOP,
        .shape = type_of(f->s->m, node_at(f->s->m, f->items[position].node)->out),
        .room = 4,
        .members = ARENA_ARRAY(f->s->scratch, int, 4),
        .results_room = 2,
        .results = ARENA_ARRAY(f->s->scratch, ValueId, 2),
    };
    member_add(f, position, (Member){ g, PATH_RESULT, NO_LIMIT });
    result_add(f, position, g);
}

/* ---- what the readers want ---- */

static void want(RegionFuse *f, Wants *w, Member m)
{
    FuseGroup *g = &f->groups[m.group];
    if (g->wanted == w->item) {
        Member *old = &w->at[g->want];
        if (old->path != m.path)
            old->path = PATH_SEVERAL;
        old->budget = old->budget < m.budget ? old->budget : m.budget;
        return;
    }
    g->wanted = w->item;
    g->want = w->n;
    ROOM(f->s->scratch, w->at, w->n, &w->room);
    w->at[w->n++] = m;
}

static void want_memory(Wants *w, int position)
{
    w->in_memory = true;
    w->before = position < w->before ? position : w->before;
}

/* Is v read by what would be computed for the item, all the way up?  Of many it is taken for granted.  update: if
 * not NULL, it writes v element by element as the item is computed, and may read what it is about to write. */
static bool is_made_from(const RegionFuse *f, const Item *item, ValueId v, const Node *update,
                         int *left)
{
    const Module *m = f->s->m;
    const Node *node = node_at(m, item->node);
    if (item->kind != ITEM_LOOP || (update && takes_what_is_written(m, update, node)))
        return false;
    if (--*left < 0)
        return true;
    bool is_in_step = update && op_info[node->op].kind == KIND_MAP &&
                      type_same_shape(type_of(m, node->out), type_of(m, update->in[1]));
    for (int k = 0; k < node->nin; k++) {
        int def = definer(f, node->in[k]);
        const Node *next = is_in_step ? update : NULL;
        if (node->in[k] == v || (def >= 0 && is_made_from(f, &f->items[def], v, next, left)))
            return true;
    }
    return false;
}

/* An update is computed while its target is written, so nothing of it may look at the target but at the places
 * that are about to be written: if something does, the update is an array of its own. */
static bool reads_target(const RegionFuse *f, const Node *user, int operand, const Item *item)
{
    enum { MOST_LOOKED_AT = 256 };
    int left = MOST_LOOKED_AT;
    return (user->op == OP_DYNAMIC_UPDATE || user->op == OP_SCATTER) && operand > 0 &&
           is_made_from(f, item, user->in[0], operand == 1 ? user : NULL, &left);
}

static void want_use(RegionFuse *f, Wants *w, const Item *item, Use use)
{
    const Item *user = &f->items[use.user];
    if (use.operand < 0 || user->kind == ITEM_BARE || user->kind == ITEM_CONSTANT) {
        want_memory(w, use.user);
        return;
    }
    const Node *node = node_at(f->s->m, user->node);
    Access access = fuse_access(f->s->m, node, use.operand);
    bool is_updated = reads_target(f, node, use.operand, item);
    for (int i = 0; i < user->nmembers; i++) {
        Member in = user->members[i];
        const FuseGroup *g = &f->groups[in.group];
        bool is_full = g->nmembers >= MAX_MEMBERS;
        if (access == ACCESS_MEMORY || is_full || is_updated) {
            want_memory(w, g->last);
            continue;
        }
        bool is_reduced = node->op == OP_REDUCE && access == ACCESS_MOVED;
        if (access != ACCESS_SAME && in.path != PATH_SEVERAL)
            in.path = is_reduced ? PATH_REDUCED : ++f->npaths;
        in.budget = access_budget(access, in.budget);
        if (is_reduced && reduces_short_rows(f->s->m, node) && in.budget > SHORT_ROW_BUDGET)
            in.budget = SHORT_ROW_BUDGET;
        want(f, w, in);
    }
}

static Wants wants_of(RegionFuse *f, const Item *item)
{
    Wants w = { .before = INT_MAX, .item = (int)(item - f->items) + 1, .first = -1, .second = -1 };
    for (int i = 0; i < item->nuses; i++)
        want_use(f, &w, item, f->uses[item->first_use + i]);
    for (int i = 0; i < w.n; i++) {
        int g = w.at[i].group;
        if (w.first < 0 || f->groups[g].last < f->groups[w.first].last) {
            w.second = w.first;
            w.first = g;
        } else if (w.second < 0 || f->groups[g].last < f->groups[w.second].last)
            w.second = g;
    }
    return w;
}

/* ---- decisions ---- */

/* All readers of the item, except group g, stand after g. */
static bool others_stand_after(const RegionFuse *f, const Wants *w, int g)
{
    int last = f->groups[g].last;
    if (w->in_memory && w->before <= last)
        return false;
    int other = w->first == g ? w->second : w->first;
    return other < 0 || f->groups[other].last > last;
}

static bool may_be_result(const RegionFuse *f, const Item *item, const Wants *w, int group)
{
    const FuseGroup *g = &f->groups[group];
    Type type = type_of(f->s->m, node_at(f->s->m, item->node)->out);
    return g->is_loop && g->nmembers < MAX_MEMBERS && g->nresults < MAX_RESULTS &&
           type_same_shape(g->shape, type) && others_stand_after(f, w, group);
}

/* A large transpose whose neighbours lie far apart in its operand: a loop over results reads it in
 * tiles (kernels/tiles.c), any other kernel would gather it element by element. */
static bool reads_across(const Module *m, const Node *node)
{
    enum { LARGE = 4096, SHORT = 4 };
    if (node->op != OP_TRANSPOSE)
        return false;
    Type in = type_of(m, node->in[0]), out = type_of(m, node->out);
    int last = out.rank - 1;
    return type_count(out) > LARGE && in.dims[last] > SHORT && out.dims[last] > SHORT &&
           ((const TransposeAttrs *)node->attrs)->permutation.at[last] != last;
}

/* Does another group read the item, by what is decided so far?  Then it will be in memory. */
static bool is_read_outside(const RegionFuse *f, const Item *item, int group)
{
    for (int i = 0; i < item->nuses; i++) {
        Use use = f->uses[item->first_use + i];
        const Item *user = &f->items[use.user];
        bool is_member = use.operand >= 0 && user->nmembers > 0;
        for (int k = 0; is_member && k < user->nmembers; k++)
            if (user->members[k].group != group)
                return true;
    }
    return false;
}

/* Are no more than *left cheap operations between the item and memory, counted as often as they would
 * be computed? */
static bool is_little(const RegionFuse *f, const Item *item, int group, int *left)
{
    const Node *node = node_at(f->s->m, item->node);
    if (item->kind != ITEM_LOOP || is_read_outside(f, item, group))
        return true;
    if (--*left < 0 || node_is_costly(f->s->m, node) || reads_across(f->s->m, node))
        return false;
    for (int k = 0; k < node->nin; k++) {
        int def = definer(f, node->in[k]);
        if (def >= 0 && !is_little(f, &f->items[def], group, left))
            return false;
    }
    return true;
}

static bool may_be_repeated(const RegionFuse *f, const Item *item, int group)
{
    enum { MOST = 24 }; /* operations, of all readers together */
    int left = MOST / item->nuses;
    return is_little(f, item, group, &left);
}

/* Are no more than *left operations between the item and memory?  If there are more, some of them are written, and
 * then it is better the last than one before it. */
static bool reaches_memory(const RegionFuse *f, const Item *item, int group, int *left)
{
    const Node *node = node_at(f->s->m, item->node);
    bool is_written =
        item->kind != ITEM_LOOP || is_read_outside(f, item, group) || node_is_costly(f->s->m, node);
    bool is_work =
        op_info[node->op].kind == KIND_MAP || node->op == OP_CONCATENATE || node->op == OP_PAD;
    if (is_written)
        return true;
    *left -= is_work;
    for (int k = 0; k < node->nin && *left >= 0; k++) {
        int def = definer(f, node->in[k]);
        if (def >= 0 && !reaches_memory(f, &f->items[def], group, left))
            return false;
    }
    return *left >= 0;
}

static bool may_join(const RegionFuse *f, const Item *item, Member as)
{
    const Node *node = node_at(f->s->m, item->node);
    if (as.path == PATH_SEVERAL && !may_be_repeated(f, item, as.group))
        return false;
    if (reads_across(f->s->m, node) && (!f->groups[as.group].is_loop || as.budget != NO_LIMIT))
        return false;
    if (as.budget == NO_LIMIT || op_info[node->op].kind == KIND_VIEW)
        return true;
    int left = as.budget;
    return as.budget > 0 && !node_is_costly(f->s->m, node) &&
           reaches_memory(f, item, as.group, &left);
}

static void join(RegionFuse *f, int position, Member as)
{
    const Node *node = node_at(f->s->m, f->items[position].node);
    if (as.budget != NO_LIMIT && op_info[node->op].kind == KIND_MAP)
        as.budget--;
    member_add(f, position, as);
}

/* A group of the same shape that reads what this node reads, or is so small that one call less
 * is worth more; -1: none. */
static int sibling(const RegionFuse *f, const Item *item, const Wants *w)
{
    const Node *node = node_at(f->s->m, item->node);
    bool is_small = type_count(type_of(f->s->m, node->out)) <= FEW_ELEMENTS;
    for (int g = f->ngroups - 1; g >= 0 && g >= f->ngroups - SIBLINGS_SEEN; g--) {
        bool is_reader = f->groups[g].wanted == w->item;
        bool shares = is_small;
        for (int k = 0; k < node->nin; k++)
            shares |= group_reads(&f->groups[g], node->in[k]);
        if (!is_reader && shares && may_be_result(f, item, w, g))
            return g;
    }
    return -1;
}

/* ---- merging: loops over one shape that need the same value become one ---- */

/* Does every reader of what the group gives stand after `position`, and none in group `other`? */
static bool readers_stand_after(const RegionFuse *f, int group, int position, int other)
{
    const FuseGroup *g = &f->groups[group];
    for (int r = 0; r < g->nresults; r++) {
        const Item *item = &f->items[definer(f, g->results[r])];
        for (int i = 0; i < item->nuses; i++) {
            Use use = f->uses[item->first_use + i];
            const Item *user = &f->items[use.user];
            bool is_member = use.operand >= 0 && user->nmembers > 0;
            if (!is_member && use.user <= position)
                return false;
            for (int k = 0; is_member && k < user->nmembers; k++) {
                int reader = user->members[k].group;
                if (reader == other || (reader != group && f->groups[reader].last <= position))
                    return false;
            }
        }
    }
    return true;
}

static bool may_merge(const RegionFuse *f, int from, int into)
{
    const FuseGroup *a = &f->groups[from], *b = &f->groups[into];
    return a->is_loop && b->is_loop && type_same_shape(a->shape, b->shape) &&
           a->nmembers + b->nmembers <= MAX_MEMBERS && a->nresults + b->nresults <= MAX_RESULTS &&
           readers_stand_after(f, from, b->last, into);
}

static Member *member_in(Item *item, int group)
{
    for (int i = 0; i < item->nmembers; i++)
        if (item->members[i].group == group)
            return &item->members[i];
    return NULL;
}

static int later_first(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

/* A view that both groups had for themselves may be asked at two indices now. */
static void merge(RegionFuse *f, int from, int into)
{
    FuseGroup gone = f->groups[from];
    f->groups[from].nmembers = 0;
    f->groups[from].is_loop = false;
    for (int i = 0; i < gone.nmembers; i++) {
        Item *item = &f->items[gone.members[i]];
        Member *old = member_in(item, from), moved = *old, *there = member_in(item, into);
        *old = item->members[--item->nmembers];
        moved.group = into;
        if (!there) {
            member_add(f, gone.members[i], moved);
            continue;
        }
        there = member_in(item, into);
        there->path = there->path == moved.path ? moved.path : PATH_SEVERAL;
        there->budget = there->budget < moved.budget ? there->budget : moved.budget;
    }
    FuseGroup *g = &f->groups[into];
    qsort(g->members, (size_t)g->nmembers, sizeof *g->members, later_first);
    for (int r = 0; r < gone.nresults; r++)
        result_add(f, definer(f, gone.results[r]), into);
}

/* All groups that read the item, if they compute at the index of their results, become the one that
 * stands last; false: some cannot. */
static bool merge_readers(RegionFuse *f, const Wants *w)
{
    int into = -1;
    for (int i = 0; i < w->n; i++) {
        if (w->at[i].path != PATH_RESULT)
            return false;
        if (into < 0 || f->groups[w->at[i].group].last > f->groups[into].last)
            into = w->at[i].group;
    }
    for (int i = 0; i < w->n; i++)
        if (w->at[i].group != into && !may_merge(f, w->at[i].group, into))
            return false;
    for (int i = 0; i < w->n; i++) {
        if (w->at[i].group != into)
            merge(f, w->at[i].group, into);
        f->groups[w->at[i].group].wanted = 0;
    }
    return true;
}

/* The item must be an array in memory: as a further result of a group, or by its own. */
static void place_in_memory(RegionFuse *f, int position, const Wants *w)
{
    Item *item = &f->items[position];
    for (int i = 0; i < w->n; i++)
        if (w->at[i].path == PATH_RESULT && may_be_result(f, item, w, w->at[i].group)) {
            member_add(f, position, (Member){ w->at[i].group, PATH_RESULT, NO_LIMIT });
            result_add(f, position, w->at[i].group);
            return;
        }
    int g = sibling(f, item, w);
    if (g < 0) {
        group_start(f, position);
        return;
    }
    member_add(f, position, (Member){ g, PATH_RESULT, NO_LIMIT });
    result_add(f, position, g);
}

/* ---- copies: little that is made of one array is made where it is read ---- */

/* Is the value made of no more than one large array, *leaf (0: of none so far), by *left cheap operations at
 * most? */
static bool is_made_of_one(const RegionFuse *f, ValueId v, int64_t n, int *left, ValueId *leaf)
{
    enum { SMALL = 8 }; /* so many times smaller than n */
    const Module *m = f->s->m;
    int def = definer(f, v);
    const Node *node = def >= 0 ? node_at(m, f->items[def].node) : NULL;
    const Dense *constant = value_constant(m, v);
    if (type_count(type_of(m, v)) * SMALL <= n || (constant && constant->is_splat))
        return true;
    if (!node || f->items[def].kind != ITEM_LOOP) {
        bool is_first = !*leaf || *leaf == v;
        *leaf = v;
        return is_first;
    }
    bool is_plain = op_info[node->op].kind == KIND_MAP || is_free_view(node->op);
    if (--*left < 0 || !is_plain || node_is_costly(m, node))
        return false;
    for (int k = 0; k < node->nin; k++)
        if (!is_made_of_one(f, node->in[k], n, left, leaf))
            return false;
    return true;
}

/* Every group that reads the item computes it: they read what it is made of instead, which is no more. */
static bool may_be_copied(const RegionFuse *f, const Item *item, const Wants *w)
{
    enum { MOST_GROUPS = 4, MOST_OPERATIONS = 4 };
    int left = MOST_OPERATIONS;
    ValueId v = node_at(f->s->m, item->node)->out, leaf = 0;
    if (w->n < 2 || w->n > MOST_GROUPS || w->in_memory ||
        !is_made_of_one(f, v, type_count(type_of(f->s->m, v)), &left, &leaf))
        return false;
    for (int i = 0; i < w->n; i++)
        if (w->at[i].path == PATH_SEVERAL || !may_join(f, item, w->at[i]))
            return false;
    return true;
}

/* Will v be in memory, whatever is decided about the nodes before? */
static bool is_in_memory(const RegionFuse *f, ValueId v)
{
    const Dense *constant = value_constant(f->s->m, v);
    if (constant)
        return !constant->is_splat && type_count(constant->type) > 1;
    int def = definer(f, v);
    return def < 0 || f->items[def].kind != ITEM_LOOP;
}

static void decide_loop(RegionFuse *f, int position, Wants *w)
{
    Item *item = &f->items[position];
    const Node *node = node_at(f->s->m, item->node);
    if (node_is_alias(f->s->m, node) && (w->in_memory || is_in_memory(f, node->in[0]))) {
        item->kind = ITEM_BARE; /* another name for what it reads */
        return;
    }
    if (is_free_view(node->op)) {
        for (int i = 0; i < w->n; i++)
            join(f, position, w->at[i]);
        w->n = 0;
        if (w->in_memory)
            group_start(f, position);
        return;
    }
    if (f->s->is_apart) {
        group_start(f, position);
        return;
    }
    if (w->n > 1 && merge_readers(f, w))
        *w = wants_of(f, item);
    bool joins_all =
        w->n == 1 ? !w->in_memory && may_join(f, item, w->at[0]) : may_be_copied(f, item, w);
    for (int i = 0; i < w->n && joins_all; i++)
        join(f, position, w->at[i]);
    if (!joins_all)
        place_in_memory(f, position, w);
}

static void decide(RegionFuse *f, int position)
{
    Item *item = &f->items[position];
    if (item->kind == ITEM_BARE || item->kind == ITEM_CONSTANT || !item->nuses)
        return;
    Wants w = wants_of(f, item);
    if (!w.n && !w.in_memory)
        return; /* read only by dead items */
    if (item->kind == ITEM_LOOP)
        decide_loop(f, position, &w);
    else
        group_start(f, position);
}

/* ---- the region's list ---- */

static void region_rebuild(RegionFuse *f)
{
    FuseState *s = f->s;
    int *group_at = ARENA_ARRAY(s->scratch, int, f->nitems);
    for (int g = 0; g < f->ngroups; g++)
        if (f->groups[g].nmembers) /* else it was merged into another */
            group_at[f->groups[g].last] = g + 1;
    NodeId *list = ARENA_ARRAY(s->scratch, NodeId, f->nitems);
    NodeId *nodes = ARENA_ARRAY(s->scratch, NodeId, f->nitems);
    for (int i = 0; i < f->nitems; i++)
        nodes[i] = f->items[i].node;
    int n = 0;
    for (int i = 0; i < f->nitems; i++) {
        int kind = f->items[i].kind;
        if (group_at[i])
            list[n++] = fusion_build(s, &f->groups[group_at[i] - 1], nodes);
        else if (kind == ITEM_CONSTANT || kind == ITEM_BARE)
            list[n++] = nodes[i];
    }
    region_set_nodes(s->m, f->region, n, list);
}

static Error *fuse_region(FuseState *s, RegionId r)
{
    fuse_order(s, r);
    int n = region_at(s->m, r)->nnodes;
    RegionFuse f = { .s = s, .region = r, .nitems = n, .npaths = PATH_REDUCED };
    f.items = ARENA_ARRAY(s->scratch, Item, n);
    for (int i = 0; i < n; i++) {
        NodeId id = region_at(s->m, r)->nodes[i];
        s->position[id] = i;
        TRY(item_classify(s, id, &f.items[i]));
    }
    uses_find(&f);
    for (int i = n - 1; i >= 0; i--)
        decide(&f, i);
    for (int i = 0; i < n; i++) {
        const Node *node = node_at(s->m, f.items[i].node);
        bool has_code = node_holds_code(node);
        for (int k = 0; has_code && k < node->nregions; k++) {
            TRY(fuse_region(s, node_at(s->m, f.items[i].node)->regions[k]));
            node = node_at(s->m, f.items[i].node);
        }
    }
    region_rebuild(&f);
    return NULL;
}

Error *pass_fuse(Module *m, TripCounts *out)
{
    RegionId main = module_main(m);
    *out = count_trips(m, main);
    find_unread_starts(m, main, out);
    FuseState s = { .m = m, .scratch = arena_new(), .is_apart = checks_nans() };
    s.position = ARENA_ARRAY(s.scratch, int, m->nnodes);
    s.inner = ARENA_ARRAY(s.scratch, ValueId, m->nvalues);
    s.subst = subst_new(m);
    Error *error = fuse_region(&s, main);
    if (!error) {
        subst_apply(&s.subst, m, main);
        constants_settle(m, main);
    }
    subst_free(&s.subst);
    arena_free(s.scratch);
    return error;
}
