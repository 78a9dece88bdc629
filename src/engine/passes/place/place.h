/* place.h - what the parts of the place pass share. */
#ifndef TUTTI_ENGINE_PASSES_PLACE_PLACE_H
#define TUTTI_ENGINE_PASSES_PLACE_PLACE_H
#include "engine/passes/passes.h"
#include "engine/passes/place/propagate.h"
#include "hlo/rewrite.h"

/* A value of the program that a device also has in another form than its own tiling. */
typedef struct Held {
    ValueId whole; /* in the program as it was read */
    Tiling tiling;
    ValueId shard; /* in the program of one device; 0: asked for, not there yet */
} Held;

/* Two programs: the one as read, over whole arrays, and the one being made, over shards.
 * Values of the first are called whole values; numbers of both live in one module. */
typedef struct Placer {
    Module *m;
    const CompileOptions *o;
    RegionId main;         /* as it was read */
    Param *args, *results; /* being filled in */
    int ndevices;          /* partitions */
    Arena *scratch;        /* for tilings on the way; those that stay are copied into the module */
    RegionId to;           /* being made; shards are appended to it */
    uint32_t nwhole;       /* whole values are those below */
    /* By whole value. */
    Tiling *tilings;   /* how it lies; never in parts (of a value that is so: its sum) */
    Tiling *hints;     /* how it would lie if extents did not matter */
    Tiling *preferred; /* how its first user that cares would have it; rank -1: none does */
    bool *is_waiting;  /* its operation is pending */
    bool *is_lost;     /* a tutti.global made it and did not give it out: no device has a shard */
    bool *is_of_positions; /* follows_from_positions: devices make their shards of it anew */
    bool *is_manual;       /* GSPMD form: a shard already; it has no tiling */
    uint32_t *uses;        /* how often the program names it */
    Subst shards;          /* whole value -> a device's shard of it, where there is one */
    /* Pending: operations over whole arrays that will be one tutti.global. */
    NodeId *pending;
    int npending, pending_room;
    Subst inner;        /* whole value -> the whole value inside the tutti.global being made */
    struct Mark *marks; /* join_globals.c's, by whole value */
    uint32_t njoints;
    Held *held; /* a stack: entries of an inner region are popped with it */
    int nheld, held_room;
    bool may_flush; /* shard_is_near may count on what is pending: a flush would come first */
    bool is_gspmd;  /* shards and wholes are told apart by custom calls */
    int nasked;     /* entries of held that wait for their shard */
} Placer;

/* infer.c: how values lie. */
typedef bool ValueTest(const Placer *z, ValueId v);
ValueTest value_waits, value_is_manual, value_is_cut;
/* Of the values that n takes, as operands or into its regions: is one so? */
bool any_taken(const Placer *z, NodeId n, ValueTest *test);
bool any_inside(const Module *m, NodeId n, bool test(const Node *node)); /* in its regions */
bool is_placed_apart(const Node *node); /* what devices do for themselves */
bool is_per_device(const Node *node);   /* means something only to one device */
void set_tiling(Placer *z, ValueId v, Tiling t);
/* Sets the tilings of n's results, and says in *p where n may run. */
MUST_USE Error *infer(Placer *z, NodeId n, Placement *p);
/* How n, whose operands lie as they do, can be done on shards if some are moved first; false: not. */
bool infer_moved(Placer *z, NodeId n, Placement *p);
/* Can the while or case n be placed region by region without a tutti.global in it? */
bool flow_is_cut(Placer *z, NodeId n, const Placement *p);

/* local_shards.c: what a device has. */
Type local_type(const Placer *z, Type whole, Tiling tiling); /* the tiling divides it */
/* A device's shard of v lying as `want`, without a collective; 0: that needs one. */
ValueId shard_of(Placer *z, ValueId v, Tiling want);
bool shard_is_near(const Placer *z, ValueId v, Tiling want); /* shard_of would not be 0 */
bool follows_from_positions(const Placer *z, NodeId n);
void shard_hold(Placer *z, ValueId v, Tiling tiling, ValueId shard);
/* Where in the device's coarse tile its fine one, so long along dimension d, begins: an i64. */
ValueId tile_start(Placer *z, Tiling coarse, Tiling fine, int d, int64_t extent);
/* A slice of `from`, which lies as `has`; what is wanted refines that, and is of type local. */
ValueId shard_cut(Placer *z, ValueId from, Tiling has, Tiling want, Type local);
/* n done by every device on its shards; p.is_piecewise. */
void place_on_shards(Placer *z, NodeId n, const Placement *p);

