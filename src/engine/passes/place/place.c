/* place.c - from a program for many partitions to the program of one device.
 *
 * In goes main as the program has it: over whole arrays, except inside manual computations
 * (shard_map, pmap), whose bodies are what each device does.  Out comes what each device does
 * from beginning to end, on its shards of the arguments and for its shards of the results:
 *
 *   main(x : f32[4,2] cut in 4)            main(x : f32[1,2])
 *     y = manual_computation(x) { f }        y = f(x)             the body, in its place
 *     z = add y, y                           z = add y, y         on shards: propagate.c
 *     s = reduce z over 0                    s = tutti.global(z)  all meet: join_globals.c
 *     return z, s                            return z, s
 *
 * Values lie on the devices as the program says (arguments, results, constraints, manual
 * computations), else as the operations that make them suggest.  An operation is done on
 * shards where its operands allow that, if need be after some were moved (move_shards.c), by every
 * device for itself where all have everything, and otherwise is pending until the next
 * tutti.global is made.  A while or case is placed region by region in the same way when there is a
 * manual computation in it or when nothing in it needs whole arrays, else as one operation.
 *
 * In a partly manual computation the axes that are not manual are taken as copies: devices
 * along them do the same work. */
#include "engine/passes/place/place.h"

#include "base/guard.h"

#include <string.h>

/* ---- nodes ---- */

/* Shards of all of n's operands, lying as wanted; one collective at most. */
static ValueId *fetch(Placer *z, int n, const ValueId *values, const Tiling *want, NodeId last)
{
    ValueId *shards = ARENA_ARRAY(z->m->arena, ValueId, n + 1);
    bool is_missing = false;
    for (int i = 0; i < n; i++) {
        shards[i] = can_move(z, values[i]) ? shard_move(z, values[i], want[i])
                                           : shard_of(z, values[i], want[i]);
        if (!shards[i]) {
            pending_ask(z, values[i], tiling_summed(want[i]));
            is_missing = true;
        }
    }
    if (is_missing || last)
        pending_flush(z, last);
    for (int i = 0; i < n; i++)
        if (!shards[i])
            shards[i] = shard_of(z, values[i], want[i]);
    return shards;
}

/* The shard of v lies as `has`, but v is to lie cut further. */
static void cut_further(Placer *z, ValueId v, Tiling has)
{
    Tiling want = z->tilings[v];
    if (tiling_equal(has, want))
        return;
    ValueId shard = subst_get(&z->shards, v);
    shard_hold(z, v, has, shard);
    Type local = local_type(z, type_of(z->m, v), want);
    ValueId tile = parts_scatter(z, v, has, want);
    subst_set(&z->shards, v, tile ? tile : shard_cut(z, shard, has, want, local));
}

/* The body of a manual computation is what each device does: it goes into its place. */
static MUST_USE Error *place_manual(Placer *z, NodeId n)
{
    Module *m = z->m;
    Placement p;
    TRY(infer(z, n, &p));
    const Node *node = node_at(m, n);
    RegionId body = node->regions[0];
    TRY(inspections_in_manual(z, body));
    for (int i = 0; i < node->nin; i++)
        TRY(manual_tiling(z, node, true, i, &p.wants[i]));
    if (pending_has_effect(z) && node_has_effect(m, n))
        pending_flush(z, 0);
    node = node_at(m, n); /* the table of nodes may have moved */
    ValueId *in = fetch(z, node->nin, node->in, p.wants, 0);
    for (int i = 0; i < node_at(m, n)->nin; i++)
        subst_set(&z->shards, region_at(m, body)->args + (uint32_t)i, in[i]);
    region_copy_into(m, body, z->to, &z->shards);
    for (int i = 0; i < node_at(m, n)->nout; i++) {
        Tiling t;
        TRY(manual_tiling(z, node_at(m, n), false, i, &t));
        ValueId shard = subst_get(&z->shards, region_return(m, body)->in[i]);
        parts_keep(z, node_at(m, n)->out + (uint32_t)i, t, shard, node_at(m, n)->loc);
        cut_further(z, node_at(m, n)->out + (uint32_t)i, tiling_summed(t));
    }
    return NULL;
}

