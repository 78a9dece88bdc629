/* row_tiles.c - short rows of an operand, turned so that lanes can run down its columns.
 *
 * In: code that is to read column after column of as many rows as there are lanes.  Out: those rows are
 * loaded along memory, transposed in registers, and lie in a tile on the stack, where a column is a vector:
 *
 *     row 0    a b c d e            column 0   a f k p ..
 *     row 1    f g h i j      ->    column 1   b g l q ..
 *     ..                            ..
 *
 * A read of one column across rows would be a gather, which takes as long as it has lanes. */
#include "engine/kernels/kernels.h"

enum { LINE = 64 }; /* bytes of a cache line, by which tiles are aligned */

/* Squares are as large as rows are long, or as a vector: where they are smaller a vector has several. */
static int square_side(int64_t n, int lanes)
{
    int side = 1;
    while (side < n && side < lanes)
        side *= 2;
    return side;
}

int64_t row_tiles_beyond(int64_t n, int lanes)
{
    int side = square_side(n, lanes);
    return (n + side - 1) / side * side - n;
}

static V *tile_of(RowTiles *t, int argument)
{
    for (int i = 0; i < t->ntiles; i++)
        if (t->arguments[i] == argument)
            return &t->tiles[i];
    if (t->ntiles == ROW_TILES_MOST)
        return NULL;
    t->arguments[t->ntiles] = argument;
    t->tiles[t->ntiles] = NULL;
    return &t->tiles[t->ntiles++];
}

/* Where the function begins: a loop that made room would make it in every round. */
static V tile_memory(Kernel *k, int64_t bytes)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(k->function);
    LLVMPositionBuilderBefore(k->b, LLVMGetFirstInstruction(entry));
    V tile = LLVMBuildAlloca(k->b, LLVMArrayType2(int_type(k, 8), (uint64_t)bytes), "tile");
    LLVMSetAlignment(tile, LINE);
    bounds_array(k->e, tile, bytes, "a tile");
    return tile;
}

/* Vector i of a square's: rows i, i + side, i + 2 side .., of each the elements from `column` on. */
static V square_row(const RowTiles *t, V from, Element e, int side, int i, int64_t column)
{
    Kernel *k = t->k;
    int bytes = element_info[e].bytes;
    LLVMTypeRef part = LLVMVectorType(square_type(k, bytes), (unsigned)side);
    V whole = NULL, order[MAX_LANES];
    for (int row = i, width = 0; row < t->lanes; row += side, width += side) {
        V at = byte_offset(k, from, (row * t->n + column) * bytes);
        V next = LLVMBuildLoad2(k->b, part, at, "");
        LLVMSetAlignment(next, (unsigned)bytes);
        if (!whole) {
            whole = next;
            continue;
        }
        for (int l = 0; l < width + side; l++)
            order[l] = LLVMConstInt(int_type(k, 32), (unsigned)l, false);
        if (width > side) { /* operands of a shuffle are equally wide */
            V widened[MAX_LANES];
            for (int l = 0; l < width; l++)
                widened[l] = LLVMConstInt(int_type(k, 32), (unsigned)(l < side ? l : side), false);
            next = LLVMBuildShuffleVector(k->b, next, LLVMGetPoison(part),
                                          LLVMConstVector(widened, (unsigned)width), "");
        }
        whole = LLVMBuildShuffleVector(k->b, whole, next,
                                       LLVMConstVector(order, (unsigned)(width + side)), "");
    }
    return whole;
}

static void tile_fill(const RowTiles *t, int argument, Element e, V tile)
{
    Kernel *k = t->k;
    int bytes = element_info[e].bytes, side = square_side(t->n, t->lanes);
    V from = LLVMBuildInBoundsGEP2(k->b, int_type(k, 8 * bytes), k->ins[argument], &(V){ t->first },
                                   1, "");
    V rows[MAX_LANES];
    for (int64_t column = 0; column < t->n; column += side) {
        for (int i = 0; i < side; i++)
            rows[i] = square_row(t, from, e, side, i, column);
        transpose_squares(k, side, t->lanes, bytes, rows);
        for (int i = 0; i < side && column + i < t->n; i++) {
            V at = byte_offset(k, tile, (column + i) * t->lanes * bytes);
            int aligned = t->lanes * bytes < LINE ? t->lanes * bytes : LINE;
            LLVMSetAlignment(LLVMBuildStore(k->b, rows[i], at), (unsigned)aligned);
        }
    }
}

/* A view may have the elements under other indices, but not in another order. */
static bool is_same_element(const Index *at, const Index *of)
{
    while (at && at != of)
        at = at->from;
    return at;
}

static V load_from_tile(Kernel *k, int argument, Index *at)
{
    enum { LEAST_BYTES = 2, MOST_BYTES = 8 };
    RowTiles *t = k->load_user;
    Element e = element_of(k, region_at(k->m, k->region)->args + (ValueId)argument);
    int bytes = element_info[e].bytes;
    if (at->lanes != t->lanes || at->mask || !is_same_element(at, t->at) || bytes < LEAST_BYTES ||
        bytes > MOST_BYTES || is_complex(e))
        return NULL;
    V *tile = tile_of(t, argument);
    if (!tile)
        return NULL;
    if (!*tile) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b);
        *tile = tile_memory(k, t->n * t->lanes * bytes);
        LLVMPositionBuilderBefore(k->b, LLVMGetBasicBlockTerminator(t->fill));
        tile_fill(t, argument, e, *tile);
        LLVMPositionBuilderAtEnd(k->b, here);
    }
    int64_t dims[] = { t->n * t->lanes };
    V number = LLVMBuildMul(k->b, t->column, const_i64(k, t->lanes), "");
    Coord from = { number, 1, t->lanes, NULL };
    return load_element(k, *tile, e,
                        index_numbered(k, type_new(k->arena, e, 1, dims), from, t->lanes));
}

/* A block of its own is where tiles are filled, once it is known of which operands there are any. */
void row_tiles_begin(Kernel *k, RowTiles *t)
{
    t->k = k;
    t->fill = LLVMAppendBasicBlockInContext(k->c, k->function, "fill");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "filled");
    LLVMBuildBr(k->b, t->fill);
    LLVMPositionBuilderAtEnd(k->b, t->fill);
    LLVMBuildBr(k->b, after);
    LLVMPositionBuilderAtEnd(k->b, after);
    k->load = load_from_tile;
    k->load_user = t;
}

void row_tiles_end(Kernel *k)
{
    k->load = NULL;
}
