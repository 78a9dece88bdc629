/* codegen.h - LLVM for an index, an element, a loop: what every kernel is written with.
 *
 *   llvm.c        constants, intrinsics, the frame
 *   index.c       Coord and Index: where in an array the lanes of a vector stand
 *   element.c     element(): the LLVM value of a value at an index, computed once per index
 *   access.c      memory <-> registers: loads, stores, what an element type looks like in both
 *   arith.c, int_division.c, convert.c, narrow_floats.c
 *                 arithmetic on values in registers, for every element type
 *   loops.c       loop nests
 *   moving.c      the rules of operations that move elements; those that compute are math/'s
 *   rules.c       the columns `element` and `block` of ops.def
 *   transpose.c   squares of elements, transposed in registers
 *   slices.c      one loop of a kernel split among idle workers
 *   bounds.c      a check before every access, under TUTTI_CHECK=bounds
 *
 * Code holds no host address: it reaches memory and functions through its Frame.
 *
 * A value in registers is an LLVM scalar when lanes is 1, else a vector of so many lanes;
 * complex numbers are a struct {re, im} of those.  f16 and bf16 live as f32 that was rounded
 * to their type, as do floats of 8 bits, but for f8E8M0FNU, whose least power of two f32 would
 * flush: it lives as f64; i1 as i1; 2- and 4-bit integers as an extended i8. */
#ifndef TUTTI_ENGINE_CODEGEN_CODEGEN_H
#define TUTTI_ENGINE_CODEGEN_CODEGEN_H
#include "engine/program.h"
#include "hlo/module.h"

#include <llvm-c/Core.h>

/* The state of one compilation to LLVM. */
typedef struct Emit {
    LLVMContextRef context;
    LLVMModuleRef llvm;
    LLVMBuilderRef builder;
    struct Generator *generator;
    int vector_bytes;         /* 64 with AVX-512, 32 with AVX2, 16 below */
    Arena *arena;             /* of the compilation */
    struct Bounds *bounds;    /* of arrays, if code is to check them (bounds.c); else NULL */
    uint32_t calls;           /* bit i: code calls the i-th function of Runtime */
    bool calls_rare_math;     /* a function behind MATH_COS */
    bool calls_rare_products; /* of other kinds than GEMM_F32 */
    bool owns_generator;      /* for other code than the host's: it is not kept */
    bool has_steps; /* its loops go through arrays by several steps at once (link/object.c) */
    bool hurries;   /* what only calls runs once in a launch: LLVM need not improve it */
} Emit;

typedef LLVMValueRef V; /* a value in registers */

/* Of any vector: of the narrowest type, four times 64 bytes, as combine_emit takes them together. */
enum { MAX_LANES = 256 };
typedef struct Index Index;

typedef struct Kernel {
    Emit *e;
    LLVMBuilderRef b;
    LLVMContextRef c;
    const Module *m;
    Arena *arena; /* of this kernel: dies with it */
    RegionId region;
    V function, frame;
    V *ins, *outs;    /* pointers, by operand and result */
    int width;        /* lanes of a full vector */
    int lanes;        /* of the values being made now */
    bool is_small;    /* every array has fewer than 2^31 bytes: lane numbers are i32 */
    int depth;        /* of element() within itself */
    bool accumulates; /* f16 and bf16 are not rounded now */
    bool only_moves;  /* floats and complex numbers are moved, no more: element_of tells what as */
    bool is_strict;   /* products are rounded before they are added */
    struct Memo *memo;
    RegionId inlined; /* the region that region_inline is at, or 0; its arguments are: */
    const V *bound;
    struct Table *linear;  /* is_linear's answers, by value */
    struct Table *decoded; /* the bits of narrow_decode's values */
    struct Table *shared;  /* the functions of shared_function.c */
    int *times;            /* by OpId: how often the kernel has the operation; NULL: not counted */
    int wanted;            /* slices; 1: none, or a loop has been split already (slices.c) */
    int64_t nslices;       /* that there are */
    V slice;               /* i64: the number of this one; NULL: the kernel is whole */
    /* Reads an argument in place of load_element; gives NULL where load_element is to do it. */
    V (*load)(struct Kernel *k, int argument, Index *at);
    void *load_user;
    bool is_trial;   /* the code is thrown away: nothing outside of its function is made */
    bool repeats;    /* results may be computed and stored twice: none lies where an operand does */
    struct Box *box; /* NULL: nothing is known of the loops' coordinates */
    const bool *streams; /* by result: it is stored past the caches; NULL: none is */
    Error *error;        /* the first; values made after it are meaningless */
} Kernel;