/* Every device makes the call, with shards that lie as the operations before it say (hints), wherever
 * these were moved to be computed: a callback shows them. */
static MUST_USE Error *place_call(Placer *z, NodeId n)
{
    Placement p;
    TRY(infer(z, n, &p));
    const Node *node = node_at(z->m, n);
    for (int i = 0; i < node->nout; i++)
        if (type_of(z->m, node->out + (uint32_t)i).element != TOKEN)
            return error_new(CODE_INVALID,
                             "custom_call @%.*s, at %s: it gives %s; what every device calls for "
                             "itself gives nothing but tokens",
                             STR_ARG(((const CustomCallAttrs *)node->attrs)->call_target_name),
                             loc_name(node->loc),
                             type_name(type_of(z->m, node->out + (uint32_t)i)));
    for (int i = 0; i < node->nin; i++)
        p.wants[i] = tiling_even(z->scratch, type_of(z->m, node->in[i]), z->hints[node->in[i]]);
    if (pending_has_effect(z))
        pending_flush(z, 0);
    node = node_at(z->m, n); /* the table of nodes may have moved */
    fetch(z, node->nin, node->in, p.wants, 0);
    place_on_shards(z, n, &p);
    return NULL;
}

static MUST_USE Error *place_mark(Placer *z, NodeId n)
{
    Placement p;
    TRY(infer(z, n, &p));
    const Node *node = node_at(z->m, n);
    ValueId from = node->in[0], out = node->out;
    if (z->is_manual[from]) {
        z->is_manual[out] = true;
        subst_set(&z->shards, out, subst_get(&z->shards, from));
        return NULL;
    }
    Tiling t;
    TRY(mark_tiling(z, node, &t));
    bool is_had = t.nparts || can_move(z, from);
    ValueId shard = is_had ? *fetch(z, 1, &from, &t, 0) : shard_of(z, from, t);
    if (shard)
        parts_keep(z, out, t, shard, node_at(z->m, n)->loc);
    else
        pending_add(z, n);
    return NULL;
}

/* ---- the GSPMD form: shards are values between two custom calls ---- */

static MUST_USE Error *full_to_shard(Placer *z, NodeId n)
{
    const Node *node = node_at(z->m, n);
    ValueId from = node->in[0], out = node->out;
    const Loc *loc = node->loc; /* fetch may move the table of nodes */
    ValueId shard = *fetch(z, 1, &from, &z->tilings[from], 0);
    Type has = type_of(z->m, shard), declared = type_of(z->m, out);
    if (!type_equal(has, declared))
        return error_new(CODE_INVALID, "SPMDFullToShardShape gives %s where a piece is %s, at %s",
                         type_name(declared), type_name(has), loc_name(loc));
    z->is_manual[out] = true;
    subst_set(&z->shards, out, shard);
    return NULL;
}

static MUST_USE Error *shard_to_full(Placer *z, NodeId n)
{
    const Node *node = node_at(z->m, n);
    Type whole = type_of(z->m, node->out), has = type_of(z->m, node->in[0]);
    const Attr *text = attr_get(node->extra, "mhlo.sharding");
    if (!text || text->kind != ATTR_STRING || !z->is_manual[node->in[0]])
        return error_new(CODE_INVALID,
                         "SPMDShardToFullShape without mhlo.sharding, or of a value "
                         "that is no piece, at %s",
                         loc_name(node->loc));
    Tiling tiling;
    TRY(tiling_parse(z->m->arena, text->string, whole.rank, z->ndevices, &tiling));
    Type local;
    TRY(tiling_local(z->m->arena, tiling, whole, &local));
    set_tiling(z, node->out, tiling);
    if (!type_equal(has, local))
        return error_new(CODE_INVALID, "SPMDShardToFullShape takes %s where a piece is %s, at %s",
                         type_name(has), type_name(local), loc_name(node->loc));
    subst_set(&z->shards, node->out, subst_get(&z->shards, node->in[0]));
    return NULL;
}

