/* schedule.c - the program of one device in, segments out: straight-line code, cut where the device
 * may have to wait for others.
 *
 *   a; b; all_reduce; c                 segment 0: a b   --collective--> segment 1: c
 *
 *   while (cond) { x; all_reduce; y }   0: moves of the initial values, goto 1
 *                                       1: cond, switch to 2 or 4
 *                                       2: x  --collective-->  3: y, moves, goto 1
 *                                       4: what comes after
 *
 * A loop or branch in which no device waits stays whole, as a node of its segment, and becomes
 * control flow of the native code.  Values that a loop carries are named by the arguments of its
 * condition; those of its body and its results have the same addresses (assign sees to that), so
 * only the initial and the returned values have to move. */
#include "engine/passes/passes.h"

#include "base/grow.h"

#include <string.h>

typedef struct Scheduler {
    const Module *m;
    int nsegments;
    Segment *segments;
    bool *waits; /* by NodeId: it is a collective, or there is one below it */
    int room;
    int current; /* the segment that is being filled */
    int nodes_room;
} Scheduler;

/* ---- which nodes wait ---- */

static bool region_waits(Scheduler *c, RegionId r)
{
    const Module *m = c->m;
    const Region *region = region_at(m, r);
    bool any = false;
    for (int i = 0; i < region->nnodes; i++) {
        NodeId n = region->nodes[i];
        const Node *node = node_at(m, n);
        bool waits = op_info[node->op].kind == KIND_COLLECTIVE;
        for (int k = 0; node_is_control(node) && k < node->nregions; k++)
            waits |= region_waits(c, node->regions[k]);
        c->waits[n] = waits;
        any |= waits;
    }
    return any;
}

/* ---- segments ---- */

static int segment_new(Scheduler *c)
{
    ROOM(c->m->arena, c->segments, c->nsegments, &c->room);
    return c->nsegments++;
}

static void segment_open(Scheduler *c, int number)
{
    c->current = number;
    c->nodes_room = 0;
}

static void node_add(Scheduler *c, NodeId n)
{
    Segment *s = &c->segments[c->current];
    ROOM(c->m->arena, s->nodes, s->nnodes, &c->nodes_room);
    s->nodes[s->nnodes++] = n;
}

/* dst, dst + 1, ... take the values listed. */
static void moves_add(Scheduler *c, ValueId dst, int n, const ValueId *src)
{
    Segment *s = &c->segments[c->current];
    s->moves = ARENA_ARRAY(c->m->arena, Move, n);
    s->nmoves = n;
    for (int i = 0; i < n; i++)
        s->moves[i] = (Move){ dst + (ValueId)i, src[i] };
}

static void end(Scheduler *c, SegmentEnd how, int ntargets, const int *targets)
{
    how.ntargets = ntargets;
    how.targets = arena_copy(c->m->arena, targets, sizeof *targets * (size_t)ntargets);
    c->segments[c->current].end = how;
}

static void end_goto(Scheduler *c, int target)
{
    end(c, (SegmentEnd){ .kind = END_GOTO }, 1, &target);
}

/* ---- cutting ---- */

static void schedule_region(Scheduler *c, RegionId r);

static void schedule_while(Scheduler *c, NodeId n)
{
    const Module *m = c->m;
    const Node *node = node_at(m, n);
    ValueId carried = region_at(m, node->regions[0])->args;
    const Node *cond = region_return(m, node->regions[0]);
    const Node *body = region_return(m, node->regions[1]);
    int test = segment_new(c), inside = segment_new(c), after = segment_new(c);
    moves_add(c, carried, node->nin, node->in);
    end_goto(c, test);

    segment_open(c, test);
    schedule_region(c, node->regions[0]);
    end(c, (SegmentEnd){ .kind = END_SWITCH, .on = cond->in[0] }, 2, (int[]){ inside, after });

    segment_open(c, inside);
    schedule_region(c, node->regions[1]);
    moves_add(c, carried, body->nin, body->in);
    end_goto(c, test);
    segment_open(c, after);
}

