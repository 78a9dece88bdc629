/* tiles.c - the kernel that is one loop over its results and reads an operand across.
 *
 * Neighbours in a row of results may lie far apart in an operand, as in x + transpose(y): to
 * read them one by one would take a gather per vector.  Along another dimension of the results
 * they are neighbours there too.  So the loop runs over square tiles; of each such operand a
 * tile's vectors are loaded as they lie, transposed in registers and kept on the stack, from
 * which the rows of results are computed as from any array:
 *
 *     a b        a c       step s exchanges blocks of s x s across the diagonal;
 *     c d   ->   b d       16 vectors take steps 1, 2, 4, 8
 *
 * Which reads are of this kind is found by asking: the results are computed, in a function that
 * is then thrown away, with neighbours along each dimension in turn, and every read tells how
 * far apart it finds them.  So any views may lie between a result and the operand.
 *
 * Pixels, short rows of small elements, that a kernel only moves are moved whole: each is a number in a lane, of
 * the next power of two of bytes.  Their red, green and blue lie packed in memory alone. */
#include "engine/kernels/kernels.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_READS = 8, LONGEST_SIDE = 16, SHORT_STEP = 4, MOST_OF_PIXEL = 16 }; /* bytes */

/* A read of an argument: `first` + the sum of steps[d] * (index along d) is the element's number. */
typedef struct Crossing {
    int argument;
    uint64_t way;
    Element e;
    int64_t first, steps[MAX_RANK + 1];
    bool is_wanted;
    V tile; /* side x side elements */
} Crossing;

typedef struct Tiles {
    Kernel *k;
    Type shape, nest; /* as the program has it, and as it is looped over */
    int row, column;  /* dimensions of nest: the one along which operands are read, the last */
    int pixel; /* the elements of the last dimension, behind column, if they are moved as one; else 1 */
    int64_t side;
    int nreads;
    Crossing reads[MOST_READS];
    int asked; /* the dimension whose steps are asked for; -1: where the first element lies */
    V at[MAX_RANK + 1];
    V row_in_tile, column_in_tile;
} Tiles;

static Crossing *read_find(Tiles *t, int argument, const Index *at)
{
    for (int i = 0; i < t->nreads; i++)
        if (t->reads[i].argument == argument && t->reads[i].way == at->way)
            return &t->reads[i];
    return NULL;
}

/* ---- which reads go across ---- */

/* Bytes of what stands in a lane of a tile. */
static int lane_bytes(const Tiles *t, Element e)
{
    int bytes = element_info[e].bytes * t->pixel, wide = 1;
    while (wide < bytes)
        wide *= 2;
    return wide;
}

static bool goes_across(const Tiles *t, Element e, Coord number)
{
    int64_t step = number.vector ? 0 : llabs(number.step);
    int most = t->pixel > 1 ? MOST_OF_PIXEL : 8;
    return step > (element_info[e].kind == COMPLEX ? 1 : SHORT_STEP) && lane_bytes(t, e) <= most;
}

/* In place of a load: notes what is asked for. */
static V tell_steps(Kernel *k, int argument, Index *at)
{
    Tiles *t = k->load_user;
    Element e = element_of(k, region_at(k->m, k->region)->args + (ValueId)argument);
    Coord number = index_linear(k, at);
    Crossing *read = read_find(t, argument, at);
    if (!read && t->asked == t->column && at->way && !at->mask && t->nreads < MOST_READS &&
        goes_across(t, e, number)) {
        read = &t->reads[t->nreads++];
        *read = (Crossing){ .argument = argument, .way = at->way, .e = e, .is_wanted = true };
    }
    if (read && t->asked >= 0)
        read->steps[t->asked] = number.step;
    else if (read && LLVMIsAConstantInt(number.base))
        read->first = LLVMConstIntGetSExtValue(number.base);
    else if (read)
        read->is_wanted = false; /* it begins where data say */
    if (read && number.vector)
        read->is_wanted = false;
    return LLVMConstNull(value_type(k, e));
}

