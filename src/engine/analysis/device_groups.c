/* device_groups.c - which devices take part in a collective together: its numbers in, lists out.
 *
 * A device is a pair (replica, partition) with the flat number replica * npartitions + partition.
 * What the numbers in replica_groups mean depends on the operation and on two attributes:
 *
 *   use_global_device_ids              flat numbers
 *   channel_id > 0, all_to_all,        partitions; each replica has groups of its own
 *     ragged_all_to_all,
 *     collective_permute and
 *     collective_broadcast
 *   channel_id > 0, the others         replicas, each with all its partitions in one group; with
 *                                      one replica, where that leaves no choice, partitions
 *   otherwise                          replicas; each partition has groups of its own
 *
 * No groups at all means that all devices are in one.  Send and recv have no group: they are between
 * two devices (exec/mailbox.c). */
#include "engine/analysis/analysis.h"

#include "base/grow.h"

#include <string.h>

typedef enum Mode { BY_REPLICA, BY_PARTITION, BY_REPLICA_ALL_PARTITIONS, BY_DEVICE } Mode;

/* What is being numbered. */
typedef struct Numbering {
    Mode mode;
    int nreplicas, npartitions;
    const Node *node;
} Numbering;

static bool names_partitions(Matrix groups)
{
    for (int64_t i = 0; i < (int64_t)groups.rows * groups.cols; i++)
        if (groups.at[i] > 0)
            return true;
    return false;
}

static Mode mode_of(const Module *m, const Node *node)
{
    if (node->op == OP_PERMUTE)
        return ((const PermuteAttrs *)node->attrs)->channel_id > 0 ? BY_PARTITION : BY_REPLICA;
    const AllReduceAttrs *a = node->attrs; /* all collectives begin with the same fields */
    if (node->op == OP_ALL_TO_ALL || node->op == OP_RAGGED || node->op == OP_COLLECTIVE_BROADCAST)
        return a->channel_id > 0 ? BY_PARTITION : BY_REPLICA;
    if (a->use_global_device_ids)
        return BY_DEVICE;
    if (a->channel_id <= 0)
        return BY_REPLICA;
    bool is_clear = m->nreplicas > 1 || !names_partitions(a->replica_groups);
    return is_clear ? BY_REPLICA_ALL_PARTITIONS : BY_PARTITION;
}

/* How many numbers there are, and how many sets of groups the program's groups stand for. */
static int id_count(const Numbering *n)
{
    switch (n->mode) {
    case BY_PARTITION: return n->npartitions;
    case BY_DEVICE: return n->nreplicas * n->npartitions;
    default: return n->nreplicas;
    }
}

static int copy_count(const Numbering *n)
{
    return n->mode == BY_REPLICA ? n->npartitions : n->mode == BY_PARTITION ? n->nreplicas : 1;
}

/* How many devices one number means; they stand apart in the group: all numbers' first ones, then
 * all numbers' second ones. */
static int devices_per_id(const Numbering *n)
{
    return n->mode == BY_REPLICA_ALL_PARTITIONS ? n->npartitions : 1;
}

/* The device that a number means in set `copy`, or as its `copy`-th. */
static int32_t id_device(const Numbering *n, int id, int copy)
{
    switch (n->mode) {
    case BY_PARTITION: return (int32_t)(copy * n->npartitions + id);
    case BY_DEVICE: return (int32_t)id;
    default: return (int32_t)(id * n->npartitions + copy);
    }
}

static int group_number(Groups *g, const int32_t *members, int n)
{
    for (int i = 0; i < g->n; i++)
        if (g->at[i].n == n && !memcmp(g->at[i].members, members, sizeof *members * (size_t)n))
            return i;
    ROOM(g->arena, g->at, g->n, &g->room);
    g->at[g->n] = (Group){ n, arena_copy(g->arena, members, sizeof *members * (size_t)n) };
    return g->n++;
}

/* A number that no device has, in the attribute `where`. */
static Error *no_such_id(const Numbering *num, const char *where, int64_t id)
{
    int n = id_count(num);
    const char *what = num->mode == BY_PARTITION ? "partition"
                       : num->mode == BY_DEVICE  ? "device"
                                                 : "replica";
    Text text = { 0 };
    text_printf(&text, "%s (%s): %s names %lld; there ", op_name(num->node->op),
                loc_name(num->node->loc), where, (long long)id);
    if (n == 1)
        text_printf(&text, "is 1 %s, number 0", what);
    else
        text_printf(&text, "are %d %ss, 0 to %d", n, what, n - 1);
    if (num->mode == BY_REPLICA && num->node->op != OP_SEND && num->node->op != OP_RECV)
        text_printf(&text, "; a collective without a channel counts replicas");
    Error *error = error_new(CODE_INVALID, "%s", text_cstr(&text));
    text_free(&text);
    return error;
}

/* Enters a group; its members may not be in another group of this collective. */
static Error *group_enter(Groups *g, const Numbering *num, const int32_t *members, int n,
                          int32_t *out)
{
    int number = n ? group_number(g, members, n) : 0;
    for (int i = 0; i < n; i++) {
        if (out[members[i]] >= 0)
            return error_new(CODE_INVALID, "%s (%s): replica_groups names device %d twice",
                             op_name(num->node->op), loc_name(num->node->loc), members[i]);
        out[members[i]] = number;
    }
    return NULL;
}

