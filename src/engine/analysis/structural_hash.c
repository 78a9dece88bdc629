/* structural_hash.c - which regions compute the same: equal operations, attributes, types and wiring.
 *
 * Values are numbered in the order in which a walk meets their definitions; two regions are the
 * same if both walks see the same things, with the numbers in place of the values.  Regions of
 * kernels and reducers use nothing from outside, so every operand has been numbered. */
#include "engine/analysis/analysis.h"

#include "base/grow.h"

typedef struct RegionEntry {
    uint64_t hash;
    int kind, next; /* the one before with the same hash, counted from 1 */
    RegionId region;
    struct LLVMOpaqueValue *function;
} RegionEntry;

static uint64_t mix(uint64_t seed, uint64_t x)
{
    return hash_bytes(&x, sizeof x, seed);
}

static uint64_t type_hash(Type t, uint64_t seed)
{
    seed = mix(seed, (uint64_t)t.element);
    return t.rank ? hash_bytes(t.dims, sizeof *t.dims * (size_t)t.rank, seed) : seed;
}

static uint64_t hash_region(RegionTable *k, RegionId r, uint64_t seed, uint32_t *count)
{
    const Region *region = region_at(k->m, r);
    for (int i = 0; i < region->nargs; i++) {
        k->number[region->args + (ValueId)i] = ++*count;
        seed = type_hash(type_of(k->m, region->args + (ValueId)i), seed);
    }
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(k->m, region->nodes[i]);
        seed = attrs_hash(op_info[node->op].attrs, node->attrs, mix(seed, (uint64_t)node->op));
        for (int j = 0; j < node->nin; j++)
            seed = mix(seed, k->number[node->in[j]]);
        for (int j = 0; j < node->nout; j++) {
            k->number[node->out + (ValueId)j] = ++*count;
            seed = type_hash(type_of(k->m, node->out + (ValueId)j), seed);
        }
        for (int j = 0; j < node->nregions; j++)
            seed = hash_region(k, node->regions[j], seed, count);
    }
    return seed;
}

uint64_t region_hash(RegionTable *k, RegionId r, uint64_t seed)
{
    if (!k->number)
        k->number = HEAP_ARRAY(uint32_t, k->m->nvalues, "a table of values");
    uint32_t count = 0;
    return hash_region(k, r, seed, &count);
}

/* Here number[v] of a value of a is the value of b that it must be. */
static bool same_values(RegionTable *k, int n, ValueId a, ValueId b)
{
    for (int i = 0; i < n; i++) {
        ValueId x = a + (ValueId)i, y = b + (ValueId)i;
        if (!type_equal(type_of(k->m, x), type_of(k->m, y)))
            return false;
        k->number[x] = y;
    }
    return true;
}

static bool same_region(RegionTable *k, RegionId a, RegionId b);

static bool same_node(RegionTable *k, const Node *x, const Node *y)
{
    if (x->op != y->op || x->nin != y->nin || x->nout != y->nout || x->nregions != y->nregions)
        return false;
    for (int j = 0; j < x->nin; j++)
        if (k->number[x->in[j]] != y->in[j])
            return false;
    if (!attrs_equal(op_info[x->op].attrs, x->attrs, y->attrs) ||
        !same_values(k, x->nout, x->out, y->out))
        return false;
    for (int j = 0; j < x->nregions; j++)
        if (!same_region(k, x->regions[j], y->regions[j]))
            return false;
    return true;
}

static bool same_region(RegionTable *k, RegionId a, RegionId b)
{
    const Region *x = region_at(k->m, a), *y = region_at(k->m, b);
    if (x->nargs != y->nargs || x->nnodes != y->nnodes ||
        !same_values(k, x->nargs, x->args, y->args))
        return false;
    for (int i = 0; i < x->nnodes; i++)
        if (!same_node(k, node_at(k->m, x->nodes[i]), node_at(k->m, y->nodes[i])))
            return false;
    return true;
}

struct LLVMOpaqueValue *region_table_find(RegionTable *k, RegionId r, int kind, uint64_t *hash)
{
    *hash = region_hash(k, r, (uint64_t)kind);
    uint64_t at = 0;
    table_get(&k->by_hash, hash, sizeof *hash, &at);
    for (; at; at = (uint64_t)k->at[at - 1].next) {
        const RegionEntry *e = &k->at[at - 1];
        if (e->kind == kind && same_region(k, r, e->region))
            return e->function;
    }
    return NULL;
}

void region_table_add(RegionTable *k, RegionId r, int kind, uint64_t hash,
                      struct LLVMOpaqueValue *function)
{
    HEAP_ROOM(k->at, k->n, &k->room);
    uint64_t before = 0;
    table_get(&k->by_hash, &hash, sizeof hash, &before);
    k->at[k->n++] = (RegionEntry){ hash, kind, (int)before, r, function };
    table_set(&k->by_hash, &hash, sizeof hash, (uint64_t)k->n);
}

void region_table_free(RegionTable *k)
{
    table_free(&k->by_hash);
    heap_free(k->at);
    heap_free(k->number);
    *k = (RegionTable){ 0 };
}
