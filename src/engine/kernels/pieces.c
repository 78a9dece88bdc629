/* pieces.c - the kernel that is one loop over its results, in pieces within which it is known where they come from.
 *
 *     pad       0 0 0 0 0          a vector of the whole would ask of each lane whether it is inside;
 *               0 a b c 0          here rows of zeros, a column of them, loads, and a column of zeros
 *               0 0 0 0 0          are five loops that ask nothing
 *
 * Joins of many operands, rolls and borders are of this kind.  Where to cut is found by asking, dimension by
 * dimension: the results are computed, in a function that is then thrown away, and every comparison of a
 * coordinate with a number tells where along the dimension its answer changes. */
#include "engine/kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

/* Fewer results are not worth the code, nor is it to cut what is a smaller share of them; a row is cut if it has
 * so many vectors. */
enum { FEW_RESULTS = 4096, SHARE = 24, MOST_PIECES = 48, MOST_OPERATIONS = 512, LONG_ROW = 4 };

typedef struct Pieces {
    Kernel *k;
    Type shape, nest; /* as the program has it, and as it is looped over */
    Box box;
    int left; /* how many pieces more there may be */
    int wanted;
    int64_t nslices;
    LoopBody *body;
} Pieces;

/* In place of a load: some number. */
static V no_load(Kernel *k, int argument, Index *at)
{
    (void)at;
    ValueId v = region_at(k->m, k->region)->args + (ValueId)argument;
    return LLVMConstNull(value_type(k, element_of(k, v)));
}

/* Computes the results somewhere in the box. */
static void ask(Pieces *p)
{
    Kernel *k = p->k;
    const Node *end = region_return(k->m, k->region);
    Index *at = index_new(k, p->nest, 1);
    for (int d = 0; d < p->nest.rank; d++)
        index_set(at, d,
                  (Coord){ .base = LLVMGetParam(k->function, (unsigned)d),
                           .multiple = 1,
                           .along = d + 1,
                           .scale = 1 });
    memo_clear(k);
    k->lanes = 1;
    Index *in_shape = index_reshape(k, at, p->shape);
    for (int i = 0; i < end->nin; i++)
        element(k, end->in[i], in_shape);
}

/* In a function that is thrown away. */
static void ask_along(Pieces *p, int d)
{
    Kernel *k = p->k;
    Trial trial = trial_begin(k, p->nest.rank);
    k->load = no_load;
    p->box.asked = d;
    p->box.ncuts = 0;
    ask(p);
    p->box.asked = -1;
    k->load = NULL;
    trial_end(k, &trial);
}

static int smaller_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t box_count(const Pieces *p)
{
    int64_t n = 1;
    for (int d = 0; d < p->nest.rank; d++)
        n *= p->box.to[d] - p->box.from[d];
    return n;
}

/* Where the box is cut along d, in order and each once; how often. */
static int cuts_along(Pieces *p, int d, int64_t *cuts)
{
    int64_t rounds = p->box.to[d] - p->box.from[d];
    bool is_short = d + 1 == p->nest.rank && rounds < (int64_t)LONG_ROW * p->k->width;
    if (is_short || box_count(p) * SHARE < type_count(p->nest))
        return 0;
    p->box.cuts = cuts;
    ask_along(p, d);
    qsort(cuts, (size_t)p->box.ncuts, sizeof *cuts, smaller_first);
    int n = 0;
    for (int i = 0; i < p->box.ncuts; i++)
        if (!n || cuts[i] != cuts[n - 1])
            cuts[n++] = cuts[i];
    return p->box.ncuts < MOST_CUTS && n <= p->left ? n : 0;
}

/* A piece has its share of the slices; a slice whose number it does not have goes past it. */
static void piece_emit(Pieces *p)
{
    Kernel *k = p->k;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(k->b);
    LLVMBasicBlockRef piece = LLVMAppendBasicBlockInContext(k->c, k->function, "piece");
    LLVMPositionBuilderAtEnd(k->b, piece);
    k->wanted = (int)((double)p->wanted * (double)box_count(p) / (double)type_count(p->nest) + 0.5);
    k->nslices = 1;
    loop_over_box(k, p->shape, p->nest, &p->box, p->body, NULL);
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "after");
    LLVMBuildBr(k->b, after);
    LLVMPositionBuilderAtEnd(k->b, before);
    if (k->slice) {
        V mine = LLVMBuildICmp(k->b, LLVMIntULT, k->slice, const_i64(k, k->nslices), "");
        LLVMBuildCondBr(k->b, mine, piece, after);
    } else {
        LLVMBuildBr(k->b, piece);
    }
    LLVMPositionBuilderAtEnd(k->b, after);
    p->nslices = k->nslices > p->nslices ? k->nslices : p->nslices;
}

/* The box as it is along the dimensions before d, cut along d and those behind it. */
static void pieces_from(Pieces *p, int d)
{
    if (d == p->nest.rank) {
        piece_emit(p);
        return;
    }
    int64_t cuts[MOST_CUTS], from = p->box.from[d], to = p->box.to[d];
    int n = cuts_along(p, d, cuts);
    p->left -= n;
    for (int i = 0; i <= n && !p->k->error; i++) {
        p->box.from[d] = i ? cuts[i - 1] : from;
        p->box.to[d] = i < n ? cuts[i] : to;
        pieces_from(p, d + 1);
    }
    p->box.from[d] = from;
    p->box.to[d] = to;
}

static bool has_borders(const Kernel *k)
{
    const Region *region = region_at(k->m, k->region);
    for (int i = 0; i < region->nnodes; i++) {
        OpId op = node_at(k->m, region->nodes[i])->op;
        if (op == OP_CONCATENATE || op == OP_PAD)
            return true;
    }
    return false;
}

bool pieces_emit(Kernel *k, Type shape, Type nest, LoopBody *body)
{
    int most = MOST_OPERATIONS / region_at(k->m, k->region)->nnodes;
    if (type_count(shape) < FEW_RESULTS || !most || !has_borders(k))
        return false;
    Pieces p = { .k = k,
                 .shape = shape,
                 .nest = nest,
                 .box = { .asked = -1 },
                 .left = most < MOST_PIECES ? most : MOST_PIECES,
                 .wanted = k->wanted,
                 .nslices = 1,
                 .body = body };
    memcpy(p.box.to, nest.dims, sizeof *nest.dims * (size_t)nest.rank);
    k->box = &p.box;
    pieces_from(&p, 0);
    k->box = NULL;
    k->wanted = 1;
    k->nslices = p.nslices;
    return true;
}