/* An operation on shards, as it stands.  What it takes besides is the same everywhere. */
static MUST_USE Error *copy_manual(Placer *z, NodeId n)
{
    Module *m = z->m;
    if (any_taken(z, n, value_waits))
        pending_flush(z, 0);
    if (any_taken(z, n, value_is_cut))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: %s of a piece and of a whole array, at %s",
                         op_name(node_at(m, n)->op), loc_name(node_at(m, n)->loc));
    region_append(m, z->to, node_copy(m, n, &z->shards));
    for (int i = 0; i < node_at(m, n)->nout; i++)
        z->is_manual[node_at(m, n)->out + (uint32_t)i] = true;
    return NULL;
}

/* ---- regions ---- */

static MUST_USE Error *place_node(Placer *z, NodeId n);

/* Everything in `from`, into `into`; its results lie as wanted, or where `open` (NULL: nowhere)
 * says so as they come, which want then tells. */
static MUST_USE Error *place_region(Placer *z, RegionId from, RegionId into, Tiling *want,
                                    const bool *open)
{
    Module *m = z->m;
    RegionId outer = z->to;
    int mark = z->nheld;
    z->to = into;
    int nnodes = region_at(m, from)->nnodes;
    for (int i = 0; i + 1 < nnodes; i++)
        TRY(place_node(z, region_at(m, from)->nodes[i]));
    NodeId last = region_at(m, from)->nodes[nnodes - 1];
    Node end = *node_at(m, last);
    for (int i = 0; i < end.nin; i++) {
        if (z->is_manual[end.in[i]])
            return error_new(CODE_INVALID,
                             "a piece of an array is returned as if it were whole, "
                             "at %s",
                             loc_name(end.loc));
        if (open && open[i])
            want[i] = tiling_even(z->scratch, type_of(m, end.in[i]), z->hints[end.in[i]]);
    }
    ValueId *in = fetch(z, end.nin, end.in, want, last);
    build_return(m, into, end.nin, in, end.loc);
    z->to = outer;
    z->nheld = mark;
    return NULL;
}

/* A new region for shards of the arguments of `from`. */
static RegionId region_of_shards(Placer *z, RegionId from, const Tiling *tilings)
{
    Module *m = z->m;
    Region old = *region_at(m, from);
    Type *types = ARENA_ARRAY(m->arena, Type, old.nargs + 1);
    for (int i = 0; i < old.nargs; i++)
        types[i] = local_type(z, type_of(m, old.args + (uint32_t)i), tilings[i]);
    RegionId into = region_new(m, 0, old.nargs, types);
    RegionId outer = z->to;
    z->to = into;
    for (int i = 0; i < old.nargs; i++) {
        set_tiling(z, old.args + (uint32_t)i, tilings[i]);
        parts_keep(z, old.args + (uint32_t)i, tilings[i], region_at(m, into)->args + (uint32_t)i,
                   NULL);
    }
    z->to = outer;
    return into;
}

/* What the body of a loop says is in parts when it ends, is so all along. */
static void carry_parts(const Placer *z, const Node *loop, Tiling *carried)
{
    const Node *last = region_return(z->m, loop->regions[1]);
    for (int i = 0; i < loop->nout; i++) {
        Tiling t;
        if (parts_declared(z, last->in[i], &t) && tiling_equal(tiling_summed(t), carried[i]))
            carried[i] = t;
    }
}

/* A while or case, region by region.  What a loop carries lies all along as it
 * did at its beginning; the condition is known to all. */