/* Computes the results with two neighbours along the dimension asked, anywhere. */
static void ask(Tiles *t, int dimension)
{
    Kernel *k = t->k;
    const Node *end = region_return(k->m, k->region);
    Index *at = index_new(k, t->nest, dimension < 0 ? 1 : 2);
    for (int d = 0; d < t->nest.rank; d++) {
        Coord here = { LLVMGetParam(k->function, (unsigned)d), d == dimension, 1, NULL };
        index_set(at, d, dimension < 0 ? coord_const(k, 0) : here);
    }
    t->asked = dimension;
    memo_clear(k);
    k->lanes = at->lanes;
    Index *in_shape = index_reshape(k, at, t->shape);
    for (int i = 0; i < end->nin; i++)
        element(k, end->in[i], in_shape);
}

/* In a function that is thrown away. */
static void ask_all(Tiles *t)
{
    Kernel *k = t->k;
    Trial trial = trial_begin(k, t->nest.rank);
    k->load = tell_steps;
    k->load_user = t;
    ask(t, t->column);
    for (int d = -1; d < t->nest.rank && t->nreads; d++)
        if (d != t->column)
            ask(t, d);
    k->load = NULL;
    trial_end(k, &trial);
}

/* The dimension along which most of these reads find neighbours; the others are not for tiles. */
static int choose_row(Tiles *t)
{
    int best = 0;
    t->row = -1;
    for (int d = 0; d < t->column; d++) {
        int n = 0;
        for (int i = 0; i < t->nreads; i++)
            n += t->reads[i].is_wanted && llabs(t->reads[i].steps[d]) == t->pixel;
        if (n > best && t->nest.dims[d] > SHORT_STEP) {
            best = n;
            t->row = d;
        }
    }
    for (int i = 0; i < t->nreads; i++)
        t->reads[i].is_wanted =
            t->reads[i].is_wanted && t->row >= 0 && llabs(t->reads[i].steps[t->row]) == t->pixel;
    return best;
}

/* As long as a cache line has elements, of the shortest of them; large tiles run faster and take
 * longer to compile. */
static int64_t choose_side(const Tiles *t)
{
    enum { MANY = 1 << 16, LINE = 64 };
    int64_t side = 8;
    for (int i = 0; i < t->nreads; i++) {
        int bytes = lane_bytes(t, t->reads[i].e);
        if (t->reads[i].is_wanted && LINE / bytes > side && type_count(t->shape) >= MANY)
            side = LINE / bytes < LONGEST_SIDE ? LINE / bytes : LONGEST_SIDE;
    }
    while (side > t->nest.dims[t->row] || side > t->nest.dims[t->column])
        side /= 2;
    return side;
}

bool has_transpose(const Kernel *k)
{
    const Region *region = region_at(k->m, k->region);
    for (int i = 0; i < region->nnodes; i++)
        if (node_at(k->m, region->nodes[i])->op == OP_TRANSPOSE)
            return true;
    return false;
}

/* Is each result an element of the argument, by way of views that leave none out and ask for nothing else? */
static bool is_view(const Kernel *k)
{
    const Region *region = region_at(k->m, k->region);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(k->m, region->nodes[i]);
        OpId op = node->op;
        if (op != OP_TRANSPOSE && op != OP_REVERSE && op != OP_SLICE && op != OP_RESHAPE &&
            node_flow(node) != FLOW_END)
            return false;
    }
    return region->nargs == 1 && region_return(k->m, k->region)->nin == 1;
}

/* How many elements of the last dimension are moved as one. */
static int pixel_of(const Kernel *k, Type nest)
{
    int64_t n = nest.rank > 2 ? nest.dims[nest.rank - 1] : 1;
    bool is_pixel = n > 1 && n <= SHORT_STEP && is_view(k) && !is_complex(nest.element) &&
                    n * element_info[nest.element].bytes <= MOST_OF_PIXEL;
    return is_pixel ? (int)n : 1;
}

/* A pixel's elements are neighbours in the operand too. */
static bool has_whole_pixels(const Tiles *t)
{
    return t->pixel == 1 || t->reads[0].steps[t->nest.rank - 1] == 1;
}