/* The rules of ops.def.  An element rule yields the value of node n's result at an index. */
typedef V ElementRule(Kernel *k, NodeId n, Index *at);
typedef void BlockRule(Kernel *k, NodeId root);    /* emits all of the kernel's body */
extern ElementRule *const element_rules[OP_COUNT]; /* NULL: none */
extern BlockRule *const block_rules[OP_COUNT];

/* ---- shared_function.c: an operation that the kernel has often, as a function that it calls ---- */

bool is_shared_function(Kernel *k, NodeId n);
V shared_function_call(Kernel *k, NodeId n, Index *at);
/* kernel.c: whole registers in a function. */
void kernel_width(Kernel *k, V function);

/* ---- index.c ---------------------------------------------------------------------------- */

/* One coordinate of all lanes: base + lane * step, or any vector. */
typedef struct Coord {
    V base; /* i64: of lane 0 */
    int64_t step;
    int64_t multiple; /* base - beyond is known to be a multiple of it; 0: it is 0 */
    V vector;         /* not NULL: the lanes' own numbers; the others mean nothing */
    int64_t beyond;
    /* not 0: every lane's is scale times its coordinate in dimension along - 1 of the loops, and offset */
    int along;
    int64_t scale, offset;
} Coord;

/* The part of the loops' dimensions that is emitted now: what a coordinate is compared with may be known there. */
typedef struct Box {
    int64_t from[MAX_RANK + 1], to[MAX_RANK + 1];
    int asked; /* the dimension along which it is noted where comparisons change, or -1 */
    int ncuts;
    int64_t *cuts; /* [MOST_CUTS] */
} Box;

enum { MOST_CUTS = 64 };

/* A position in an array, for `lanes` lanes.  Coordinates are computed when first asked for. */
struct Index {
    int lanes, rank;
    const int64_t *dims;
    Coord *at;
    bool *known; /* at[d] is there */
    bool has_linear;
    Coord linear;  /* row-major element number */
    Index *from;   /* not NULL: the same element number in an array of another shape */
    V mask;        /* i1 per lane: false lanes must not touch memory; NULL: all may */
    Index *narrow; /* the same with one lane, if that was asked for */
    uint64_t way;  /* the views that led here: equal for two that are one function of the loop's
                      index; 0 where data decide */
};

Coord coord_const(Kernel *k, int64_t value);
Coord coord_uniform(Kernel *k, V i64);
Coord coord_vector(Kernel *k, V vector); /* of lane_type */
bool coord_is_uniform(Coord c);
int64_t coord_multiple(Coord c); /* what base is known to be a multiple of; 0: base is 0 */
Coord coord_add(Kernel *k, Coord a, Coord b, int lanes);
Coord coord_add_const(Kernel *k, Coord a, int64_t value, int lanes);
Coord coord_mul_const(Kernel *k, Coord a, int64_t factor, int lanes);
Coord coord_div_const(Kernel *k, Coord a, int64_t divisor, int lanes);
Coord coord_mod_const(Kernel *k, Coord a, int64_t divisor, int lanes);
V coord_lanes(Kernel *k, Coord a, int lanes);                     /* as lane_type per lane */
V coord_less_const(Kernel *k, Coord a, int64_t limit, int lanes); /* signed; i1 per lane */
V coord_at_least(Kernel *k, Coord a, int64_t limit, int lanes);
LLVMTypeRef lane_type(Kernel *k, int lanes); /* i32 or i64 per lane; i64 when one lane */