static MUST_USE Error *place_flow(Placer *z, NodeId n)
{
    Module *m = z->m;
    pending_flush(z, 0);
    Placement p;
    TRY(infer(z, n, &p));
    Node node = *node_at(m, n);
    bool is_loop = node_flow(&node) == FLOW_LOOP;
    Tiling all = tiling_replicated(z->scratch, 0, z->ndevices);
    if (is_loop)
        carry_parts(z, &node, p.results);
    ValueId *in = fetch(z, node.nin, node.in, is_loop ? p.results : &all, 0);
    RegionId *regions = ARENA_ARRAY(m->arena, RegionId, node.nregions);
    for (int k = 0; k < node.nregions; k++) {
        regions[k] = region_of_shards(z, node.regions[k], p.results);
        bool is_condition = is_loop && k == 0;
        TRY(place_region(z, node.regions[k], regions[k], is_condition ? &all : p.results, NULL));
    }
    Type *types = ARENA_ARRAY(m->arena, Type, node.nout + 1);
    for (int i = 0; i < node.nout; i++)
        types[i] = local_type(z, type_of(m, node.out + (uint32_t)i), p.results[i]);
    NodeId new = node_new(m, node.op, node.nin, in, node.nout, types, node.nregions, regions,
                          node.attrs, node.loc);
    region_append(m, z->to, new);
    for (int i = 0; i < node.nout; i++)
        parts_keep(z, node.out + (uint32_t)i, p.results[i], node_at(m, new)->out + (uint32_t)i,
                   node.loc);
    return NULL;
}

static MUST_USE Error *refuse_per_device(const Placer *z, NodeId n)
{
    const Node *node = node_at(z->m, n);
    if (!is_per_device(node) && !any_inside(z->m, n, is_per_device))
        return NULL;
    return error_new(CODE_UNIMPLEMENTED,
                     "not supported: %s%s outside of a manual computation in a program for %d "
                     "partitions, at %s",
                     is_per_device(node) ? "" : "a collective or partition_id in ",
                     op_name(node->op), z->ndevices, loc_name(node->loc));
}

/* All have everything: each device does all of it. */
static void copy_whole(Placer *z, NodeId n)
{
    Module *m = z->m;
    region_append(m, z->to, node_copy(m, n, &z->shards));
    for (int i = 0; i < node_at(m, n)->nout; i++) {
        ValueId v = node_at(m, n)->out + (uint32_t)i;
        z->tilings[v] = tiling_replicated(z->scratch, type_of(m, v).rank, z->ndevices);
        z->is_of_positions[v] = follows_from_positions(z, n);
    }
}

/* Is it worth a collective that devices share the work of n? */
static bool is_big(const Module *m, NodeId n)
{
    enum { MANY = 1 << 14 };
    const Node *node = node_at(m, n);
    double count = 0;
    for (int i = 0; i < node->nin; i++)
        count += (double)type_count(type_of(m, node->in[i]));
    for (int i = 0; i < node->nout; i++)
        count += (double)type_count(type_of(m, node->out + (uint32_t)i));
    return count >= MANY;
}

/* How an operation of the whole-array part of the program is done. */
typedef enum Way { ALL_TOGETHER, EACH_ALL, BY_REGION, ON_SHARDS, ON_PARTS, MOVED } Way;

static MUST_USE Error *choose_way(Placer *z, NodeId n, Placement *p, Way *way)
{
    const Module *m = z->m;
    bool is_flow = op_info[node_at(m, n)->op].kind == KIND_FLOW;
    *way = ALL_TOGETHER;
    z->may_flush = true;
    TRY(infer(z, n, p));
    if (node_has_effect(m, n))
        *way = ALL_TOGETHER;
    else if (!any_taken(z, n, value_is_cut) && !(is_flow && any_inside(m, n, is_mark)))
        *way = any_taken(z, n, value_waits) ? ALL_TOGETHER : EACH_ALL;
    else if (is_flow)
        *way = flow_is_cut(z, n, p) ? BY_REGION : ALL_TOGETHER;
    else if (p->is_piecewise)
        *way = ON_SHARDS;
    else if (p->is_partial && is_combinable(z, n, p))
        *way = ON_PARTS;
    else if (infer_moved(z, n, p))
        *way = MOVED;
    if (*way != ALL_TOGETHER && any_taken(z, n, value_waits) && !is_big(m, n))
        *way = ALL_TOGETHER;
    z->may_flush = false;
    return NULL;
}

/* On shards that lie as p wants them, wherever they come from.  The results lie as they come; what is
 * more than they shall be is dropped. */
