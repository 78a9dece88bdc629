/* module.h - a program as data: StableHLO operations, in an arena.
 *
 *   Module
 *     func main (public)         body: Region
 *     func _normal (private)       args: Values          nodes: Node, Node, ... , return
 *                                                          in: Values   out: Values
 *                                                          regions: Region ...
 *
 * References are 32-bit numbers into the module's tables; 0 is none.  A region is one block;
 * its last node is a RETURN.  A value is defined by a node or is an argument of a region, and
 * may be used where SSA allows: later in its region, and in regions nested there. */
#ifndef TUTTI_HLO_MODULE_H
#define TUTTI_HLO_MODULE_H
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "ops/call.h"
#include "ops/cuts.h"
#include "ops/op.h"

#include <stdint.h>

typedef uint32_t ValueId, NodeId, RegionId;

typedef struct Loc {
    Str file; /* empty: unknown */
    int line, column;
    Str name; /* "jit(f)/mul"; may be empty */
} Loc;

typedef struct Value {
    Type type;
    NodeId node;     /* that defines it; 0: an argument of `region` */
    RegionId region; /* where it is defined */
    int index;       /* which result or argument */
} Value;

typedef struct Node {
    OpId op;
    int nin, nout, nregions;
    ValueId *in; /* operands */
    ValueId out; /* first result; the others follow: out + 1, ... */
    RegionId *regions;
    const void *attrs; /* the struct that op_info[op].attrs names */
    const Attr *extra; /* a dictionary of foreign attributes (mhlo.sharding ...), or NULL */
    const Loc *loc;    /* never NULL */
    RegionId region;   /* it stands in */
} Node;

typedef struct Region {
    int nargs;
    ValueId args; /* first; the others follow */
    int nnodes, room;
    NodeId *nodes; /* in program order */
    NodeId parent; /* the node it belongs to; 0: a function's body */
} Region;

typedef struct Func {
    Str name;
    bool is_public;
    RegionId body;
    int nresults;
    const Type *results;
    const Attr *const *arg_attrs;    /* per argument: a dictionary, or NULL */
    const Attr *const *result_attrs; /* per result */
    const Loc *loc;
} Func;

typedef struct Module {
    Arena *arena; /* owns everything the module refers to */
    Str name;
    int nreplicas, npartitions; /* from mhlo.num_replicas, mhlo.num_partitions; 1 if unsaid */
    const Attr *attrs;          /* the module's own, or NULL */
    Value *values;
    Node *nodes;
    Region *regions;
    Func *funcs;
    Mesh **meshes;
    uint32_t nvalues, nnodes, nregions; /* entry 0 of each is unused */
    uint32_t values_room, nodes_room, regions_room;
    int nfuncs, funcs_room, nmeshes, meshes_room;
    int *func_slots,
        nfunc_slots; /* by hash of the name: number in funcs, counted from 1; 0: free */
} Module;

Module *module_new(void);
void module_free(Module *m); /* NULL is fine */

/* Building.  Pointers into the tables move when something is added; keep numbers. */
RegionId region_new(Module *m, NodeId parent, int nargs, const Type *args);
/* A node that stands nowhere yet.  Operands, types and attributes are copied by reference:
 * they must live in the arena, except the arrays in, results and regions, which are copied. */
NodeId node_new(Module *m, OpId op, int nin, const ValueId *in, int nout, const Type *results,
                int nregions, const RegionId *regions, const void *attrs, const Loc *loc);
void region_append(Module *m, RegionId r, NodeId n);
void region_set_nodes(Module *m, RegionId r, int n, const NodeId *nodes); /* replaces the list */
NodeId *region_take_nodes(Module *m, RegionId r, int *n); /* empties it; the caller puts back */
Func *func_add(Module *m, Str name);                      /* fields zeroed */
Func *func_find(const Module *m, Str name);               /* NULL: none of that name */
void funcs_set(Module *m, int n, const Func *funcs); /* replaces the list; may be a part of it */
Mesh *mesh_find(const Module *m, Str name);
void mesh_add(Module *m, Mesh *mesh);

/* clang-format off */
static inline Node *node_at(const Module *m, NodeId n) { return &m->nodes[n]; }
static inline Value *value_at(const Module *m, ValueId v) { return &m->values[v]; }
static inline Region *region_at(const Module *m, RegionId r) { return &m->regions[r]; }
static inline OpFlow node_flow(const Node *n) { return op_info[n->op].flow; }
static inline Type type_of(const Module *m, ValueId v) { return m->values[v].type; }
/* clang-format on */
/* Do its regions hold operations that run one by one?  Not those of a kernel or of a function of
 * scalars. */
static inline bool node_holds_code(const Node *n)
{
    OpFlow flow = node_flow(n);
    return flow == FLOW_LOOP || flow == FLOW_BRANCH || flow == FLOW_GLOBAL;
}
/* The same of one device's own code: control flow among its segments. */
static inline bool node_is_control(const Node *n)
{
    return node_flow(n) == FLOW_LOOP || node_flow(n) == FLOW_BRANCH;
}
/* How dimensions that are cut pass through it; in the arena (ops/cuts.h). */
Factors node_factors(const Module *m, Arena *arena, const Node *n);
CallId node_call(const Node *n); /* which custom call; CALL_COUNT: none that has a row */
Node *region_return(const Module *m, RegionId r); /* its last node */
NodeId value_def(const Module *m, ValueId v);     /* node that defines it, 0 for arguments */
/* The constant that v is, looking through nothing; NULL if it is not one. */
const Dense *value_constant(const Module *m, ValueId v);

extern const Loc loc_unknown;
/* The same program, written elsewhere: on a thread that has this set, from[i] is told as to[i]. */
typedef struct LocTable {
    int n;
    const Loc *from, *to;
    _Atomic uint32_t recorded; /* the recorder's number for the program so named; 0: none yet */
} LocTable;
extern _Thread_local const LocTable *loc_table; /* NULL: as it is */
void loc_print(Text *out, const Loc *loc);      /* train.py:12:5, or "unknown place" */
const char *loc_name(const Loc *loc);           /* the same in a ring of buffers of this thread */

/* check.c: every rule; the error names the operation, its types and its place. */
MUST_USE Error *module_check(const Module *m);
MUST_USE Error *module_devices(const Module *m, int *out); /* how many it is for */
MUST_USE Error *node_check(const Module *m, NodeId n);     /* its shape rule alone */
/* What the results of n are by its rule, its operands having no open extent; what the rule leaves
 * to the program (the extents of a reshape) stays as stated. */
MUST_USE Error *node_types(const Module *m, NodeId n, Type *types);

/* print.c: as StableHLO text that our reader and JAX's parser accept. */
void module_print(Text *out, const Module *m, bool with_locations);

/* read/: from bytes.  The result is new and unchecked; on error *out is untouched. */
MUST_USE Error *read_program(const char *bytes, size_t n, const char *name, Module **out);
MUST_USE Error *read_text(const char *bytes, size_t n, const char *name, Module **out);
MUST_USE Error *read_bytecode(const char *bytes, size_t n, const char *name, Module **out);
#endif