/* move_shards.c: what a device needs of others. */
/* A box of an array that lies as `has`, of which `shard` is the device's own shard; the box of
 * partition d begins at starts[d * rank].  Beyond the array there is what `base` has, or if that is 0,
 * zeros. */
ValueId fetch_box(Placer *z, ValueId shard, Tiling has, Type box, const int64_t *starts,
                  ValueId base, const Loc *loc);
/* The shards of each group, in its order, one after the other along dim. */
ValueId build_all_gather(Placer *z, ValueId shard, int dim, Matrix groups, Type all,
                         const Loc *loc);
/* own: a piece of an array that lies as t; all pieces along dim, one after the other. */
ValueId gather_along(Placer *z, ValueId own, Tiling t, int dim, const Loc *loc);
/* own: a piece of an array that lies as t, whose dimension dim is seen as a matrix, row by row, and is
 * cut along its rows.  What the device has of it if it is cut along columns instead, as such a
 * matrix; or, not to_columns, the way back. */
ValueId exchange_matrix(Placer *z, ValueId own, Tiling t, int dim, int64_t rows, int64_t cols,
                        bool to_columns, const Loc *loc);
/* Does some device have a shard of v? */
bool can_move(const Placer *z, ValueId v);
/* shard_of, with a collective if need be; can_move(v). */
ValueId shard_move(Placer *z, ValueId v, Tiling want);

/* Operations that pieces alone do not suffice for; each sets p.place.
 * windows.c: on boxes that reach beyond shards. */
bool infer_windows(Placer *z, NodeId n, Placement *p);
/* dynamic_slices.c: slices and updates that begin where a value says. */
bool infer_dynamic(Placer *z, NodeId n, Placement *p);
/* sort_pieces.c: along a dimension that is cut. */
bool infer_sort(Placer *z, NodeId n, Placement *p);
bool infer_top_k(Placer *z, NodeId n, Placement *p);
/* fft_pieces.c: likewise. */
bool infer_fft(Placer *z, NodeId n, Placement *p);
/* running_sums.c: likewise. */
bool infer_running(Placer *z, NodeId n, Placement *p);

/* by_index.c: gather and scatter on a piece of an operand that lies so. */
bool is_gather_by_part(const Node *node, Tiling operand); /* is it cut where indices choose? */
ValueId gather_part(Placer *z, const Node *node, Type result, ValueId *in, Tiling operand,
                    const void *local_attrs);
ValueId scatter_indices(Placer *z, const Node *node, ValueId indices, Type piece, Tiling operand);

/* partial_sums.c: n done by every device on its part, the results then combined by an all_reduce;
 * p.is_partial and is_combinable. */
bool is_combinable(const Placer *z, NodeId n, const Placement *p);
void place_partial(Placer *z, NodeId n, const Placement *p);
Matrix groups_in_replicas(const Placer *z, Matrix groups);
bool is_same_tile(Tiling t, int a, int b); /* on two devices */
/* Devices with one tile, one for each part, are a group; where a part has several holders, the
 * k-th of each are together.  False if that does not come out even. */
bool form_groups(const Placer *z, Tiling t, Matrix *out);
/* All parts of what each device has one of, together. */
ValueId parts_combine(Placer *z, ValueId part, Tiling t, OpId how, const Loc *loc);

/* in_parts.c: values that lie in parts. */
/* v, whose tiling is that of its sum, comes in parts as t has them (if t has parts at all). */
void parts_keep(Placer *z, ValueId v, Tiling t, ValueId part, const Loc *loc);
ValueId parts_sum(Placer *z, ValueId part, Tiling t, const Loc *loc);
/* All of the shard on the devices with the first part, zeros on the others. */
ValueId parts_split(Placer *z, ValueId shard, Tiling want);
/* A device's part of v, without a collective; 0: that needs one.  want has parts. */
ValueId parts_of(Placer *z, ValueId v, Tiling want);
/* Of v, whose sum lies as `has`, the shard that lies as `want`, cut further along one dimension:
 * straight from the parts, if there is one in a group for each shard; else 0. */