static bool tiles_of(Kernel *k, Type shape, Type nest, Tiles *t)
{
    if (nest.rank < 2 || type_count(shape) < 64 || !has_transpose(k))
        return false;
    *t = (Tiles){ .k = k, .shape = shape, .nest = nest, .pixel = pixel_of(k, nest) };
    t->column = nest.rank - (t->pixel > 1 ? 2 : 1);
    if (nest.dims[t->column] <= SHORT_STEP)
        return false;
    ask_all(t);
    if (k->error || !choose_row(t) || !has_whole_pixels(t))
        return false;
    t->side = choose_side(t);
    return true;
}

/* ---- one tile ---- */

/* The square of n x n at (i, j) of a tile of which `columns` are there; from: where the tile's first lies.  Where
 * neighbours along a row of results lie FAR apart, bytes, in the operand, so many lines of it are under way
 * that the processor reads none of them ahead: it is told to, AHEAD tiles. */
enum { FAR = 2048, AHEAD = 4 };

/* n lanes of so many bytes: those of 16 are two. */
static LLVMTypeRef lanes_type(Kernel *k, int bytes, int n)
{
    int each = bytes > 8 ? 2 : 1;
    return LLVMVectorType(square_type(k, bytes / each), (unsigned)(n * each));
}

static LLVMTypeRef bytes_type(Kernel *k, int n)
{
    return LLVMVectorType(int_type(k, 8), (unsigned)n);
}

/* n lanes of a tile, from where they lie. */
static V load_lanes(const Tiles *t, const Crossing *c, V at, int n)
{
    Kernel *k = t->k;
    int bytes = element_info[c->e].bytes, wide = lane_bytes(t, c->e), packed = bytes * t->pixel;
    LLVMTypeRef vector = lanes_type(k, wide, n);
    if (packed < wide)
        return LLVMBuildBitCast(k->b, spread_load(k, at, n, packed, wide), vector, "");
    V lanes = LLVMBuildLoad2(k->b, vector, at, "");
    LLVMSetAlignment(lanes, bytes > 4 ? 4 : (unsigned)bytes);
    return lanes;
}

static void fill_square(const Tiles *t, const Crossing *c, V from, int n, int64_t i, int64_t j,
                        int64_t columns)
{
    Kernel *k = t->k;
    int bytes = element_info[c->e].bytes, wide = lane_bytes(t, c->e);
    LLVMTypeRef vector = lanes_type(k, wide, n);
    bool is_backwards = c->steps[t->row] < 0;
    int64_t later = (is_backwards ? -AHEAD : AHEAD) * t->side * t->pixel;
    V rows[LONGEST_SIDE];
    for (int l = 0; l < n; l++) {
        rows[l] = LLVMGetPoison(vector);
        if (j + l >= columns)
            continue;
        int64_t by = c->steps[t->column] * (j + l) + (is_backwards ? 1 - i - n : i) * t->pixel;
        rows[l] = load_lanes(t, c, byte_offset(k, from, by * bytes), n);
        if (llabs(c->steps[t->column]) * bytes >= FAR)
            prefetch_element(k, from, c->e, const_i64(k, by + later));
    }
    transpose_squares(k, n, n, wide, rows);
    for (int l = 0; l < n; l++) {
        int64_t row = is_backwards ? i + n - 1 - l : i + l;
        V at = byte_offset(k, c->tile, (row * t->side + j) * wide);
        LLVMSetAlignment(LLVMBuildStore(k->b, rows[l], at), (unsigned)(n * wide));
    }
}

static void fill_tile(const Tiles *t, const Crossing *c, int64_t columns)
{
    Kernel *k = t->k;
    int n = k->e->vector_bytes / lane_bytes(t, c->e);
    n = n < t->side ? n : (int)t->side;
    V number = const_i64(k, c->first);
    for (int d = 0; d <= t->column; d++) {
        V along = LLVMBuildMul(k->b, t->at[d], const_i64(k, c->steps[d]), "");
        number = LLVMBuildAdd(k->b, number, along, "");
    }
    V from = LLVMBuildGEP2(k->b, square_type(k, element_info[c->e].bytes), k->ins[c->argument],
                           &number, 1, "");
    for (int64_t i = 0; i < t->side; i += n)
        for (int64_t j = 0; j < columns; j += n)
            fill_square(t, c, from, n, i, j, columns);
}