static void place_moved(Placer *z, NodeId n, const Placement *p)
{
    for (int i = 0; !p->place && i < node_at(z->m, n)->nin; i++)
        shard_move(z, node_at(z->m, n)->in[i], p->wants[i]);
    if (p->is_partial)
        place_partial(z, n, p);
    else
        place_on_shards(z, n, p);
    for (int i = 0; i < node_at(z->m, n)->nout; i++) {
        ValueId v = node_at(z->m, n)->out + (uint32_t)i;
        if (tiling_refines(z->tilings[v], p->results[i]))
            cut_further(z, v, p->results[i]);
        else
            z->tilings[v] = p->results[i];
    }
}

static MUST_USE Error *place_whole_node(Placer *z, NodeId n)
{
    Placement p;
    Way way;
    TRY(refuse_per_device(z, n));
    TRY(choose_way(z, n, &p, &way));
    if (way != ALL_TOGETHER && any_taken(z, n, value_waits))
        pending_flush(z, 0);
    switch (way) {
    case ALL_TOGETHER: pending_add(z, n); break;
    case EACH_ALL: copy_whole(z, n); break;
    case BY_REGION: return place_flow(z, n);
    case ON_SHARDS: place_on_shards(z, n, &p); break;
    case ON_PARTS: place_partial(z, n, &p); break;
    case MOVED: place_moved(z, n, &p); break;
    }
    return NULL;
}

static MUST_USE Error *place_node(Placer *z, NodeId n)
{
    const Node *node = node_at(z->m, n);
    if (node->op == OP_MANUAL)
        return place_manual(z, n);
    if (is_inspection(node))
        return inspection_answer(z, n);
    if (is_mark(node))
        return place_mark(z, n);
    if (node_call(node) == CALL_FULL_TO_SHARD)
        return full_to_shard(z, n);
    if (node_call(node) == CALL_SHARD_TO_FULL)
        return shard_to_full(z, n);
    if (any_inside(z->m, n, is_placed_apart))
        return place_flow(z, n);
    if ((z->is_gspmd && is_per_device(node)) || any_taken(z, n, value_is_manual))
        return copy_manual(z, n);
    return is_call_by_each(node) ? place_call(z, n) : place_whole_node(z, n);
}

/* ---- main ---- */

/* The body of main, and what it says about its results once they are known. */
static MUST_USE Error *place_main(Placer *z, Func *main)
{
    Module *m = z->m;
    TRY(place_args(z, main));
    int nargs = region_at(m, main->body)->nargs;
    Tiling *tilings = ARENA_ARRAY(m->arena, Tiling, nargs + 1);
    Tiling *want = ARENA_ARRAY(m->arena, Tiling, main->nresults + 1);
    bool *open = ARENA_ARRAY(m->arena, bool, main->nresults + 1);
    for (int i = 0; i < nargs; i++)
        tilings[i] = z->args[i].tiling;
    TRY(place_results(z, main, want, open));
    RegionId into = region_of_shards(z, main->body, tilings);
    TRY(place_region(z, main->body, into, want, open));
    const Node *last = region_return(m, main->body);
    Type *types = ARENA_ARRAY(m->arena, Type, main->nresults + 1);
    for (int i = 0; i < main->nresults; i++) {
        TRY(make_param(z, "result", i, type_of(m, last->in[i]), want[i], &z->results[i]));
        types[i] = z->results[i].local;
    }
    main->body = into;
    main->results = types;
    return open_nested(z, into);
}

/* Marks in loops and branches that every device runs whole, or all together. */
static MUST_USE Error *drop_mark(Module *m, RegionId r, NodeId n, void *user)
{
    if (is_mark(node_at(m, n)))
        node_replace(m, n, node_at(m, n)->in, user);
    else
        region_append(m, r, n);
    return NULL;
}

static MUST_USE Error *drop_marks(Module *m, RegionId r)
{
    Subst map = subst_new(m);
    Error *error = region_rewrite(m, r, &map, drop_mark, &map);
    subst_free(&map);
    return error;
}

