/* lockstep.h - runs a placed program on all devices at once, node by node: a slow and plain
 * reading of what place's output means, to compare with the program over whole arrays.
 *
 * Every device has a table of values.  A node is evaluated for one device after the other; at a
 * node where devices meet, all tables are there.  Memory is the module's arena. */
#ifndef TUTTI_TESTS_LOCKSTEP_H
#define TUTTI_TESTS_LOCKSTEP_H
#include "engine/eval/eval.h"
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

#include <string.h>

typedef struct World {
    Module *m;
    int ndevices;
    Tensor **values; /* values[device][value] */
    int collectives; /* tutti.global nodes performed */
} World;

static Tensor world_tensor(const World *w, Type t)
{
    return (Tensor){ t, arena_alloc(w->m->arena, type_bytes(t) + 16) };
}

/* Copies between a tile and the whole: `into_whole` says which way. */
static void tile_copy(Tensor whole, Tensor tile, Tiling t, int device, bool into_whole)
{
    size_t bytes = (size_t)element_info[whole.type.element].bytes;
    int64_t index[MAX_RANK] = { 0 }, strides[MAX_RANK];
    type_strides(whole.type, strides);
    for (int64_t i = 0; i < type_count(tile.type); i++) {
        int64_t at = 0;
        for (int d = 0; d < t.rank; d++)
            at += (t.tile_of[device * t.rank + d] * tile.type.dims[d] + index[d]) * strides[d];
        char *a = (char *)whole.data + (size_t)at * bytes,
             *b = (char *)tile.data + (size_t)i * bytes;
        memcpy(into_whole ? a : b, into_whole ? b : a, bytes);
        for (int d = t.rank - 1; d >= 0 && ++index[d] == tile.type.dims[d]; d--)
            index[d] = 0;
    }
}

static MUST_USE Error *run_region_on_all(World *w, RegionId r);

static MUST_USE Error *run_global(World *w, const Node *node)
{
    const GlobalAttrs *a = node->attrs;
    RegionId body = node->regions[0];
    Tensor *in = ARENA_ARRAY(w->m->arena, Tensor, node->nin + 1);
    Tensor *out = ARENA_ARRAY(w->m->arena, Tensor, node->nout + 1);
    w->collectives++;
    for (int i = 0; i < node->nin; i++) {
        in[i] = world_tensor(w, type_of(w->m, region_at(w->m, body)->args + (uint32_t)i));
        for (int d = 0; d < w->ndevices; d++)
            tile_copy(in[i], w->values[d][node->in[i]], a->in_tilings.at[i], d, true);
    }
    for (int i = 0; i < node->nout; i++)
        out[i] = world_tensor(w, type_of(w->m, region_return(w->m, body)->in[i]));
    TRY(eval_region(w->m, body, in, out));
    for (int i = 0; i < node->nout; i++)
        for (int d = 0; d < w->ndevices; d++) {
            ValueId v = node->out + (uint32_t)i;
            w->values[d][v] = world_tensor(w, type_of(w->m, v));
            tile_copy(out[i], w->values[d][v], a->out_tilings.at[i], d, false);
        }
    return NULL;
}

/* One element after the other, by the node's own region. */
static MUST_USE Error *run_all_reduce(World *w, const Node *node)
{
    Matrix groups = ((const AllReduceAttrs *)node->attrs)->replica_groups;
    Type type = type_of(w->m, node->out), one = type_scalar(type.element);
    size_t bytes = (size_t)element_info[type.element].bytes;
    for (int g = 0; g < groups.rows; g++) {
        const int64_t *members = &groups.at[g * groups.cols];
        Tensor sum = world_tensor(w, type);
        memcpy(sum.data, w->values[members[0]][node->in[0]].data, type_bytes(type));
        for (int j = 1; j < groups.cols; j++)
            for (size_t i = 0; i < (size_t)type_count(type); i++) {
                char *a = (char *)sum.data + i * bytes, both[16];
                char *b = (char *)w->values[members[j]][node->in[0]].data + i * bytes;
                Tensor in[] = { { one, a }, { one, b } }, out = { one, both };
                TRY(eval_region(w->m, node->regions[0], in, &out));
                memcpy(a, both, bytes);
            }
        for (int k = 0; k < groups.cols; k++)
            w->values[members[k]][node->out] = sum;
    }
    return NULL;
}

