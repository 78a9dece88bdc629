/* transform.h - transformations: a graph in, a graph out.
 *
 *     fn_graph(pmap(grad(loss)))             fn.c goes down the chain of functions, and up:
 *       loss         its C code is traced    (x) { y = sin x }
 *       grad         jvp_transform           (x, dx) { y = sin x; dy = mul dx, cos x }
 *                    and run backwards       (x) { g = mul 1, cos x }
 *       pmap         manual_apply            (X) { G = manual(X) { ... } }
 *
 * All graphs of a call lie in the one module of its session.  A transformation records into a new
 * region, node by node, by the rules of ops.def's columns (rules.h); it leaves the graph it was
 * given as it is unless its contract says that the graph is used up.  Everything is done by the
 * thread that traces. */
#ifndef TUTTI_FRONT_TRANSFORM_TRANSFORM_H
#define TUTTI_FRONT_TRANSFORM_TRANSFORM_H
#include "front/transform/fn.h"
#include "front/transform/rules.h"
#include "hlo/rewrite.h"
#include "ops/sharding.h"

/* ---- what fn_graph asks, one for each kind of function.  False: reported ---- */

bool loaded_graph(tt_fn f, const Leaves *leaves, Graph *out);      /* load.c */
bool flow_graph(tt_fn f, const Leaves *leaves, Graph *out);        /* flow.c */
bool flow_accepts(tt_fn f, int nargs, const int *counts);          /* flow.c: as fn_accepts */
bool composite_graph(tt_fn f, const Leaves *leaves, Graph *out);   /* composite.c */
bool sum_rows_graph(tt_fn f, const Leaves *leaves, Graph *out);    /* custom.c */
bool associative_graph(tt_fn f, const Leaves *leaves, Graph *out); /* associative.c */
bool grad_graph(tt_fn f, const Leaves *leaves, Graph *out);        /* grad.c */
bool vjp_graph(tt_fn f, const Leaves *leaves, Graph *out);         /* grad.c */
bool jacobian_graph(tt_fn f, const Leaves *leaves, Graph *out);    /* jacobian.c */
bool linearize_graph(tt_fn f, const Leaves *leaves, Graph *out);   /* linearize.c */
bool jvp_graph(tt_fn f, const Leaves *leaves, Graph *out);         /* jvp.c */
bool vmap_graph(tt_fn f, const Leaves *leaves, Graph *out);        /* batch.c */
bool pmap_graph(tt_fn f, const Leaves *leaves, Graph *out);        /* spmd.c */
bool shard_map_graph(tt_fn f, const Leaves *leaves, Graph *out);   /* spmd.c */

/* ---- free values: free_values.c ---- */

/* A graph may use values of the regions around it.  Where its region must stand alone (a private
 * function, the body of a manual computation) those become further arguments. */
typedef struct Values {
    int n;
    ValueId *at;
} Values;

/* What the regions use and do not define, each once, in order of first use.  In m's arena. */
Values free_values(Module *m, int nregions, const RegionId *regions);

typedef bool ValueTest(void *user, ValueId v);
/* Does that hold of a value that the node uses: an operand or, of control flow, one that its regions
 * use from around it? */
bool node_uses(Module *m, const Node *node, ValueTest *holds, void *user);

/* A new region with the nodes of r, whose arguments are r's and then those for `free`.  r itself
 * is used up. */
RegionId region_isolate(Module *m, RegionId r, Values free);

/* r as a graph of its own: a copy whose arguments are r's, then `free`. */
Graph graph_of_region(Module *m, RegionId r, Values free);

/* ---- tangents: jvp.c ---- */

/* The graph of g's results and their tangents: leaves are g's, then a tangent for each active
 * one; results are g's, then a tangent for each that `wanted` names.  Without `wanted`: for each
 * that is not zero; is_active[] tells which.  False: reported. */
bool jvp_transform(const Graph *g, const bool *active, const bool *wanted, bool *is_active,
                   Graph *out);

/* Values around the node that is being differentiated, as the frame knows them. */
tt forward_value(struct Forward *f, ValueId v);
tt forward_tangent(struct Forward *f, ValueId v); /* NO_VALUE: zero */
/* Differentiates the region's nodes in place: its arguments become these values. */
void forward_inline(struct Forward *f, RegionId r, const tt *x, const tt *dx, tt *y, tt *dy);

bool has_tangent(Type t); /* floats and complex numbers do */

/* ---- cotangents: transpose.c, partial_eval.c ---- */

/* g is linear in the leaves marked so.  The graph of its transpose: leaves are those not marked,
 * then a cotangent for each result; results are cotangents of the marked leaves. */
bool transpose_transform(const Graph *g, const bool *linear, Graph *out);