static V number_in_tile(const Tiles *t)
{
    Kernel *k = t->k;
    V row = LLVMBuildMul(k->b, t->row_in_tile, const_i64(k, t->side), "");
    return LLVMBuildAdd(k->b, row, t->column_in_tile, "");
}

/* In place of a load: from a tile that was filled. */
static V load_from_tile(Kernel *k, int argument, Index *at)
{
    Tiles *t = k->load_user;
    const Crossing *c = at->lanes > 1 ? read_find(t, argument, at) : NULL;
    if (!c || !c->is_wanted)
        return NULL;
    int64_t dims[] = { t->side * t->side };
    Coord number = { number_in_tile(t), 1, 1, NULL };
    Type tile = type_new(k->arena, c->e, 1, dims);
    return load_element(k, c->tile, c->e, index_numbered(k, tile, number, at->lanes));
}

/* Pixels are packed again where they are stored. */
static void store_pixels(const Tiles *t, Index *at, int lanes)
{
    Kernel *k = t->k;
    const Crossing *c = &t->reads[0];
    int bytes = element_info[c->e].bytes, wide = lane_bytes(t, c->e), packed = bytes * t->pixel;
    V from = LLVMBuildMul(k->b, number_in_tile(t), const_i64(k, wide), "");
    from = LLVMBuildInBoundsGEP2(k->b, int_type(k, 8), c->tile, &from, 1, "");
    V pixels = LLVMBuildLoad2(k->b, bytes_type(k, lanes * wide), from, "");
    LLVMSetAlignment(pixels, (unsigned)wide);
    if (packed < wide)
        pixels = packed_bytes(k, pixels, lanes, wide, packed);
    V number = index_linear(k, at).base;
    V to = LLVMBuildInBoundsGEP2(k->b, int_type(k, 8 * bytes), k->outs[0], &number, 1, "");
    LLVMSetAlignment(LLVMBuildStore(k->b, pixels, to), bytes > 4 ? 4 : (unsigned)bytes);
}

/* Results of some neighbours in a row.  Each is computed before any is stored: a result may lie
 * where an operand does. */
static void results_at(Tiles *t, V row, Coord column, int lanes)
{
    Kernel *k = t->k;
    const Node *end = region_return(k->m, k->region);
    Index *at = index_new(k, t->nest, lanes);
    V *values = ARENA_ARRAY(k->arena, V, end->nin);
    for (int d = 0; d < t->column; d++)
        index_set(at, d, coord_uniform(k, d == t->row ? row : t->at[d]));
    index_set(at, t->column, column);
    if (t->pixel > 1) {
        index_set(at, t->column + 1, coord_const(k, 0));
        store_pixels(t, at, lanes);
        return;
    }
    memo_clear(k);
    k->lanes = lanes;
    Index *in_shape = index_reshape(k, at, t->shape);
    for (int i = 0; i < end->nin; i++)
        values[i] = element(k, end->in[i], in_shape);
    for (int i = 0; i < end->nin && !k->error; i++)
        store_element(k, k->outs[i], element_of(k, end->in[i]), in_shape, values[i]);
}

/* One row of results in a tile of so many columns. */
static void row_at(Tiles *t, V row, int64_t columns)
{
    Kernel *k = t->k;
    int64_t most = t->pixel > 1 ? k->e->vector_bytes / lane_bytes(t, t->reads[0].e) : k->width;
    int64_t lanes = most < columns ? most : columns, full = columns / lanes * lanes;
    V first = t->at[t->column];
    Loop loop;
    loop_begin(k, &loop, full, lanes, 0, NULL);
    t->column_in_tile = loop.i;
    bool is_aligned = lanes == t->side && t->nest.dims[t->column] % t->side == 0;
    Coord column = { LLVMBuildAdd(k->b, first, loop.i, ""), 1, is_aligned ? t->side : 1, NULL };
    results_at(t, row, column, (int)lanes);
    loop_end(k, &loop, NULL);
    if (full == columns)
        return;
    t->column_in_tile = const_i64(k, full);
    column.base = LLVMBuildAdd(k->b, first, t->column_in_tile, "");
    column.multiple = 1;
    results_at(t, row, column, (int)(columns - full));
}