static MUST_USE Error *place_partitions(Module *m, const CompileOptions *o, Param *args,
                                        Param *results)
{
    Func *main = func_find(m, STR("main"));
    uint32_t n = m->nvalues;
    Arena *scratch = arena_new();
    Placer z = { .m = m,
                 .o = o,
                 .main = main->body,
                 .args = args,
                 .results = results,
                 .ndevices = m->npartitions,
                 .nwhole = n,
                 .scratch = scratch };
    z.tilings = ARENA_ARRAY(scratch, Tiling, n);
    z.hints = ARENA_ARRAY(scratch, Tiling, n);
    z.is_waiting = ARENA_ARRAY(scratch, bool, n);
    z.is_lost = ARENA_ARRAY(scratch, bool, n);
    z.is_of_positions = ARENA_ARRAY(scratch, bool, n);
    z.is_manual = ARENA_ARRAY(scratch, bool, n);
    z.uses = count_uses(m, z.main);
    z.shards = subst_new(m);
    z.inner = subst_new(m);
    for (int i = 0; i < region_at(m, z.main)->nnodes; i++)
        z.is_gspmd |= node_call(node_at(m, region_at(m, z.main)->nodes[i])) == CALL_FULL_TO_SHARD;
    Error *error = place_main(&z, main);
    subst_free(&z.shards);
    subst_free(&z.inner);
    heap_free(z.uses);
    heap_free(z.pending);
    heap_free(z.held);
    arena_free(scratch);
    if (!error)
        error = drop_marks(m, main->body);
    if (!error)
        remove_dead(m, main->body);
    return error;
}

/* A program that says nowhere how an array lies, and in which devices meet or have a number, is
 * what each device does: StableHLO's own meaning of a program for several partitions. */
static bool is_placed_already(const Module *m, const Func *main)
{
    bool is_per_device_somewhere = false, says_something = m->nmeshes > 0;
    const Region *body = region_at(m, main->body);
    for (int i = 0; i < body->nargs && main->arg_attrs; i++)
        says_something |= main->arg_attrs[i] && attr_get(main->arg_attrs[i], "mhlo.sharding");
    for (int i = 0; i < main->nresults && main->result_attrs; i++)
        says_something |= main->result_attrs[i] && attr_get(main->result_attrs[i], "mhlo.sharding");
    for (int i = 0; i < body->nnodes; i++) {
        const Node *node = node_at(m, body->nodes[i]);
        says_something |= attr_get(node->extra, "mhlo.sharding") != NULL;
        is_per_device_somewhere |=
            is_per_device(node) || any_inside(m, body->nodes[i], is_per_device);
    }
    return is_per_device_somewhere && !says_something;
}

/* Whether all devices have the same in an argument's memory, for what is done once with an argument
 * as it is (exec/shared_packing.c): not in donated memory, in which a loop may work, nor without a
 * mesh, where a program may say what each device does, on arguments of its own. */
static void mark_replicated(const Module *m, int nargs, Param *args)
{
    for (int i = 0; m->nmeshes && m->npartitions > 1 && m->nreplicas == 1 && i < nargs; i++)
        args[i].is_replicated = tiling_is_replicated(args[i].tiling) && !args[i].may_donate;
}

Error *pass_place(Module *m, const CompileOptions *o, Params *out)
{
    Func *main = func_find(m, STR("main"));
    Params whole = params_whole(m, main->body);
    int nargs = whole.nargs, nresults = whole.nresults;
    Param *args = ARENA_ARRAY(m->arena, Param, nargs + 1);
    Param *results = ARENA_ARRAY(m->arena, Param, nresults + 1);
    memcpy(args, whole.args, sizeof *args * (size_t)nargs);
    memcpy(results, whole.results, sizeof *results * (size_t)nresults);
    if (m->npartitions > 1 && !is_placed_already(m, main))
        TRY(place_partitions(m, o, args, results));
    TRY(read_memory_kinds(main, nargs, args, nresults, results));
    TRY(order_params(m, main, nargs, args, nresults, results));
    match_donations(main, nargs, args, nresults, results);
    mark_replicated(m, nargs, args);
    *out = (Params){ nargs, nresults, args, results };
    return NULL;
}