/* Members' pieces side by side, as tiles of a grid that is cut in one dimension. */
static void run_all_gather(World *w, const Node *node)
{
    const AllGatherAttrs *attrs = node->attrs;
    Matrix groups = attrs->replica_groups;
    Type type = type_of(w->m, node->out);
    int64_t *tiles = ARENA_ARRAY(w->m->arena, int64_t, type.rank);
    int64_t *tile_of = ARENA_ARRAY(w->m->arena, int64_t, type.rank * groups.cols);
    for (int k = 0; k < groups.cols; k++)
        tile_of[k * type.rank + attrs->all_gather_dim] = k;
    for (int g = 0; g < groups.rows; g++) {
        const int64_t *members = &groups.at[g * groups.cols];
        Tensor all = world_tensor(w, type);
        for (int k = 0; k < groups.cols; k++)
            tile_copy(all, w->values[members[k]][node->in[0]],
                      (Tiling){ type.rank, groups.cols, tiles, tile_of, 0, NULL }, k, true);
        for (int k = 0; k < groups.cols; k++)
            w->values[members[k]][node->out] = all;
    }
}

/* Device members[k] gets tile k of the sum, cut along one dimension. */
static MUST_USE Error *run_reduce_scatter(World *w, const Node *node)
{
    const ReduceScatterAttrs *attrs = node->attrs;
    Matrix groups = attrs->replica_groups;
    Type whole = type_of(w->m, node->in[0]), part = type_of(w->m, node->out);
    Node sum = *node; /* the same operation, seen as an all_reduce into room of its own */
    Tensor **kept = ARENA_ARRAY(w->m->arena, Tensor *, w->ndevices);
    for (int d = 0; d < w->ndevices; d++) {
        kept[d] = w->values[d];
        w->values[d] = arena_copy(w->m->arena, kept[d], sizeof(Tensor) * w->m->nvalues);
    }
    sum.out = node->in[0];
    TRY(run_all_reduce(w, &sum));
    int64_t *tiles = ARENA_ARRAY(w->m->arena, int64_t, whole.rank);
    int64_t *tile_of = ARENA_ARRAY(w->m->arena, int64_t, whole.rank * groups.cols);
    for (int k = 0; k < groups.cols; k++)
        tile_of[k * whole.rank + attrs->scatter_dimension] = k;
    for (int i = 0; i < groups.rows * groups.cols; i++) {
        Tensor all = w->values[groups.at[i]][node->in[0]], mine = world_tensor(w, part);
        tile_copy(all, mine, (Tiling){ whole.rank, groups.cols, tiles, tile_of, 0, NULL },
                  i % groups.cols, false);
        kept[groups.at[i]][node->out] = mine;
    }
    for (int d = 0; d < w->ndevices; d++)
        w->values[d] = kept[d];
    return NULL;
}

/* Part k of what member j has, cut along split_dimension, becomes part j of what member k gets,
 * along concat_dimension. */
static void take_parts(World *w, const Node *node, const int64_t *members, int k, Tensor got)
{
    const AllToAllAttrs *attrs = node->attrs;
    Type type = type_of(w->m, node->in[0]);
    int64_t cut = attrs->split_dimension, joined = attrs->concat_dimension, n = attrs->split_count;
    int64_t index[MAX_RANK], strides[MAX_RANK], count = type_count(got.type);
    int64_t part = type.dims[joined] / (joined == cut ? n : 1);
    size_t bytes = (size_t)element_info[type.element].bytes;
    type_strides(type, strides);
    for (int64_t i = 0; i < count; i++) {
        int64_t left = i, from = 0;
        for (int d = type.rank - 1; d >= 0; d--) {
            index[d] = left % got.type.dims[d];
            left /= got.type.dims[d];
        }
        int64_t j = index[joined] / part;
        index[joined] -= j * part;
        index[cut] += k * (type.dims[cut] / n);
        for (int d = 0; d < type.rank; d++)
            from += index[d] * strides[d];
        memcpy((char *)got.data + (size_t)i * bytes,
               (char *)w->values[members[j]][node->in[0]].data + (size_t)from * bytes, bytes);
    }
}

