/* shape_collective.c - the shape rules of operations at which devices meet. */
#include "ops/shape_util.h"

#include "base/guard.h"

#include <inttypes.h>
#include <string.h>

/* Numbers of devices, each at most once. */
typedef struct Seen {
    uint8_t bits[POSSIBLE_DEVICES / 8];
} Seen;

static bool is_new(Seen *seen, int64_t device)
{
    uint8_t bit = (uint8_t)(1 << device % 8);
    bool was_there = seen->bits[device / 8] & bit;
    seen->bits[device / 8] |= bit;
    return !was_there;
}

static bool groups_fit(Matrix groups, Text *why)
{
    Seen *seen = heap_new(sizeof *seen, "a table of devices");
    int64_t n = (int64_t)groups.rows * groups.cols, i = 0;
    bool is_device = true, is_once = true;
    for (; i < n && is_device && is_once; i++) {
        is_device = groups.at[i] >= -1 && groups.at[i] < POSSIBLE_DEVICES;
        is_once = !is_device || groups.at[i] == -1 || is_new(seen, groups.at[i]);
    }
    heap_free(seen);
    if (!is_device)
        return say(why, "replica_groups names device %" PRId64, groups.at[i - 1]);
    return is_once || say(why, "replica_groups names device %" PRId64 " twice", groups.at[i - 1]);
}

bool shape_all_reduce(const ShapeQuery *q, Text *why)
{
    const AllReduceAttrs *a = q->attrs;
    if (!groups_fit(a->replica_groups, why) || !expect_counts(q, q->nin, q->nin, why) ||
        !expect_reducer(q, 0, 1, q->nin, q->in, why))
        return false;
    for (int i = 0; i < q->nin; i++)
        if (!expect_result(q, i, q->regions[0].results[0].element, q->in[i].rank, q->in[i].dims,
                           why))
            return false;
    return true;
}

/* How many devices meet.  Groups of replicas with a channel and without global numbers hold every
 * partition of their replicas, as many as the extents `large` and `small` of one dimension say. */
static int64_t members(const AllReduceAttrs *a, int64_t large, int64_t small)
{
    int64_t named = a->replica_groups.cols, least;
    bool with_partitions = a->channel_id > 0 && !a->use_global_device_ids;
    bool is_many = with_partitions && named && small > 0 && large > 0 &&
                   !__builtin_mul_overflow(small, named, &least) && large % least == 0;
    return is_many ? large / small : named;
}

/* One dimension of an array becomes so many times as long. */
static bool multiply_extent(Type x, int64_t d, int64_t by, int64_t *dims, Text *why)
{
    return !__builtin_mul_overflow(dims[d], by, &dims[d]) ||
           say(why, "dimension %" PRId64 " of %s, %" PRId64 " times: it has too many elements", d,
               type_name(x), by);
}

bool shape_all_gather(const ShapeQuery *q, Text *why)
{
    const AllGatherAttrs *a = q->attrs;
    if (!groups_fit(a->replica_groups, why) || !expect_counts(q, q->nin, q->nin, why))
        return false;
    for (int i = 0; i < q->nin; i++) {
        Type x = q->in[i];
        if (!expect_dim(a->all_gather_dim, x.rank, "all_gather_dim", why))
            return false;
        if (!type_is_static(x) || a->replica_groups.cols == 0)
            continue;
        int64_t dims[MAX_RANK];
        memcpy(dims, x.dims, sizeof *dims * (size_t)x.rank);
        int64_t stated = q->stated[i].rank == x.rank ? q->stated[i].dims[a->all_gather_dim] : 0;
        int64_t devices = members(q->attrs, stated, x.dims[a->all_gather_dim]);
        if (!multiply_extent(x, a->all_gather_dim, devices, dims, why) ||
            !expect_result(q, i, x.element, x.rank, dims, why))
            return false;
    }
    return true;
}

