/* kernels.h - how a fusion becomes a function over memory: one file for each root.
 *
 * A tutti.fusion node has one region whose arguments are the node's operands and whose RETURN
 * gives the node's results.  Its nodes are MAP and VIEW operations, with at most one operation
 * of another kind, which then is the root:
 *   - roots MAP or VIEW: one loop over the (common) shape of all results;
 *   - root REDUCE: results of the reduce, its operands computed on the fly;
 *   - root DOT, DYNAMIC_UPDATE or SCATTER: operands are region arguments, except
 *     DYNAMIC_UPDATE's update and indices, which may be computed on the fly.
 *
 * The function made is  void name(ptr frame, ptr in0, ..., ptr out0, ...)  with internal linkage;
 * arrays are row-major and dense, of the types that the node states, 64-byte aligned or not
 * (arguments may be foreign memory: aligned to their element only).  An output may be the same
 * memory as an operand for which kernel_reads_in_place says so. */
#ifndef TUTTI_ENGINE_KERNELS_KERNELS_H
#define TUTTI_ENGINE_KERNELS_KERNELS_H
#include "engine/codegen/codegen.h"

MUST_USE Error *kernel_emit(Emit *e, const Module *m, NodeId fusion, const char *name,
                            LLVMValueRef *out);

/* Tells bounds.c of the arrays that such a function takes. */
void kernel_bounds(Emit *e, const Module *m, NodeId fusion, const char *name,
                   LLVMValueRef function);

/* A CombineFn; external linkage, so that it can be looked up. */
MUST_USE Error *combine_emit(Emit *e, const Module *m, RegionId reducer, const char *name,
                             LLVMValueRef *out);

/* Kernels that take less are not split into slices; tests lower it. */
extern int64_t slice_worth_ns;

/* How many slices would be good; 1: none. */
bool scatter_is_parted(const Module *m, NodeId root); /* its parts have places of their own */
int slices_wanted(const Module *m, NodeId fusion, NodeId root);

/* reduce.c: is it a sum or an extreme alone, one that is made ready? */
bool reduce_is_plain(const Module *m, RegionId region, NodeId root);

/* copy.c: is it a slice, a pad or a concatenate alone, one that is made ready?  Then it is a call. */
bool copy_is_plain(const Emit *e, const Module *m, RegionId region);
void plain_copy_emit(Kernel *k);

/* kernel.c: a function of n numbers (i64) in which the kernel's code is made to be looked at, and thrown away. */
typedef struct Trial {
    V function;
    LLVMBasicBlockRef back;
    struct Bounds *bounds;
    struct Table *decoded;
} Trial;
Trial trial_begin(Kernel *k, int n);
void trial_end(Kernel *k, const Trial *t);

/* map.c: the whole kernel is one loop over its results. */
void map_emit(Kernel *k);
/* tiles.c: the same in tiles, if it reads an operand across; else false. */
bool tiles_emit(Kernel *k, Type shape, Type nest);
bool pixels_emit(Kernel *k, Type shape, Type nest); /* if rows are pixels that are only moved */
/* pieces.c: the same in pieces, if results are joined of several or padded; else false. */
bool pieces_emit(Kernel *k, Type shape, Type nest, LoopBody *body);
/* Is any array transposed in the kernel? */
bool has_transpose(const Kernel *k);
/* update.c: the result begins as the operand v, copied unless it lies there already. */
void start_as_operand(Kernel *k, ValueId v, int result);

/* ---- long sums ----------------------------------------------------------------------- */

/* How many terms a floating-point accumulator takes in one after the other.
 *
 * Every addition rounds the sum so far, so the error of a sum grows with the number of additions
 * that follow one another.  Loops that add are split into blocks whose accumulators begin anew: the
 * innermost take in CHAIN_TERMS, those around them CHAIN_BLOCKS of these each.  The sizes depend on
 * the shape alone, so the results do. */
enum { CHAIN_TERMS = 32, CHAIN_BLOCKS = 16 };

/* A loop of n rounds, in each of which `terms` are taken in one after the other: how many rounds
 * make the largest block of it; n: it need not be split. */
static inline int64_t chain_block(int64_t n, int64_t terms)
{
    if (n <= CHAIN_TERMS / terms)
        return n;
    int64_t block = terms < CHAIN_TERMS ? CHAIN_TERMS / terms : 1;
    while (block * CHAIN_BLOCKS < n)
        block *= CHAIN_BLOCKS;
    return block;
}

/* How many terms are then taken in one after the other, at the outermost. */
static inline int64_t chain_terms(int64_t n, int64_t terms)
{
    int64_t block = chain_block(n, terms);
    return block >= n ? n * terms : (n + block - 1) / block;
}

/* ---- fold.c -------------------------------------------------------------------------- */