static void run_all_to_all(World *w, const Node *node)
{
    Matrix groups = ((const AllToAllAttrs *)node->attrs)->replica_groups;
    for (int g = 0; g < groups.rows; g++)
        for (int k = 0; k < groups.cols; k++) {
            const int64_t *members = &groups.at[g * groups.cols];
            Tensor got = world_tensor(w, type_of(w->m, node->out));
            take_parts(w, node, members, k, got);
            w->values[members[k]][node->out] = got;
        }
}

static void run_permute(World *w, const Node *node)
{
    Matrix pairs = ((const PermuteAttrs *)node->attrs)->source_target_pairs;
    Type type = type_of(w->m, node->out);
    for (int d = 0; d < w->ndevices; d++)
        w->values[d][node->out] = world_tensor(w, type); /* zeros where no device sends */
    for (int i = 0; i < pairs.rows; i++)
        memcpy(w->values[pairs.at[2 * i + 1]][node->out].data,
               w->values[pairs.at[2 * i]][node->in[0]].data, type_bytes(type));
}

/* Every device's box, element by element, from whatever device holds it. */
static void run_retile(World *w, const Node *node)
{
    const RetileAttrs *a = node->attrs;
    Tiling t = a->in_tilings.at[0];
    Type tile = type_of(w->m, node->in[0]), box = type_of(w->m, node->out);
    int64_t *dims = ARENA_ARRAY(w->m->arena, int64_t, box.rank);
    for (int d = 0; d < box.rank; d++)
        dims[d] = tile.dims[d] * t.tiles[d];
    Tensor whole = world_tensor(w, (Type){ box.element, box.rank, dims });
    size_t bytes = (size_t)element_info[box.element].bytes;
    int64_t strides[MAX_RANK];
    type_strides(whole.type, strides);
    for (int k = 0; k < w->ndevices; k++)
        tile_copy(whole, w->values[k][node->in[0]], t, k, true);
    for (int k = 0; k < w->ndevices; k++) {
        Tensor mine = w->values[k][node->out] = world_tensor(w, box);
        if (node->nin > 1)
            memcpy(mine.data, w->values[k][node->in[1]].data, type_bytes(box));
        for (int64_t i = 0; i < type_count(box); i++) {
            int64_t left = i, at = 0;
            bool is_inside = true;
            for (int d = box.rank - 1; d >= 0; left /= box.dims[d--]) {
                int64_t x = a->starts.at[k * box.rank + d] + left % box.dims[d];
                is_inside = is_inside && x >= 0 && x < dims[d];
                at += x * strides[d];
            }
            if (is_inside)
                memcpy((char *)mine.data + (size_t)i * bytes,
                       (char *)whole.data + (size_t)at * bytes, bytes);
        }
    }
}

/* What a region returned becomes the values first, first + 1, ... */
static void take_results(World *w, RegionId r, ValueId first)
{
    const Node *last = region_return(w->m, r);
    for (int d = 0; d < w->ndevices; d++) {
        Tensor *results = ARENA_ARRAY(w->m->arena, Tensor, last->nin + 1);
        for (int i = 0; i < last->nin; i++)
            results[i] = w->values[d][last->in[i]];
        for (int i = 0; i < last->nin; i++)
            w->values[d][first + (uint32_t)i] = results[i];
    }
}

static MUST_USE Error *run_while(World *w, const Node *node)
{
    RegionId test = node->regions[0], body = node->regions[1];
    ValueId tested = region_at(w->m, test)->args, carried = region_at(w->m, body)->args;
    for (int d = 0; d < w->ndevices; d++)
        for (int i = 0; i < node->nin; i++)
            w->values[d][carried + (uint32_t)i] = w->values[d][node->in[i]];
    for (;;) {
        for (int d = 0; d < w->ndevices; d++)
            for (int i = 0; i < node->nin; i++)
                w->values[d][tested + (uint32_t)i] = w->values[d][carried + (uint32_t)i];
        TRY(run_region_on_all(w, test));
        int ngo = 0;
        for (int d = 0; d < w->ndevices; d++)
            ngo += *(char *)w->values[d][region_return(w->m, test)->in[0]].data != 0;
        if (ngo != 0 && ngo != w->ndevices)
            return error_new(CODE_INTERNAL, "devices do not agree whether to go on");
        if (ngo == 0)
            break;
        TRY(run_region_on_all(w, body));
        take_results(w, body, carried);
    }
    for (int d = 0; d < w->ndevices; d++)
        for (int i = 0; i < node->nout; i++)
            w->values[d][node->out + (uint32_t)i] = w->values[d][carried + (uint32_t)i];
    return NULL;
}