bool shape_reduce_scatter(const ShapeQuery *q, Text *why)
{
    const ReduceScatterAttrs *a = q->attrs;
    if (!expect_counts(q, 1, 1, why) || !groups_fit(a->replica_groups, why) ||
        !expect_reducer(q, 0, 1, 1, q->in, why))
        return false;
    Type x = q->in[0];
    if (!expect_dim(a->scatter_dimension, x.rank, "scatter_dimension", why))
        return false;
    if (!all_static(q) || a->replica_groups.cols == 0)
        return true;
    int64_t extent = x.dims[a->scatter_dimension];
    int64_t stated = q->stated[0].rank == x.rank ? q->stated[0].dims[a->scatter_dimension] : 0;
    int64_t devices = members(q->attrs, extent, stated);
    if (extent % devices != 0)
        return say(why, "dimension %" PRId64 " of %s does not divide by %" PRId64 " devices",
                   a->scatter_dimension, type_name(x), devices);
    int64_t dims[MAX_RANK];
    memcpy(dims, x.dims, sizeof *dims * (size_t)x.rank);
    dims[a->scatter_dimension] /= devices;
    return expect_result(q, 0, q->regions[0].results[0].element, x.rank, dims, why);
}

bool shape_all_to_all(const ShapeQuery *q, Text *why)
{
    const AllToAllAttrs *a = q->attrs;
    if (!groups_fit(a->replica_groups, why) || !expect_counts(q, q->nin, q->nin, why))
        return false;
    for (int i = 0; i < q->nin; i++) {
        Type x = q->in[i];
        if (!expect_dim(a->split_dimension, x.rank, "split_dimension", why) ||
            !expect_dim(a->concat_dimension, x.rank, "concat_dimension", why))
            return false;
        if (!type_is_static(x))
            continue;
        if (a->split_count < 1 || x.dims[a->split_dimension] % a->split_count != 0)
            return say(why, "dimension %" PRId64 " of %s does not split into %" PRId64,
                       a->split_dimension, type_name(x), a->split_count);
        if (a->replica_groups.cols && a->split_count != a->replica_groups.cols)
            return say(why, "split_count is %" PRId64 " in groups of %d: they must be equal",
                       a->split_count, a->replica_groups.cols);
        int64_t dims[MAX_RANK];
        memcpy(dims, x.dims, sizeof *dims * (size_t)x.rank);
        dims[a->split_dimension] /= a->split_count;
        if (!multiply_extent(x, a->concat_dimension, a->split_count, dims, why) ||
            !expect_result(q, i, x.element, x.rank, dims, why))
            return false;
    }
    return true;
}

/* Whether they exist is seen once devices are numbered. */
static bool column_fits(Matrix pairs, int column, const char *name, Text *why)
{
    Seen *seen = heap_new(sizeof *seen, "a table of devices");
    int64_t twice = -1;
    for (int64_t i = 0; i < pairs.rows && twice < 0; i++) {
        int64_t device = pairs.at[2 * i + column];
        if (device >= 0 && device < POSSIBLE_DEVICES && !is_new(seen, device))
            twice = device;
    }
    heap_free(seen);
    return twice < 0 || say(why, "source_target_pairs names %s %" PRId64 " twice", name, twice);
}

static bool pairs_fit(Matrix pairs, Text *why)
{
    if (pairs.rows && pairs.cols != 2)
        return say(why, "source_target_pairs has %d columns, and must have 2", pairs.cols);
    return column_fits(pairs, 0, "source", why) && column_fits(pairs, 1, "target", why);
}

bool shape_permute(const ShapeQuery *q, Text *why)
{
    return pairs_fit(((const PermuteAttrs *)q->attrs)->source_target_pairs, why) &&
           shape_same(q, why);
}

/* The places of the roots: the last operand, a number for each of the others. */
static bool roots_fit(const ShapeQuery *q, Text *why)
{
    if (q->nin < 2)
        return say(why, "it takes arrays and the places of their roots (has_dynamic_root)");
    int64_t n = q->nin - 1;
    Type roots = q->in[n], wanted = { I32, 1, &n };
    return type_fits(roots, wanted) ||
           say(why, "the places of the roots are %s, and must be %s: one for each other operand",
               type_name(roots), type_name(wanted));
}