static Error *row_enter(Groups *g, const Numbering *num, const int64_t *row, int cols, int copy,
                        int32_t *members, int32_t *out)
{
    int n = 0, each = devices_per_id(num), room = num->nreplicas * num->npartitions / each;
    for (int i = 0; i < cols; i++) {
        if (row[i] < 0)
            continue; /* padding */
        if (row[i] >= id_count(num))
            return no_such_id(num, "replica_groups", row[i]);
        if (n == room)
            return error_new(CODE_INVALID,
                             "%s (%s): a group in replica_groups lists more than the "
                             "%d devices there are",
                             op_name(num->node->op), loc_name(num->node->loc), room * each);
        members[n++] = (int32_t)row[i];
    }
    for (int c = each - 1; c >= 0; c--) /* numbers become devices, the numbers themselves last */
        for (int i = 0; i < n; i++)
            members[c * n + i] = id_device(num, members[i], each > 1 ? c : copy);
    return group_enter(g, num, members, n * each, out);
}

static Error *one_group(Groups *g, const Numbering *num, int32_t *members, int32_t *out)
{
    for (int copy = 0; copy < copy_count(num); copy++) {
        int n = 0, ids = id_count(num), each = devices_per_id(num);
        for (int k = 0; k < ids * each; k++)
            members[n++] = id_device(num, k % ids, each > 1 ? k / ids : copy);
        TRY(group_enter(g, num, members, n, out));
    }
    return NULL;
}

/* A device in no group would have no result. */
static Error *check_all_devices(const Numbering *num, int ndevices, const int32_t *group_of)
{
    for (int d = 0; d < ndevices; d++)
        if (group_of[d] < 0)
            return error_new(CODE_INVALID, "%s (%s): replica_groups leaves out device %d",
                             op_name(num->node->op), loc_name(num->node->loc), d);
    return NULL;
}

static Error *check_pairs(const Numbering *num)
{
    Matrix pairs = ((const PermuteAttrs *)num->node->attrs)->source_target_pairs;
    for (int64_t i = 0; i < (int64_t)pairs.rows * pairs.cols; i++)
        if (pairs.at[i] < 0 || pairs.at[i] >= id_count(num))
            return no_such_id(num, "source_target_pairs", pairs.at[i]);
    return NULL;
}

static Error *check_message(const Node *node)
{
    const SendAttrs *a = node->attrs;
    const char *why = a->is_host_transfer            ? "to or from the host"
                      : !a->source_target_pairs.rows ? "without source_target_pairs"
                                                     : NULL;
    if (!why)
        return NULL;
    return error_new(CODE_UNIMPLEMENTED, "not supported: %s %s, at %s", op_name(node->op), why,
                     loc_name(node->loc));
}

Error *groups_of(Groups *g, const Module *m, NodeId n, int32_t *out)
{
    const Node *node = node_at(m, n);
    int ndevices = m->nreplicas * m->npartitions;
    Numbering num = { BY_DEVICE, m->nreplicas, m->npartitions, node };
    Matrix groups = { 0 };
    for (int d = 0; d < ndevices; d++)
        out[d] = -1;
    if (node->op == OP_SEND || node->op == OP_RECV) {
        num.mode = m->npartitions > 1 ? BY_PARTITION : BY_REPLICA;
        TRY(check_message(node));
        return check_pairs(&num);
    }
    num.mode = node->op == OP_GLOBAL ? BY_PARTITION : mode_of(m, node);
    if (node->op == OP_PERMUTE)
        TRY(check_pairs(&num));
    if (node->op != OP_GLOBAL && node->op != OP_PERMUTE)
        groups = ((const AllReduceAttrs *)node->attrs)->replica_groups;
    int32_t *members = ARENA_ARRAY(g->arena, int32_t, ndevices);
    if (!groups.rows || !groups.cols)
        return one_group(g, &num, members, out);
    for (int copy = 0; copy < copy_count(&num); copy++)
        for (int row = 0; row < groups.rows; row++)
            TRY(row_enter(g, &num, groups.at + (int64_t)row * groups.cols, groups.cols, copy,
                          members, out));
    return node->op == OP_COLLECTIVE_BROADCAST ? NULL : check_all_devices(&num, ndevices, out);
}

/* Does every device of a group take the same box, and is there nothing else in it? */
static bool retile_gives_same(const Node *node)
{
    const RetileAttrs *a = node->attrs;
    int ndevices = a->starts.rows, rank = a->starts.cols;
    Matrix groups = a->replica_groups;
    for (int i = 0; i < groups.rows * groups.cols; i++) {
        int64_t first = groups.at[i / groups.cols * groups.cols] % ndevices;
        if (memcmp(a->starts.at + first * rank, a->starts.at + groups.at[i] % ndevices * rank,
                   sizeof *a->starts.at * (size_t)rank))
            return false;
    }
    return node->nin == 1;
}

bool collective_gives_same(const Node *node, int result)
{
    switch (node->op) {
    case OP_ALL_REDUCE:
    case OP_ALL_GATHER: return true;
    case OP_COLLECTIVE_BROADCAST: return !op_has_dynamic_root(node->op, node->attrs);
    case OP_GLOBAL:
        return tiling_is_replicated(((const GlobalAttrs *)node->attrs)->out_tilings.at[result]);
    case OP_RETILE: return retile_gives_same(node);
    default: return false;
    }
}