Index *index_new(Kernel *k, Type shape, int lanes); /* nothing known yet */
void index_set(Index *at, int d, Coord c);
Index *index_numbered(Kernel *k, Type shape, Coord linear, int lanes);
Index *index_scalar(Kernel *k, int lanes); /* of a rank-0 array */
Index *index_reshape(Kernel *k, Index *from, Type shape);
Index *index_narrow(Kernel *k, Index *at); /* lane 0's, with one lane */
Coord index_at(Kernel *k, Index *at, int d);
Coord index_linear(Kernel *k, Index *at);
bool index_is_uniform(const Index *at);
int64_t index_count(const Index *at);                                   /* elements of the array */
void index_mask(Kernel *k, Index *at, const Index *outer, V condition); /* NULL: outer's only */
void mask_narrow(Kernel *k, V *mask, V condition); /* both; *mask NULL: condition alone */
bool is_always(V condition);                       /* of all lanes, known now */
bool is_never(V condition);

/* ---- access.c --------------------------------------------------------------------------- */

LLVMTypeRef int_type(Kernel *k, int bits);
LLVMTypeRef lanes_of(LLVMTypeRef type, int lanes); /* itself when lanes is 1 */
LLVMTypeRef part_type(Kernel *k, Element e);       /* one lane in a register; no complex */
LLVMTypeRef memory_type(Kernel *k, Element e);     /* one element in memory; no complex */
LLVMTypeRef value_type(Kernel *k, Element e);      /* with k->lanes; complex too */
V splat(Kernel *k, V scalar, int lanes);           /* complex too */
V splat_source(V v);                               /* what splat made it of, or NULL */
V extract_lane(Kernel *k, V v, int lane);          /* complex too */
V load_element(Kernel *k, V pointer, Element e, Index *at);
/* By llvm.masked.load or llvm.masked.gather; lanes that are not wanted are 0. */
V load_masked(Kernel *k, const char *name, LLVMTypeRef type, V from, unsigned align, V mask);
/* Element numbers[i] of the table in lane i; the numbers are integers, all within it. */
V constant_lookup(Kernel *k, Dense table, V numbers);
void prefetch_element(Kernel *k, V pointer, Element e, V number); /* into the caches, maybe */
void store_element(Kernel *k, V pointer, Element e, Index *at, V value);
/* Column j of as many rows as `first` has lanes, which are of n columns each; first: column 0. */
void store_columns(Kernel *k, V pointer, Element e, Index *first, int n, const V *columns);
V constant_value(Kernel *k, Element e, const void *data); /* one element's bytes, splat */
bool access_can(Element e);
bool is_narrow(Element e);                 /* a float of 8 bits: narrow_floats.c */
bool is_coded(const Kernel *k, Element e); /* that, or an f16 in software */
V half_widen(Kernel *k, V half);           /* an f16 to f32 */
V half_narrow(Kernel *k, V x);             /* and back, rounded */
V narrow_decode(Kernel *k, Element e, V bits);
V narrow_encode(Kernel *k, Element e, V x); /* as it lives, rounded */
V power_to_f32(Kernel *k, V x);             /* an f8E8M0FNU, exactly: 2^-127 is not flushed */
V power_from_f32(Kernel *k, V x);           /* not rounded */

/* ---- known_numbers.c -------------------------------------------------------------------- */

typedef struct KnownNumber {
    Coord at;
    int64_t low, high; /* within the index's array it is no less and no more */
} KnownNumber;

/* Is v at that index a sum of multiples of the index's coordinates? */
bool known_number(Kernel *k, ValueId v, Index *at, KnownNumber *x);

/* ---- small_tables.c --------------------------------------------------------------------- */

/* Is an array of n elements best looked up in registers? */
bool is_small_table(const Kernel *k, Element e, int64_t n);
/* As they are in memory, the elements with these numbers (i32), of which no lane's but those that are off lies
 * outside. */
V small_table_lookup(Kernel *k, V pointer, Element e, int64_t n, V numbers);

/* ---- element.c -------------------------------------------------------------------------- */

V element(Kernel *k, ValueId v, Index *at);
V element_uniform(Kernel *k, ValueId v, Index *at); /* at is uniform: one lane's value */
V operand(Kernel *k, NodeId n, int i, Index *at);   /* of a MAP: at, or the scalar index */
Coord element_coord(Kernel *k, ValueId v, Index *at, int64_t most); /* clamped to 0..most */
/* Coordinate d of the slice that `at` walks, in an array of that extent in which the slice begins
 * at the scalar `start`, clamped so that it fits. */