bool shape_collective_reduce(const ShapeQuery *q, Text *why)
{
    ShapeQuery arrays = *q;
    bool has_roots = ((const CollectiveReduceAttrs *)q->attrs)->has_dynamic_root;
    arrays.nin -= has_roots;
    return (!has_roots || roots_fit(q, why)) && shape_all_reduce(&arrays, why);
}

bool shape_collective_broadcast(const ShapeQuery *q, Text *why)
{
    const CollectiveBroadcastAttrs *a = q->attrs;
    ShapeQuery arrays = *q;
    arrays.nin -= a->has_dynamic_root;
    if (a->has_dynamic_root && !roots_fit(q, why))
        return false;
    if (arrays.nin < 1)
        return say(why, "it takes at least one array");
    return groups_fit(a->replica_groups, why) && shape_barrier(&arrays, why);
}

/* Tokens, and what is handed from device to device without all of them collective. */

static bool is_token(Type t)
{
    return t.element == TOKEN;
}

bool shape_token(const ShapeQuery *q, Text *why)
{
    for (int i = 0; i < q->nin; i++)
        if (!is_token(q->in[i]))
            return say(why, "operand %d is %s, and must be a token", i, type_name(q->in[i]));
    return expect_counts(q, q->nin, 1, why) && expect_type(q, 0, type_scalar(TOKEN), why);
}

bool shape_send(const ShapeQuery *q, Text *why)
{
    if (q->nin < 1 || !is_token(q->in[q->nin - 1]))
        return say(why, "its last operand must be a token");
    return pairs_fit(((const SendAttrs *)q->attrs)->source_target_pairs, why) &&
           expect_counts(q, q->nin, 1, why) && expect_type(q, 0, type_scalar(TOKEN), why);
}

bool shape_recv(const ShapeQuery *q, Text *why)
{
    if (q->nin != 1 || !is_token(q->in[0]))
        return say(why, "its operand must be a token");
    if (q->nout < 1 || !is_token(q->stated[q->nout - 1]))
        return say(why, "its last result must be a token");
    return pairs_fit(((const SendAttrs *)q->attrs)->source_target_pairs, why);
}

bool shape_async_start(const ShapeQuery *q, Text *why)
{
    if (q->nregions != 1)
        return say(why, "it has %d regions, and must have one", q->nregions);
    const struct RegionTypes *body = &q->regions[0];
    bool fits = body->nargs == q->nin && body->nresults == q->nout;
    for (int i = 0; fits && i < q->nin; i++)
        fits = type_fits(body->args[i], q->in[i]);
    for (int i = 0; fits && i < q->nout; i++)
        fits = type_fits(body->results[i], q->stated[i]);
    return fits || say(why, "its region must take its operands and give what the future holds");
}

/* operand, output, then four lists of numbers: where and how many rows go to whom. */
bool shape_ragged(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 6, 1, why) || !expect_type(q, 0, q->in[1], why))
        return false;
    Type from = q->in[0], to = q->in[1];
    bool is_row = from.element == to.element && from.rank == to.rank && from.rank >= 1;
    for (int d = 1; is_row && d < from.rank; d++)
        is_row = from.dims[d] == to.dims[d];
    if (!is_row)
        return say(why, "%s into %s: they may differ in dimension 0 only", type_name(from),
                   type_name(to));
    for (int i = 2; i < 6; i++) {
        Type t = q->in[i];
        if (t.rank != 1 || !is_integer(t.element) || !type_fits(t, q->in[2]))
            return say(why,
                       "operand %d is %s: offsets and sizes must be four equal lists of "
                       "integers",
                       i, type_name(t));
    }
    int64_t members = ((const AllReduceAttrs *)q->attrs)->replica_groups.cols;
    if (members && q->in[2].dims[0] % members != 0)
        return say(why, "%s offsets for groups of %" PRId64 ": as many for each member are needed",
                   type_name(q->in[2]), members);
    return true;
}