static MUST_USE Error *run_case(World *w, const Node *node)
{
    int32_t k = *(int32_t *)w->values[0][node->in[0]].data;
    RegionId r = node->regions[k < 0 || k >= node->nregions ? node->nregions - 1 : k];
    TRY(run_region_on_all(w, r));
    take_results(w, r, node->out);
    return NULL;
}

static MUST_USE Error *run_alone(World *w, NodeId n, int device)
{
    const Node *node = node_at(w->m, n);
    Tensor *values = w->values[device];
    Tensor *in = ARENA_ARRAY(w->m->arena, Tensor, node->nin + 1);
    Tensor *out = ARENA_ARRAY(w->m->arena, Tensor, node->nout + 1);
    for (int i = 0; i < node->nin; i++)
        in[i] = values[node->in[i]];
    for (int i = 0; i < node->nout; i++)
        out[i] = values[node->out + (uint32_t)i] =
            world_tensor(w, type_of(w->m, node->out + (uint32_t)i));
    if (node->op == OP_PARTITION_ID) {
        *(uint32_t *)out[0].data = (uint32_t)device;
        return NULL;
    }
    return eval_node(w->m, n, in, out);
}

static MUST_USE Error *run_region_on_all(World *w, RegionId r)
{
    for (int i = 0; i + 1 < region_at(w->m, r)->nnodes; i++) {
        NodeId n = region_at(w->m, r)->nodes[i];
        const Node *node = node_at(w->m, n);
        if (node->op == OP_GLOBAL)
            TRY(run_global(w, node));
        else if (node->op == OP_ALL_REDUCE)
            TRY(run_all_reduce(w, node));
        else if (node->op == OP_ALL_GATHER)
            run_all_gather(w, node);
        else if (node->op == OP_REDUCE_SCATTER)
            TRY(run_reduce_scatter(w, node));
        else if (node->op == OP_ALL_TO_ALL)
            run_all_to_all(w, node);
        else if (node->op == OP_PERMUTE)
            run_permute(w, node);
        else if (node->op == OP_RETILE)
            run_retile(w, node);
        else if (node->op == OP_WHILE)
            TRY(run_while(w, node));
        else if (node->op == OP_CASE)
            TRY(run_case(w, node));
        else
            for (int d = 0; d < w->ndevices; d++)
                TRY(run_alone(w, n, d));
    }
    return NULL;
}

/* The whole program: whole arrays in and out. */
static MUST_USE Error *run_placed(Module *m, const Params *p, const Tensor *in, Tensor *out,
                                  int *collectives)
{
    RegionId main = module_main(m);
    World w = { .m = m, .ndevices = m->npartitions };
    w.values = ARENA_ARRAY(m->arena, Tensor *, w.ndevices);
    for (int d = 0; d < w.ndevices; d++) {
        w.values[d] = ARENA_ARRAY(m->arena, Tensor, m->nvalues);
        for (int i = 0; i < region_at(m, main)->nargs; i++) {
            ValueId v = region_at(m, main)->args + (uint32_t)i;
            w.values[d][v] = world_tensor(&w, p->args[i].local);
            tile_copy(in[i], w.values[d][v], p->args[i].tiling, d, false);
        }
    }
    TRY(run_region_on_all(&w, main));
    const Node *last = region_return(m, main);
    for (int i = 0; i < last->nin; i++) {
        out[i] = world_tensor(&w, p->results[i].whole);
        for (int d = 0; d < w.ndevices; d++)
            tile_copy(out[i], w.values[d][last->in[i]], p->results[i].tiling, d, true);
    }
    *collectives = w.collectives;
    return NULL;
}
#endif