Coord slice_coord(Kernel *k, ValueId start, Index *at, int d, int64_t extent);
void memo_clear(Kernel *k);
void memo_set(Kernel *k, ValueId v, Index *at, V value);
V kernel_error(Kernel *k, NodeId n, const char *why); /* "not supported"; gives a poison value */
/* The code of a region of scalars, on values of k->lanes lanes. */
void region_inline(Kernel *k, RegionId r, const V *args, V *results);
Element element_of(const Kernel *k, ValueId v); /* as what the kernel takes its elements */
Element moved_element(const Kernel *k, Element e);
int kernel_argument(const Kernel *k, ValueId v); /* its number, or -1 */

/* ---- loops.c ---------------------------------------------------------------------------- */

enum { MAX_CARRIED = 64 };

/* for (i = 0; i < end; i += step), run at least once, with values carried round. */
typedef struct Loop {
    LLVMBasicBlockRef body;
    V i, phis[MAX_CARRIED];
    int ncarried;
    V end;
    int64_t step;
} Loop;

void loop_begin(Kernel *k, Loop *loop, int64_t n, int64_t step, int ncarried, V *carried);
/* from: a multiple of step */
void loop_between(Kernel *k, Loop *loop, V from, V end, int64_t step, int ncarried, V *carried);
void loop_end(Kernel *k, Loop *loop, V *carried); /* carried: next round's in, last round's out */
Coord loop_coord(const Loop *loop, int64_t step_of_lane);

/* The loops around those whose rounds are vectors. */
typedef struct OuterLoops {
    int n;
    Loop loops[MAX_RANK + 1];
} OuterLoops;

/* Opens loops over n dimensions with these extents, and says in at[d] where they stand.  One of them, or several
 * as one, or else a loop of `inner` rounds within them is to be split into slices: true if it is that one. */
bool outer_begin(Kernel *k, OuterLoops *o, int n, const int64_t *counts, int64_t inner, Coord *at);
void outer_end(Kernel *k, OuterLoops *o);

/* Which neighbouring dimensions of `shape` everything reached from the values treats as one.
 * joined[d]: d and d + 1.  On entry: which may be at all. */
void joinable(const Kernel *k, int n, const ValueId *values, Type shape, bool *joined);
/* moving.c: of which neighbours d and d + 1 of its result a view makes neighbours of its operands, so that they may
 * be one. */
void view_joins(const Module *m, const Node *node, bool *joins);
/* The shape with joined dimensions as one. */
Type joined_shape(Kernel *k, Type shape, const bool *joined);
/* Is v, at an index of its own shape, computed from element numbers alone? */
bool is_linear(const Kernel *k, ValueId v);

/* Emits body for every index of shape, in vectors along the last joined dimension. */
typedef void LoopBody(Kernel *k, Index *at, void *user);
void loop_over(Kernel *k, Type shape, const bool *joined, LoopBody *body, void *user);
/* The same for the indices within a box of the nest that joined_shape gave. */
void loop_over_box(Kernel *k, Type shape, Type nest, Box *box, LoopBody *body, void *user);
void copy_emit(Kernel *k, V to, V from, size_t bytes);
/* So many bytes, which a register holds, `at` so far behind both pointers. */
void copy_vector(Kernel *k, V to, V from, V at, int bytes);

/* ---- slices.c ------------------------------------------------------------------------ */

/* Large kernels run in k->wanted slices: one of their loops is split, and k->wanted becomes 1. */
/* Which of nested loops with these extents is to be split, or -1; the outermost that has enough. */
int slices_choose(Kernel *k, int n, const int64_t *extents);
/* Begins the loop over this slice's part of 0 .. n. */
void slice_loop(Kernel *k, Loop *loop, int64_t n, int64_t step);
/* Code between these runs in the last slice only. */
LLVMBasicBlockRef last_slice_begin(Kernel *k);
void last_slice_end(Kernel *k, LLVMBasicBlockRef after);
/* Around the body k->function: what segments call, with so many pointers, the frame's first. */
V slices_wrap(Kernel *k, const char *name, int npointers);
/* A large copy inside a kernel that is not made of slices; bytes: a multiple of a vector's. */
void copy_by_slices(Kernel *k, V to, V from, int64_t bytes);