/* Loops that combine along some dimensions of a space: what reduce and dot share. */
typedef struct Fold {
    Type space; /* the indices folded over, kept and reduced */
    bool reduced[MAX_RANK];
    bool joined[MAX_RANK + 1]; /* d and d + 1 may be one; only among kept or among reduced */
    Type out;                  /* the kept dimensions, in their order */
    int n;                     /* values folded side by side */
    bool has_identity;         /* start gives it; then any number of accumulators may run */
    bool is_strict;            /* products are rounded before they are added */
    bool in_order;             /* but there is one: they are added one by one */
    bool is_rounded;           /* it adds floats: long loops are split into blocks, which takes the
                                 identity too */
    bool by_pairs;             /* of neighbours along the last dimension, one accumulator takes the
                                 first and another the second */
    int weight;                /* operations per element, to bound the code's size */
    void *user;

    /* Accumulators to begin with, of k->lanes lanes. */
    void (*start)(Kernel *k, const struct Fold *f, V *acc);
    /* The values at an index of space. */
    void (*values)(Kernel *k, const struct Fold *f, Index *at, V *next);
    /* acc = acc combined with next. */
    void (*combine)(Kernel *k, const struct Fold *f, V *acc, const V *next);
    /* The same where acc holds only what comes before next; NULL: combine does it. */
    void (*step)(Kernel *k, const struct Fold *f, V *acc, const V *next);
    /* What to do with the results at an index of out. */
    void (*done)(Kernel *k, const struct Fold *f, Index *at, V *acc);
} Fold;

/* Sums of so few products are rounded and added as XLA adds them: users see every bit of them. */
enum { FOLD_FEW = 16 };

void fold_emit(Kernel *k, const Fold *f);
bool fold_is_few(const Fold *f, Element e); /* its space and reduced are set */

/* ---- row_tiles.c --------------------------------------------------------------------- */

enum { ROW_TILES_MOST = 4 };

/* Reads of column after column of `lanes` rows of n elements each.  While it lasts code reads operands at
 * t->at, an index of all lanes, whose column is t->column. */
typedef struct RowTiles {
    int lanes;
    int64_t n;
    V first; /* i64: the number of the first row's first element */
    Index *at;
    V column; /* i64 */
    /* the rest is row_tiles.c's */
    Kernel *k;
    LLVMBasicBlockRef fill;
    int ntiles, arguments[ROW_TILES_MOST];
    V tiles[ROW_TILES_MOST];
} RowTiles;

void row_tiles_begin(Kernel *k, RowTiles *t);
void row_tiles_end(Kernel *k);
/* How many elements behind the last row are read. */
int64_t row_tiles_beyond(int64_t n, int lanes);

/* ---- reduce.c, argmax.c -------------------------------------------------------------- */

/* Folding with a region: what reduce and reduce_window share. */
typedef struct Reduce {
    NodeId node; /* operands, then initial values */
    RegionId body;
    OpId op; /* what the body is, or OP_COUNT */
    Element e;
    bool in_order;   /* one accumulator, from the initial value on, as the text has it */
    bool is_extreme; /* max or min of floats: values are {number, was NaN} */
    int direction;   /* argmax (GT) or argmin (LT): values are {number, where}; else -1 */
    /* Operand i at an index of the space; NULL: the space is the operand's shape. */
    V (*at)(Kernel *k, const struct Reduce *r, int i, Index *at);
    void *user;
} Reduce;

/* All but the space, from a Reduce in which node, in_order, at and user are set. */
Fold reduce_fold(Kernel *k, Reduce *r);
/* argmax.c: GT or LT, if the reduce is an argmax or argmin; else -1. */
int arg_direction(const Module *m, NodeId reduce);
void arg_combine(Kernel *k, const Fold *f, V *acc, const V *next);
void arg_step(Kernel *k, const Fold *f, V *acc, const V *next);
V reduce_initial(Kernel *k, const Reduce *r, int i); /* of operand i, in k->lanes lanes */

/* ---- window.c ------------------------------------------------------------------------ */

/* Sliding windows: where position w of window i looks, along one dimension:
 *     i * stride + w * spread - before
 * in the dilated array, every `apart`-th place of which is one of the `extent` elements. */
typedef struct WindowDim {
    int64_t size, stride, spread, before, apart, extent;
    int64_t count; /* windows */
} WindowDim;

/* Of all dimensions, for a window over an operand of that type. */
void window_dims(const WindowAttrs *a, Type operand, Type windows, WindowDim *dims);

/* Where coordinates stand among elements that are put apart 32 bits may not hold them, though the
 * arrays are small: then lanes have 64. */
void window_widen(Kernel *k, int n, const WindowDim *dims);

/* The element looked at; *inside (NULL: always) is narrowed where it may be padding. */
Coord window_coord(Kernel *k, const WindowDim *d, Coord i, Coord w, int lanes, V *inside);

/* ---- scan.c -------------------------------------------------------------------------- */

/* Running sums: windows that are one pass (scan_is). */
void scan_emit(Kernel *k, NodeId reduce_window); /* the whole kernel */
#endif