static void schedule_case(Scheduler *c, NodeId n)
{
    const Module *m = c->m;
    const Node *node = node_at(m, n);
    int *branches = ARENA_ARRAY(m->arena, int, node->nregions);
    for (int k = 0; k < node->nregions; k++)
        branches[k] = segment_new(c);
    int after = segment_new(c);
    end(c, (SegmentEnd){ .kind = END_SWITCH, .on = node->in[0] }, node->nregions, branches);
    for (int k = 0; k < node->nregions; k++) {
        const Node *ret = region_return(m, node->regions[k]);
        segment_open(c, branches[k]);
        schedule_region(c, node->regions[k]);
        moves_add(c, node->out, ret->nin, ret->in);
        end_goto(c, after);
    }
    segment_open(c, after);
}

static void schedule_collective(Scheduler *c, NodeId n)
{
    int after = segment_new(c);
    end(c, (SegmentEnd){ .kind = END_COLLECTIVE, .collective = n }, 1, &after);
    segment_open(c, after);
}

/* All of a region but its RETURN, from the current segment on; ends in the then current one. */
static void schedule_region(Scheduler *c, RegionId r)
{
    const Module *m = c->m;
    for (int i = 0; i < region_at(m, r)->nnodes - 1; i++) {
        NodeId n = region_at(m, r)->nodes[i];
        const Node *node = node_at(m, n);
        if (node->op == OP_CONSTANT)
            continue;
        if (!c->waits[n])
            node_add(c, n);
        else if (node_flow(node) == FLOW_LOOP)
            schedule_while(c, n);
        else if (node_flow(node) == FLOW_BRANCH)
            schedule_case(c, n);
        else
            schedule_collective(c, n);
    }
}

/* ---- code over whole arrays ---- */

static bool ends_in_global(const Module *m, const Segment *s)
{
    return s->end.kind == END_COLLECTIVE && node_flow(node_at(m, s->end.collective)) == FLOW_GLOBAL;
}

static MUST_USE Error *refuse_collectives(const Schedule *s)
{
    for (int i = 0; i < s->nsegments; i++)
        if (s->segments[i].end.kind == END_COLLECTIVE) {
            const Node *node = node_at(s->k->m, s->segments[i].end.collective);
            return error_new(CODE_UNIMPLEMENTED,
                             "not supported: operation %s in code over whole arrays (%s)",
                             op_name(node->op), loc_name(node->loc));
        }
    return NULL;
}

static MUST_USE Error *schedule_bodies(Schedule *s)
{
    const KernelModule *k = s->k;
    int n = 0;
    for (int i = 0; i < s->nsegments; i++)
        n += ends_in_global(k->m, &s->segments[i]);
    Body *bodies = ARENA_ARRAY(k->m->arena, Body, n);
    s->bodies = bodies;
    for (int i = 0; i < s->nsegments; i++) {
        if (!ends_in_global(k->m, &s->segments[i]))
            continue;
        Body *body = &bodies[s->nbodies++];
        body->node = s->segments[i].end.collective;
        body->kernels = *k;
        body->kernels.main = node_at(k->m, body->node)->regions[0];
        body->kernels.params = params_whole(k->m, body->kernels.main);
        TRY(pass_schedule(&body->kernels, &body->schedule));
        TRY(refuse_collectives(&body->schedule));
    }
    return NULL;
}

Error *pass_schedule(const KernelModule *k, Schedule *out)
{
    const Module *m = k->m;
    Scheduler c = { .m = m, .waits = HEAP_ARRAY(bool, m->nnodes, "a table of operations") };
    const Node *ret = region_return(m, k->main);
    region_waits(&c, k->main);
    segment_open(&c, segment_new(&c));
    schedule_region(&c, k->main);
    moves_add(&c, m->nvalues, ret->nin, ret->in);
    end(&c, (SegmentEnd){ .kind = END_PROGRAM }, 0, NULL);
    heap_free(c.waits);
    *out = (Schedule){ .k = k,
                       .nsegments = c.nsegments,
                       .segments = c.segments,
                       .outs = m->nvalues,
                       .nvalues = m->nvalues + (uint32_t)ret->nin };
    return schedule_bodies(out);
}