/* ---- transpose.c --------------------------------------------------------------------- */

/* The same vector, of so many bytes: LLVM mixes no shuffles that it comes of with those that it goes into. */
V fenced(Kernel *k, V row, int bytes);
/* As what elements of so many bytes are moved, whatever they are: if there is such a type, one that a fence
 * takes as it is. */
LLVMTypeRef square_type(Kernel *k, int bytes);
/* Of `side` vectors of so many lanes, of square_type, or two of 8 bytes for 16: each square of side x side that
 * they hold side by side.  A power of two, and lanes a multiple of it. */
void transpose_squares(Kernel *k, int side, int lanes, int bytes, V *rows);
/* n groups of `packed` bytes that lie side by side, each in `wide` bytes, a power of two; and back. */
V spread_load(Kernel *k, V at, int n, int packed, int wide);
V packed_bytes(Kernel *k, V bytes, int n, int wide, int packed);

/* ---- llvm.c ------------------------------------------------------------------------------- */

LLVMTypeRef one_lane(LLVMTypeRef type); /* of a vector; else itself */
V const_i64(Kernel *k, int64_t value);
V const_f(Kernel *k, LLVMTypeRef like, double value); /* scalar or splat, of type `like` */
V const_i(Kernel *k, LLVMTypeRef like, int64_t value);
V intrinsic(Kernel *k, const char *name, LLVMTypeRef type, int n, V *args);
#define INTRINSIC(k, name, x, ...)                                                                 \
    intrinsic((k), (name), LLVMTypeOf(x), (int)(sizeof((V[]){ x, ##__VA_ARGS__ }) / sizeof(V)),    \
              (V[]){ x, ##__VA_ARGS__ })
V runtime_function(Kernel *k, size_t offset); /* the pointer at that offset of the Runtime */
V byte_offset(Kernel *k, V pointer, int64_t bytes);
V int64_table(Kernel *k, int n, const int64_t *values); /* in memory of this call */

/* ---- arith.c ------------------------------------------------------------------------- */

/* Arithmetic on values in registers, for every element type.
 *
 * x and y are values of element type e with any number of lanes.  Results are not yet rounded
 * to narrow types: finish() does that at the end of an operation's formula. */
bool is_float(Element e);
bool is_complex(Element e);
bool is_unsigned(Element e); /* bool too */

V arith_neg(Kernel *k, Element e, V x);
V arith_add(Kernel *k, Element e, V x, V y);
V arith_sub(Kernel *k, Element e, V x, V y);
V arith_mul(Kernel *k, Element e, V x, V y);
V arith_div(Kernel *k, Element e, V x, V y);
V arith_rem(Kernel *k, Element e, V x, V y);
V int_quotient(Kernel *k, Element e, V x, V y); /* int_division.c */
V int_rest(Kernel *k, Element e, V x, V y);
V arith_max(Kernel *k, Element e, V x, V y);
V arith_min(Kernel *k, Element e, V x, V y);
V arith_abs(Kernel *k, Element e, V x); /* of a complex: its real length */
V arith_sign(Kernel *k, Element e, V x);
V arith_compare(Kernel *k, Element e, int direction, bool is_total, V x, V y); /* EQ, NE ... */
V arith_select(Kernel *k, V condition, V x, V y);                              /* complex too */
V arith_convert(Kernel *k, Element from, Element to, V x);

/* Parts of complex numbers. */
V real_part(Kernel *k, V x);
V imag_part(Kernel *k, V x);
V complex_of(Kernel *k, V re, V im);

/* Floats of one lane type, contracted where the machine can. */
V float_add(Kernel *k, V x, V y);
V float_sub(Kernel *k, V x, V y);
V float_mul(Kernel *k, V x, V y);
V float_div(Kernel *k, V x, V y);
V float_fma(Kernel *k, V x, V y, V z); /* x * y + z */
V float_abs(Kernel *k, V x);
V is_nan(Kernel *k, V x);
V same_bits(Kernel *k, V x, bool as_float); /* between f32 and i32, f64 and i64 */
V bits_of(Kernel *k, Element e, V v);       /* as many as e has in memory; of a real type */
V value_of_bits(Kernel *k, Element e, V bits);
/* Code between these two is run only if any of the lanes is true; there n `values` are made anew,
 * and behind it they are those or the usual ones. */
typedef struct Rare {
    LLVMBasicBlockRef before, after;
} Rare;
Rare rare_begin(Kernel *k, V lanes);
void rare_end(Kernel *k, const Rare *r, int n, const V *usual, V *values);
LLVMTypeRef like_type(Kernel *k, V x, LLVMTypeRef one); /* as many lanes of another type */
V to_f64(Kernel *k, V x);
V to_f32(Kernel *k, V x);

/* ---- rules.c ------------------------------------------------------------------------- */

/* The columns `element` and `block` of ops.def, and what their rules share. */
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, element, \
           block, ...)                                                                             \
    ElementRule element_##element;
#include "ops/ops.def"

#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, element, \
           block, ...)                                                                             \
    BlockRule block_##block;
#include "ops/ops.def"

/* Whether the node's rule knows the element types the node has (its op has a rule). */
bool rule_takes(const Module *m, NodeId n);
/* A region of scalars whose operations all have element rules (query.c). */
bool region_can_inline(const Module *m, RegionId r);

/* A result in registers from a formula's: rounded or wrapped to what its type can hold. */
V finish(Kernel *k, Element e, V v);

/* A formula of one, two or three operands x, y, z of element type e, giving type r. */
#define MAP1(name, formula)                                                                        \
    V element_##name(Kernel *k, NodeId n, Index *at)                                               \
    {                                                                                              \
        Element e = element_of(k, node_at(k->m, n)->in[0]);                                        \
        Element r = element_of(k, node_at(k->m, n)->out);                                          \
        V x = operand(k, n, 0, at);                                                                \
        (void)e;                                                                                   \
        return finish(k, r, formula);                                                              \
    }
#define MAP2(name, formula)                                                                        \
    V element_##name(Kernel *k, NodeId n, Index *at)                                               \
    {                                                                                              \
        Element e = element_of(k, node_at(k->m, n)->in[0]);                                        \
        Element r = element_of(k, node_at(k->m, n)->out);                                          \
        V x = operand(k, n, 0, at), y = operand(k, n, 1, at);                                      \
        (void)e;                                                                                   \
        return finish(k, r, formula);                                                              \
    }

/* ---- bounds.c ------------------------------------------------------------------------ */

/* Code that looks before it touches memory: TUTTI_CHECK=bounds.
 *
 * A function that makes a pointer to an array tells how large the array is; bounds_write then puts a
 * check before every access of the module.  Without TUTTI_CHECK=bounds nothing is noted
 * and nothing is written. */
void bounds_begin(Emit *e); /* emit_begin and emit_end call these */
void bounds_end(Emit *e);

/* From this pointer on lie so many bytes.  `what` names the array, in a message. */
void bounds_array(Emit *e, LLVMValueRef pointer, int64_t bytes, const char *what);
/* The same where only code knows how many (an i64 that is made before the pointer). */
void bounds_array_of(Emit *e, LLVMValueRef pointer, LLVMValueRef bytes, const char *what);
/* The same as is known of another pointer. */
void bounds_array_like(Emit *e, LLVMValueRef pointer, LLVMValueRef known);

/* What a function is called in a message, and where in it the frame is found; NULL: it has none, and a
 * violation ends the process.  Every function of the module has one. */
void bounds_function(Emit *e, LLVMValueRef function, LLVMValueRef frame, const char *who);

/* Before this call of the runtime the bytes from `first` on, counted from the pointer, must lie in
 * its array; else it is not made. */
void bounds_touch(Emit *e, LLVMValueRef call, LLVMValueRef pointer, int64_t first, int64_t bytes);

/* For tests: so many bytes at the end of each array of a kernel seem not to be there. */
extern int64_t bounds_withheld;

/* Writes all checks.  It is an error if a pointer leads to an array that was not noted. */
MUST_USE Error *bounds_write(Emit *e);

/* What a check calls when it fails: the frame's run ends with an error. */
void tutti_out_of_bounds(Frame *frame, const char *who, const char *how, const char *what,
                         int64_t offset, int64_t bytes, int64_t size);
#endif