ValueId parts_scatter(Placer *z, ValueId v, Tiling has, Tiling want);
/* Is v what a constraint says lies in parts? */
bool parts_declared(const Placer *z, ValueId v, Tiling *t);

/* build.c: small operations. */
ValueId build_splat(Placer *z, Type t, const void *element);
ValueId build_zeros(Placer *z, Type t);
ValueId build_number(Placer *z, int64_t n); /* an i64 */
ValueId build_two(Placer *z, OpId op, ValueId a, ValueId b);
ValueId build_compare(Placer *z, ValueId a, ValueId b, int direction);
ValueId build_select(Placer *z, ValueId test, ValueId yes, ValueId no); /* test may be a scalar */
ValueId build_neutral(Placer *z, Type t); /* what added to a number leaves it as it is */
ValueId build_reshape(Placer *z, ValueId v, Type t);
ValueId build_dynamic_slice(Placer *z, ValueId from, const ValueId *starts, Type t);
/* Of a number for each partition (they must live in the arena) the device's own, a scalar. */
ValueId build_own(Placer *z, Element e, const void *by_device);
/* Indices in numbers wide enough for every place of an array: as i64. */
ValueId build_wide(Placer *z, ValueId indices);

/* declared_shardings.c: what the program says. */
bool is_call_by_each(const Node *node); /* one that every device makes for itself */
/* Says how a value lies and computes nothing: a sharding constraint, in either notation. */
bool is_mark(const Node *node);
bool is_alike(const Node *node); /* a mark: as another value lies */
MUST_USE Error *mark_tiling(const Placer *z, const Node *node, Tiling *out);
MUST_USE Error *mark_hint(const Placer *z, const Node *node, Tiling *out); /* may be uneven */
bool is_partly_manual(const Node *node); /* some axes of its mesh are not manual */
/* How operand (or result) i of a manual computation lies; shards have the body's types. */
MUST_USE Error *manual_tiling(const Placer *z, const Node *node, bool is_operand, int i,
                              Tiling *out);
const Sharding *manual_part(Arena *arena, const Sharding *s, const Attr *manual_axes);
/* Of an argument or result with these attributes; *is_said is false when that is nothing. */
MUST_USE Error *declared_tiling(const Placer *z, const Attr *attrs, int rank, Tiling *out,
                                bool *is_said);

/* inspect.c: calls that ask how a value lies. */
bool is_inspection(const Node *node);
MUST_USE Error *inspection_answer(const Placer *z, NodeId n);
MUST_USE Error *inspections_in_manual(Placer *z, RegionId body); /* which has none of them then */

/* nested_manual.c: manual computations that are left in r or below, which stood inside others. */
MUST_USE Error *open_nested(Placer *z, RegionId r);

/* params.c: what main takes and gives. */
MUST_USE Error *make_param(const Placer *z, const char *what, int i, Type whole, Tiling t,
                           Param *out);
MUST_USE Error *place_args(Placer *z, const Func *main);
/* Results that the program leaves open lie as they come; open[i] says which. */
MUST_USE Error *place_results(Placer *z, const Func *main, Tiling *want, bool *open);
/* Arguments whose memory the caller gives away, and the results that may take it over. */
/* orders.c: main takes and gives arrays in the orders that its attributes ask for. */
MUST_USE Error *order_params(Module *m, Func *main, int nargs, Param *args, int nresults,
                             Param *results);
MUST_USE Error *read_memory_kinds(const Func *main, int nargs, Param *args, int nresults,
                                  Param *results);
void match_donations(const Func *main, int nargs, Param *args, int nresults, Param *results);

/* join_globals.c: operations that wait to become a tutti.global. */
void pending_add(Placer *z, NodeId n);
/* After the next pending_flush v can be had as `want`. */
void pending_ask(Placer *z, ValueId v, Tiling want);
/* Makes the tutti.global node of what was collected and asked for, if anything was.  last: the
 * RETURN whose operands have all been asked for, or 0. */
void pending_flush(Placer *z, NodeId last);
bool pending_has_effect(const Placer *z);
#endif