/* Splits g, whose last ntangents leaves are tangents and last results (from nprimal on) vary with
 * them: `known` gives the first nprimal results and what the rest needs of them, from the other
 * leaves; `rest` gives the tangents from needed[] and the tangent leaves.  Entry i of needed is a
 * leaf of g (is_leaf[i]: its number) or the next further result of known. */
typedef struct PartialEval {
    Graph known, rest;
    int nneeded;
    const int *leaf; /* [nneeded]: a leaf of g, or -1 */
} PartialEval;
bool partial_eval(const Graph *g, int ntangents, int nprimal, PartialEval *out);

/* A graph being run backwards: for grad.c and partial_eval.c. */
typedef struct Backward {
    Module *m;
    Subst value;  /* of the old graph, not linear: its number in the new region */
    Subst ct;     /* of linear values: the number of their cotangent */
    bool *linear; /* [value of the old graph] */
    uint32_t nlinear;
} Backward;

Backward backward_new(Module *m);
void backward_free(Backward *b);
void backward_mark(Backward *b, RegionId r);    /* what depends on values marked linear is, too */
void backward_forward(Backward *b, RegionId r); /* records what is not linear, as it was */
void backward_run(Backward *b, RegionId r);     /* records the cotangents of what is */
/* The cotangents of the leaves marked; how many. */
int backward_collect(Backward *b, const Graph *g, const bool *linear, tt *out);

/* For rules of operations with regions. */
bool backward_is_linear(const Backward *b, ValueId v);
tt backward_value(Backward *b, ValueId v); /* of what is not linear */
void backward_add(Backward *b, ValueId v, tt ct);
/* The cotangent of v so far, which it no longer has: for a rule that adds to it in place. */
tt backward_take(Backward *b, ValueId v);

/* ---- batches: batch.c ---- */

/* g on a batch of that size: leaves marked `mapped` have a batch axis 0.  Results that differ
 * between rows have one, as is_mapped[] tells, or all that `wanted` names.  Collectives along
 * axis_name (empty: none) become reductions over the batch.  False: reported. */
bool batch_transform(const Graph *g, int64_t size, Str axis_name, const bool *mapped,
                     const bool *wanted, bool *is_mapped, Graph *out);

/* Values around the node that is being batched, as the frame knows them. */
tt batcher_value(struct Batcher *b, ValueId v);
bool batcher_is_mapped(const struct Batcher *b, ValueId v);
/* A copy of a region as it is, for the same operation once more. */
Graph batcher_region(struct Batcher *b, RegionId r);
void batcher_inline(struct Batcher *b, RegionId r, const tt *x, const bool *mapped, tt *y,
                    bool *y_mapped);

/* ---- functions that derivatives do not simply follow: composite.c, custom.c, checkpoint.c ---- */

typedef enum CompositeKind {
    CUSTOM_JVP, /* a function whose tangents `rule` gives */
    CUSTOM_VJP, /* one whose cotangents `back` gives, from what `rule` keeps */
    CUSTOM_TANGENT, /* the tangents of such a one, of what is kept and of tangents: to be run backwards */
    CHECKPOINT, /* one that is computed again for its way back */
    NAMED,      /* a value with a name, for CHECKPOINT to keep */
    PLACED      /* a value that shall lie so: sdy.sharding_constraint */
} CompositeKind;

/* What a COMPOSITE node of the front carries.  Its region, which CUSTOM_TANGENT, NAMED and PLACED have
 * none of, is the function on its operands: the leaves, then what it uses from around it. */
typedef struct Composite {
    CompositeAttrs attrs; /* the node's own */
    CompositeKind kind;
    tt_fn f; /* as the user made it */
    tt_fn rule, back;
    const struct Names *names; /* that maps had bound where it was recorded */
    int nargs;
    const int *counts; /* leaves of each argument of f */
    int nleaves;
    const Type *leaves, *results; /* CUSTOM_TANGENT: of f; of one row where it is a batch */
    int nresults, nkept;
    bool
        is_again; /* CHECKPOINT: for the way back, so that nothing of it is what was there before */
    bool keeps_dots;
    const char *keeps;        /* CHECKPOINT: names; NAMED: its own */
    const Sharding *sharding; /* PLACED */
} Composite;

const Composite *composite_of(const Node *node);
/* f's body g, which is used up, as one node on these leaves. */
bool composite_apply(Composite *c, const Graph *g, const tt *leaves, tt *y);
/* The same body as another composite, on operands for all its leaves. */
bool composite_again(const Composite *c, const Graph *g, const tt *operands, tt *y);
/* f's graph, recorded where the names are bound that were when c was. */
bool composite_trace(const Composite *c, tt_fn f, const Leaves *leaves, Graph *out);
const struct Names *names_bound(void);
/* Before the graph is lowered: composites are their bodies.  False: one has none; reported. */
bool open_composites(Module *m, RegionId r);

/* x, lying on the mesh as the spec says; NO_VALUE: reported, naming `who`.  (placed.c) */
tt build_placed(const char *who, tt x, const struct tt_grid *grid, const tt_spec *spec);
tt build_placed_so(tt x, const Sharding *sharding);