/* The last tile of rows begins earlier where less than its side is left; its results do not. */
static void tile_at(Tiles *t, V row, V column, int64_t columns)
{
    Kernel *k = t->k;
    int64_t n = t->nest.dims[t->row];
    V first = row, end = LLVMBuildAdd(k->b, row, const_i64(k, t->side), "");
    if (n % t->side) {
        first = INTRINSIC(k, "llvm.umin", row, const_i64(k, n - t->side));
        end = INTRINSIC(k, "llvm.umin", end, const_i64(k, n));
    }
    t->at[t->row] = first;
    t->at[t->column] = column;
    for (int i = 0; i < t->nreads; i++)
        if (t->reads[i].is_wanted)
            fill_tile(t, &t->reads[i], columns);
    Loop loop;
    loop_between(k, &loop, row, end, 1, 0, NULL);
    t->row_in_tile = LLVMBuildSub(k->b, loop.i, first, "");
    row_at(t, loop.i, columns);
    loop_end(k, &loop, NULL);
}

/* ---- all tiles ---- */

/* Where less than a tile is left the last one begins earlier, and stores some results again; if they lie where
 * operands did, it is narrower, which takes code of its own. */
static void tiles_of_row(Tiles *t, V row, bool is_cut)
{
    Kernel *k = t->k;
    int64_t n = t->nest.dims[t->column], full = n / t->side * t->side;
    int64_t end = k->repeats ? n : full;
    Loop loop;
    if (is_cut)
        slice_loop(k, &loop, end, t->side);
    else
        loop_begin(k, &loop, end, t->side, 0, NULL);
    V column = full == end ? loop.i : INTRINSIC(k, "llvm.umin", loop.i, const_i64(k, n - t->side));
    tile_at(t, row, column, t->side);
    loop_end(k, &loop, NULL);
    if (end == n)
        return;
    LLVMBasicBlockRef after = is_cut ? last_slice_begin(k) : NULL;
    tile_at(t, row, const_i64(k, full), n - full);
    if (after)
        last_slice_end(k, after);
}

static void make_tiles(Tiles *t)
{
    Kernel *k = t->k;
    for (int i = 0; i < t->nreads; i++) {
        Crossing *c = &t->reads[i];
        int64_t bytes = t->side * t->side * lane_bytes(t, c->e);
        if (!c->is_wanted)
            continue;
        c->tile = LLVMBuildAlloca(k->b, LLVMArrayType2(int_type(k, 8), (uint64_t)bytes), "tile");
        LLVMSetAlignment(c->tile, 64);
        bounds_array(k->e, c->tile, bytes, "a tile");
    }
}

bool tiles_emit(Kernel *k, Type shape, Type nest)
{
    Tiles t;
    Loop loops[MAX_RANK + 1];
    int64_t extents[MAX_RANK + 1], step[MAX_RANK + 1];
    if (!tiles_of(k, shape, nest, &t))
        return false;
    make_tiles(&t);
    for (int d = 0; d <= t.column; d++) {
        step[d] = d == t.row || d == t.column ? t.side : 1;
        extents[d] = nest.dims[d] / step[d];
    }
    int cut = slices_choose(k, t.column + 1, extents);
    for (int d = 0; d < t.column; d++) {
        if (d == cut)
            slice_loop(k, &loops[d], nest.dims[d], step[d]);
        else
            loop_begin(k, &loops[d], nest.dims[d], step[d], 0, NULL);
        t.at[d] = loops[d].i;
    }
    k->load = load_from_tile;
    k->load_user = &t;
    tiles_of_row(&t, loops[t.row].i, cut == t.column);
    k->load = NULL;
    for (int d = t.column - 1; d >= 0; d--)
        loop_end(k, &loops[d], NULL);
    return true;
}

bool pixels_emit(Kernel *k, Type shape, Type nest)
{
    return has_transpose(k) && pixel_of(k, nest) > 1 && tiles_emit(k, shape, nest);
}