/* For rules/composite.c, one of each kind. */
void jvp_custom_jvp(const Jvp *j, const Composite *c);
void jvp_custom_vjp(const Jvp *j, const Composite *c);
void transpose_custom_tangent(const Transpose *t, const Composite *c);
void batch_custom(const Batch *b, const Composite *c);
void batch_custom_tangent(const Batch *b, const Composite *c);
void jvp_checkpoint(const Jvp *j, const Composite *c);
void transpose_checkpoint(const Transpose *t, const Composite *c);

/* ---- loops: loops.c ---- */

/* How often the loop runs; -1: that is not known before it has. */
int64_t loop_trip_count(const Module *m, NodeId loop);

/* g, but every loop that carries both what depends on the linear leaves and what does not is two:
 * one that keeps, iteration by iteration, what the other needs, and one that is linear.  *out is g itself
 * where there is no such loop.  False: a loop's trip count is not known; reported. */
bool split_loops(const Graph *g, const bool *linear, Graph *out);

/* One iteration: from what is carried to what the next iteration gets, in the innermost frame. */
typedef void LoopBody(tt body, const tt *in, tt *out, void *user);

/* Records the loop: n values are carried through `trips` iterations, numbered from 0 (an i32).
 * False: reported. */
bool loop_counted(int64_t trips, int n, const tt *init, LoopBody *body, void *user, tt *out);
/* The same where the number is a value, one i32: such a loop cannot be run backwards. */
bool loop_dynamic(tt trips, int n, const tt *init, LoopBody *body, void *user, tt *out);

/* ---- manual computations: spmd.c, varying.c ---- */

/* The type of the shard that a device holds, and of the whole that such shards make. */
Type sharding_local(const Sharding *sharding, Type whole);
Type sharding_whole(const Sharding *sharding, Type local);
/* Nothing is sharded. */
const Sharding *sharding_none(const Mesh *mesh, int rank);
/* One more axis at the front, sharded along all axes of the mesh or along none. */
const Sharding *sharding_leading(const Sharding *sharding, bool is_cut);

/* The sharding that a spec says; NULL: reported, by `label` and with `what` it was for. */
const Sharding *spec_sharding(const char *label, const Mesh *mesh, const tt_spec *spec, Type t,
                              bool is_result, const char *what);
const Mesh *mesh_of_grid(const struct tt_grid *grid); /* in the session's module */
/* The program runs on these devices, as all that is mapped or placed in it.  False: reported. */
bool settle_on(const char *label, int n, const int *devices);
const Trace *map_around(void); /* the innermost map that is being traced; NULL: none */

/* Records a MANUAL node: body takes the shards of in[] and gives shards of the results.  Values
 * that the body uses from around it go in whole. */
bool manual_apply(const Mesh *mesh, int nin, const tt *in, const Sharding *const *in_shardings,
                  const Graph *body, const Sharding *const *out_shardings, tt *out);
/* The sum over the devices that hold the same shard of what is sharded so. */
tt manual_sum(const Mesh *mesh, tt x, const Sharding *sharding);
const Mesh *manual_mesh(const ManualAttrs *attrs); /* NULL: it has neither arguments nor results */
/* The mesh itself, with a name and now the module's, or one like it that is there already. */
Mesh *mesh_intern(Module *m, Mesh *mesh);
const Attr *manual_axes(const Mesh *mesh); /* all of them, as the node's attribute */

/* varying.c: do devices which, cut like that, would hold the same of a result compute the same?  False:
 * said. */
bool results_are_replicated(tt_fn f, const Graph *body, const Mesh *mesh, const Sharding *const *in,
                            const Sharding *const *out);

/* Along which axes of the innermost shard_map's mesh traced values may differ now.  NULL: the
 * innermost map is none. */
const AxisSet *values_vary(int n, const tt *values);
AxisSet sharding_varies(const Sharding *s);
/* Of results of g: as those of its leaves make them. */
const AxisSet *results_vary(const Graph *g, const AxisSet *leaves);
/* The axes of a set with their sizes, as collectives name them. */
const AxisAttrs *axes_of_set(const Mesh *mesh, AxisSet set);

/* What varying.c knows of a graph inside a shard_map: [value], a set each. */
typedef struct Varies {
    const Mesh *mesh;
    const AxisSet *of;
    AxisSet visible; /* axes whose names no map in between has taken */
} Varies;
Varies graph_varies(const Graph *g, const AxisSet *leaves);
AxisSet named_axes(const Varies *v, const Node *node); /* that a collective is along */

/* vary.c: what is the same on all devices becomes different where the graph needs it so, by a node
 * of its own, which tt_grad runs backwards; and those nodes are gone again. */
void vary_insert(Graph *g, const AxisSet *leaves);
void vary_remove(Graph *g);

#endif
