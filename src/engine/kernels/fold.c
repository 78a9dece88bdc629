/* fold.c - combining along dimensions.
 *
 * In: a space of kept and reduced dimensions, the value at an index, how to combine two.
 * Out: loops.  The last dimension decides what is in the lanes:
 *
 *   last is kept      for kept { for reduced { acc[v] += 16 neighbours each } store acc }
 *   last is reduced   for kept { for reduced { acc[u] += 16 at a time } add lanes; store one }
 *   and short         for kept { for reduced { acc += one of each of 16 rows } store acc }
 *
 * Several accumulators run side by side, since one addition waits for the one before it; that
 * takes an identity to start them all with.  Without one there is one accumulator, and lanes
 * only where results are neighbours.  A fold in order has one too; where its last dimension is
 * reduced, values are still made 16 at a time, and then added lane by lane.
 *
 * A long sum loses digits with each term that an accumulator takes in.  So a loop of many rounds is
 * cut into blocks, and these into blocks, whose accumulators begin anew (kernels.h):
 *
 *     10000 rounds   for 2 { for 16 { for 16 { for 32 { b += x }  c += b }  d += c }  acc += d } */
#include "engine/kernels/kernels.h"

#include "base/fail.h"

#include <string.h>

/* The dimensions after joining, and where the loops stand in them. */
typedef struct Nest {
    int n;
    int64_t dims[MAX_RANK + 1];
    bool reduced[MAX_RANK + 1];
    Coord at[MAX_RANK + 1];
} Nest;

static Nest nest_of(const Fold *f)
{
    Nest nest = { 0 };
    for (int d = 0; d < f->space.rank; d++) {
        int last = nest.n - 1;
        if (nest.n && nest.dims[last] == 1) { /* an extent of 1 goes with any neighbour */
            nest.reduced[last] = f->reduced[d];
            nest.dims[last] = f->space.dims[d];
        } else if (nest.n && (f->space.dims[d] == 1 ||
                              (f->joined[d - 1] && f->reduced[d] == nest.reduced[last]))) {
            nest.dims[last] *= f->space.dims[d];
        } else {
            nest.reduced[nest.n] = f->reduced[d];
            nest.dims[nest.n++] = f->space.dims[d];
        }
    }
    return nest;
}

static Index *space_index(Kernel *k, const Fold *f, const Nest *nest, int lanes)
{
    memo_clear(k);
    k->lanes = lanes;
    Index *at = index_new(k, type_new(k->arena, F32, nest->n, nest->dims), lanes);
    for (int d = 0; d < nest->n; d++)
        index_set(at, d, nest->at[d]);
    return index_reshape(k, at, f->space);
}

static Index *out_index(Kernel *k, const Fold *f, const Nest *nest, int lanes)
{
    int64_t dims[MAX_RANK + 1];
    Coord at[MAX_RANK + 1];
    int n = 0;
    for (int d = 0; d < nest->n; d++)
        if (!nest->reduced[d]) {
            at[n] = nest->at[d];
            dims[n++] = nest->dims[d];
        }
    memo_clear(k);
    k->lanes = lanes;
    Index *kept = index_new(k, type_new(k->arena, F32, n, dims), lanes);
    for (int d = 0; d < n; d++)
        index_set(kept, d, at[d]);
    return index_reshape(k, kept, f->out);
}

static void accumulate(Kernel *k, const Fold *f, const Nest *nest, int lanes, V *acc)
{
    V *next = ARENA_ARRAY(k->arena, V, f->n);
    k->is_strict = f->is_strict;
    f->values(k, f, space_index(k, f, nest, lanes), next);
    (f->step ? f->step : f->combine)(k, f, acc, next);
    k->is_strict = false;
}

/* ---- loops in blocks ---- */

/* A loop whose every round adds to all accumulators. */
typedef struct Rounds {
    const Fold *f;
    int64_t step;  /* from one round's i to the next one's */
    int64_t terms; /* that a round adds to an accumulator; 1 where it makes them itself */
    int nacc, lanes;
    void (*round)(Kernel *k, void *user, Loop *loop, V *acc);
    void *user;
} Rounds;

static void start_all(Kernel *k, const Fold *f, int lanes, int nacc, V *acc)
{
    k->lanes = lanes;
    memo_clear(k);
    f->start(k, f, acc);
    for (int i = f->n; i < nacc; i++)
        acc[i] = acc[i % f->n];
}

/* The rounds from i = from up to end, which are n at most.  A few that are known are written out: accumulators
 * then begin as what the first of them adds. */
static void rounds_emit(Kernel *k, const Rounds *r, int64_t n, V from, V end, V *acc)
{
    enum { FEW_STEPS = 32 };
    int64_t each = r->f->is_rounded ? chain_block(n, r->terms) : n;
    Loop loop;
    if (r->nacc * n * r->terms * r->f->weight <= FEW_STEPS && LLVMIsConstant(from)) {
        for (int64_t i = 0; i < n; i++) {
            loop = (Loop){ .i = LLVMBuildAdd(k->b, from, const_i64(k, i * r->step), ""),
                           .step = r->step };
            r->round(k, r->user, &loop, acc);
        }
        return;
    }
    if (each >= n) {
        loop_between(k, &loop, from, end, r->step, r->nacc, acc);
        r->round(k, r->user, &loop, acc);
        loop_end(k, &loop, acc);
        return;
    }
    V block[MAX_CARRIED];
    loop_between(k, &loop, from, end, each * r->step, r->nacc, acc);
    V to = LLVMBuildAdd(k->b, loop.i, const_i64(k, each * r->step), "");
    start_all(k, r->f, r->lanes, r->nacc, block);
    rounds_emit(k, r, each, loop.i, INTRINSIC(k, "llvm.umin", to, end), block);
    k->lanes = r->lanes;
    memo_clear(k);
    for (int i = 0; i < r->nacc; i += r->f->n)
        r->f->combine(k, r->f, acc + i, block + i);
    loop_end(k, &loop, acc);
}

/* Accumulators 0, apart, 2 apart ... become one: neighbours first, then those. */
static void combine_ways(Kernel *k, const Fold *f, int nways, int apart, V *acc)
{
    for (int gap = 1; gap < nways; gap *= 2)
        for (int way = 0; way + gap < nways; way += 2 * gap)
            f->combine(k, f, acc + way * apart, acc + (way + gap) * apart);
}

/* How many terms an accumulator takes in one after the other, after the reduced loops from d on;
 * nways of them share the last one. */
static int64_t terms_from(const Fold *f, const Nest *nest, int d, int64_t nways)
{
    while (d < nest->n && !nest->reduced[d])
        d++;
    if (d >= nest->n)
        return 1;
    int64_t inside = terms_from(f, nest, d + 1, nways);
    bool is_last = true;
    for (int i = d + 1; i < nest->n; i++)
        is_last = is_last && !nest->reduced[i];
    int64_t n = is_last ? nest->dims[d] / nways : nest->dims[d];
    return f->is_rounded ? chain_terms(n < 1 ? 1 : n, inside) : 1;
}

/* ---- the reduced loops, when lanes are kept neighbours ---- */

/* One block: nvectors of `lanes` results, next to one another. */
typedef struct Block {
    int lanes, nvectors;
    Coord base; /* along the last dimension */
    int nways;  /* accumulators per vector */
} Block;

static void block_step(Kernel *k, const Fold *f, Nest *nest, const Block *b, int way, V *acc)
{
    int last = nest->n - 1;
    for (int v = 0; v < b->nvectors; v++) {
        nest->at[last] = coord_add_const(k, b->base, (int64_t)v * b->lanes, b->lanes);
        accumulate(k, f, nest, b->lanes, acc + (way * b->nvectors + v) * f->n);
    }
}

/* The reduced loops of a block from dimension d on. */
typedef struct BlockLoops {
    const Fold *f;
    Nest *nest;
    const Block *b;
    int d;
} BlockLoops;

static void block_loops(Kernel *k, const Fold *f, Nest *nest, int d, const Block *b, V *acc);

/* Elements from one row to the next. */
static int64_t row_length(const Nest *nest, int d)
{
    int64_t n = 1;
    for (int i = d + 1; i < nest->n; i++)
        n *= nest->dims[i];
    return n;
}

/* In place of a load, which is still to be made: asks for the row that comes some rounds later, since
 * no machine foresees steps of a page.  Only arrays as large as the space are walked so. */
static V fetch_ahead(Kernel *k, int argument, Index *at)
{
    enum { ROWS_AHEAD = 6 };
    const BlockLoops *l = k->load_user;
    Type type = type_of(k->m, region_at(k->m, k->region)->args + (ValueId)argument);
    Coord number = index_linear(k, at);
    if (at->lanes == 1 || !type_same_shape(type, l->f->space) || number.vector || number.step != 1)
        return NULL;
    int64_t by = ROWS_AHEAD * row_length(l->nest, l->d);
    V later = LLVMBuildAdd(k->b, number.base, const_i64(k, by), "");
    prefetch_element(k, k->ins[argument], type.element, later);
    return NULL;
}

static void rows_round(Kernel *k, void *user, Loop *loop, V *acc)
{
    enum { FAR = 512 };
    const BlockLoops *at = user;
    if (row_length(at->nest, at->d) >= FAR) {
        k->load = fetch_ahead;
        k->load_user = user;
    }
    for (int way = 0; way < at->b->nways; way++) {
        at->nest->at[at->d] = coord_add_const(k, loop_coord(loop, 0), way, 1);
        block_step(k, at->f, at->nest, at->b, way, acc);
    }
    k->load = NULL;
}

/* The loop over dimension d, the innermost reduced one, several rows at a time. */
static void block_rows(Kernel *k, const Fold *f, Nest *nest, int d, const Block *b, V *acc)
{
    int64_t n = nest->dims[d] / b->nways, full = n * b->nways;
    BlockLoops at = { f, nest, b, d };
    Rounds r = { f, b->nways, 1, b->nvectors * b->nways * f->n, b->lanes, rows_round, &at };
    if (n)
        rounds_emit(k, &r, n, const_i64(k, 0), const_i64(k, full), acc);
    for (int64_t i = full; i < nest->dims[d]; i++) {
        nest->at[d] = coord_const(k, i);
        block_step(k, f, nest, b, (int)(i - full), acc);
    }
}

static void block_round(Kernel *k, void *user, Loop *loop, V *acc)
{
    const BlockLoops *at = user;
    at->nest->at[at->d] = loop_coord(loop, 0);
    block_loops(k, at->f, at->nest, at->d + 1, at->b, acc);
}

/* The reduced dimensions from d on. */
static void block_loops(Kernel *k, const Fold *f, Nest *nest, int d, const Block *b, V *acc)
{
    int next = d + 1;
    while (d < nest->n && !nest->reduced[d])
        d++, next++;
    while (next < nest->n && !nest->reduced[next])
        next++;
    if (d >= nest->n) {
        block_step(k, f, nest, b, 0, acc);
        return;
    }
    if (next >= nest->n) {
        block_rows(k, f, nest, d, b, acc);
        return;
    }
    BlockLoops at = { f, nest, b, d };
    Rounds r = { f,
                 1,
                 terms_from(f, nest, next, b->nways),
                 b->nvectors * b->nways * f->n,
                 b->lanes,
                 block_round,
                 &at };
    rounds_emit(k, &r, nest->dims[d], const_i64(k, 0), const_i64(k, nest->dims[d]), acc);
}

static void block_emit(Kernel *k, const Fold *f, Nest *nest, const Block *b)
{
    V acc[MAX_CARRIED];
    int nvalues = b->nvectors * f->n;
    start_all(k, f, b->lanes, nvalues * b->nways, acc);
    if (type_count(f->space))
        block_loops(k, f, nest, 0, b, acc);
    k->lanes = b->lanes;
    for (int v = 0; v < nvalues; v += f->n)
        combine_ways(k, f, b->nways, nvalues, acc + v);
    for (int v = 0; v < b->nvectors; v++) {
        nest->at[nest->n - 1] = coord_add_const(k, b->base, (int64_t)v * b->lanes, b->lanes);
        f->done(k, f, out_index(k, f, nest, b->lanes), acc + v * f->n);
    }
}

/* How many vectors of results at once, and how many rows: about eight accumulators. */
static int vectors_at_once(const Fold *f)
{
    int most = f->weight <= 8 ? 8 : f->weight <= 24 ? 4 : f->weight <= 48 ? 2 : 1;
    while (most > 1 && most * f->n > MAX_CARRIED / 4)
        most /= 2;
    return most;
}

static int ways(const Fold *f, const Nest *nest, int nvectors)
{
    /* So many operations keep a processor busy while a FEW accumulators wait for their sums. */
    enum { FEW = 4, ENOUGH = 24 };
    int64_t rows = 1;
    for (int d = 0; d < nest->n; d++)
        if (nest->reduced[d])
            rows = nest->dims[d]; /* of the innermost */
    int n = f->has_identity && !f->in_order ? vectors_at_once(f) / nvectors : 1;
    while (n > 1 && (n > rows || (n > FEW && n * f->weight >= ENOUGH)))
        n /= 2;
    return n < 1 ? 1 : n;
}

/* The same for so many vectors of results: as few fewer as leave none over, which would be code of its own. */
static int vectors_of_block(const Fold *f, int64_t vectors)
{
    int most = vectors_at_once(f);
    for (int n = most; 2 * n > most; n--)
        if (vectors % n == 0)
            return n;
    return most;
}

static void lanes_are_kept(Kernel *k, const Fold *f, Nest *nest, bool is_cut)
{
    int64_t n = nest->dims[nest->n - 1];
    int64_t nfull = n / k->width;
    int most = vectors_of_block(f, nfull);
    int64_t nblocks = nfull / most;
    int rest = (int)(nfull % most), tail = (int)(n % k->width);
    Block b = { .lanes = k->width, .nvectors = most, .nways = ways(f, nest, most) };
    if (nblocks) {
        Loop loop;
        int64_t end = nblocks * most * k->width, step = (int64_t)most * k->width;
        if (is_cut)
            slice_loop(k, &loop, end, step);
        else
            loop_begin(k, &loop, end, step, 0, NULL);
        b.base = loop_coord(&loop, 1);
        block_emit(k, f, nest, &b);
        loop_end(k, &loop, NULL);
    }
    int64_t at = nblocks * most * k->width;
    LLVMBasicBlockRef after = is_cut ? last_slice_begin(k) : NULL;
    if (rest) {
        b = (Block){ k->width, rest, { const_i64(k, at), 1, at, NULL }, ways(f, nest, rest) };
        block_emit(k, f, nest, &b);
    }
    at += (int64_t)rest * k->width;
    if (tail) {
        b = (Block){ tail, 1, { const_i64(k, at), 1, at, NULL }, ways(f, nest, 1) };
        block_emit(k, f, nest, &b);
    }
    if (after)
        last_slice_end(k, after);
}

/* ---- when lanes are reduced ---- */

typedef struct Row {
    int lanes; /* of the accumulators: a power of two */
    int nways;
    bool by_pairs; /* ways 0 and 1 take the same vectors of pairs, and so do 2 and 3 ... */
} Row;

static V part(Kernel *k, V v, V other, int n, int first, int size)
{
    V order[MAX_LANES];
    require(n <= MAX_LANES);
    for (int i = 0; i < n; i++) {
        int from = first + i < size ? first + i : size; /* lane 0 of other */
        order[i] = LLVMConstInt(int_type(k, 32), (unsigned)from, false);
    }
    return LLVMBuildShuffleVector(k->b, v, other, LLVMConstVector(order, (unsigned)n), "");
}

/* Lanes first .. first + n of v, and where v (of `size` lanes) ends, lane 0 of other. */
static V lanes_from(Kernel *k, V v, V other, int n, int first, int size)
{
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMStructTypeKind)
        return part(k, v, other, n, first, size);
    V parts[2];
    for (unsigned i = 0; i < 2; i++)
        parts[i] = part(k, LLVMBuildExtractValue(k->b, v, i, ""),
                        LLVMBuildExtractValue(k->b, other, i, ""), n, first, size);
    LLVMTypeRef types[] = { LLVMTypeOf(parts[0]), LLVMTypeOf(parts[1]) };
    V both = LLVMGetPoison(LLVMStructTypeInContext(k->c, types, 2, false));
    both = LLVMBuildInsertValue(k->b, both, parts[0], 0, "");
    return LLVMBuildInsertValue(k->b, both, parts[1], 1, "");
}

/* 16 lanes become one: halves are combined until one is left. */
static void combine_lanes(Kernel *k, const Fold *f, int lanes, V *acc)
{
    V *high = ARENA_ARRAY(k->arena, V, f->n);
    while (lanes > 1) {
        int half = lanes / 2;
        for (int i = 0; i < f->n; i++) {
            high[i] = half == 1 ? extract_lane(k, acc[i], 1)
                                : lanes_from(k, acc[i], acc[i], half, half, lanes);
            acc[i] = half == 1 ? extract_lane(k, acc[i], 0)
                               : lanes_from(k, acc[i], acc[i], half, 0, lanes);
        }
        k->lanes = lanes = half;
        memo_clear(k);
        f->combine(k, f, acc, high);
    }
}

/* A piece narrower than the accumulators: the lanes it lacks are the identity. */
static void row_tail(Kernel *k, const Fold *f, Nest *nest, int64_t from, int lanes, const Row *row,
                     V *acc)
{
    V *next = ARENA_ARRAY(k->arena, V, f->n), *none = ARENA_ARRAY(k->arena, V, f->n);
    nest->at[nest->n - 1] = (Coord){ const_i64(k, from), 1, from, NULL };
    k->is_strict = f->is_strict;
    f->values(k, f, space_index(k, f, nest, lanes), next);
    k->is_strict = false;
    if (lanes < row->lanes) {
        k->lanes = lanes;
        f->start(k, f, none);
        for (int i = 0; i < f->n; i++)
            next[i] = lanes == 1 ? lanes_from(k, splat(k, next[i], 2), splat(k, none[i], 2),
                                              row->lanes, 1, 2)
                                 : lanes_from(k, next[i], none[i], row->lanes, 0, lanes);
    }
    k->lanes = row->lanes;
    f->combine(k, f, acc, next);
}

/* The reduced loops of a row from dimension d on. */
typedef struct RowLoops {
    const Fold *f;
    Nest *nest;
    const Row *row;
    int d;
} RowLoops;

static void row_loops(Kernel *k, const Fold *f, Nest *nest, int d, const Row *row, V *acc);

static void vectors_round(Kernel *k, void *user, Loop *loop, V *acc)
{
    const RowLoops *at = user;
    int lanes = at->row->lanes;
    bool by_pairs = at->row->by_pairs;
    for (int way = 0; way < at->row->nways; way++) {
        int from = by_pairs ? way / 2 * 2 * lanes + way % 2 : way * lanes;
        at->nest->at[at->d] = coord_add_const(k, loop_coord(loop, by_pairs ? 2 : 1), from, lanes);
        accumulate(k, at->f, at->nest, lanes, acc + way * at->f->n);
    }
}

static void row_emit(Kernel *k, const Fold *f, Nest *nest, const Row *row, V *acc)
{
    int last = nest->n - 1, step = row->lanes * row->nways;
    int64_t n = nest->dims[last], full = n / step * step;
    RowLoops at = { f, nest, row, last };
    Rounds r = { f, step, 1, row->nways * f->n, row->lanes, vectors_round, &at };
    if (full)
        rounds_emit(k, &r, n / step, const_i64(k, 0), const_i64(k, full), acc);
    int way = 0;
    for (; full + row->lanes <= n; full += row->lanes)
        row_tail(k, f, nest, full, row->lanes, row, acc + way++ * f->n);
    if (full < n)
        row_tail(k, f, nest, full, (int)(n - full), row, acc + way * f->n);
}

/* The same with one accumulator of one lane. */
static void row_in_order(Kernel *k, const Fold *f, Nest *nest, V *acc)
{
    int64_t n = nest->dims[nest->n - 1];
    V *next = ARENA_ARRAY(k->arena, V, f->n), *one = ARENA_ARRAY(k->arena, V, f->n);
    k->is_strict = f->is_strict;
    for (int64_t from = 0; from < n; from += k->width) {
        int lanes = (int)(n - from < k->width ? n - from : k->width);
        nest->at[nest->n - 1] = (Coord){ const_i64(k, from), 1, from, NULL };
        f->values(k, f, space_index(k, f, nest, lanes), next);
        for (int lane = 0; lane < lanes; lane++) {
            for (int i = 0; i < f->n; i++)
                one[i] = extract_lane(k, next[i], lane);
            k->lanes = 1;
            memo_clear(k);
            f->combine(k, f, acc, one);
        }
    }
    k->is_strict = false;
}

static void row_round(Kernel *k, void *user, Loop *loop, V *acc)
{
    const RowLoops *at = user;
    at->nest->at[at->d] = loop_coord(loop, 0);
    row_loops(k, at->f, at->nest, at->d + 1, at->row, acc);
}

static void row_loops(Kernel *k, const Fold *f, Nest *nest, int d, const Row *row, V *acc)
{
    while (d < nest->n - 1 && !nest->reduced[d])
        d++;
    if (d >= nest->n - 1) {
        if (f->in_order)
            row_in_order(k, f, nest, acc);
        else
            row_emit(k, f, nest, row, acc);
        return;
    }
    RowLoops at = { f, nest, row, d };
    Rounds r = { f,
                 1,
                 terms_from(f, nest, d + 1, (int64_t)row->lanes * row->nways),
                 row->nways * f->n,
                 row->lanes,
                 row_round,
                 &at };
    rounds_emit(k, &r, nest->dims[d], const_i64(k, 0), const_i64(k, nest->dims[d]), acc);
}

static void lanes_are_reduced(Kernel *k, const Fold *f, Nest *nest)
{
    int64_t n = nest->dims[nest->n - 1];
    Row row = { 1, 1, false };
    if (f->has_identity && !f->in_order) {
        while (row.lanes < k->width && row.lanes < n)
            row.lanes *= 2;
        row.nways = vectors_at_once(f) < 4 ? vectors_at_once(f) : 4;
        while (row.nways > 1 && (int64_t)row.nways * row.lanes > n)
            row.nways /= 2;
        row.by_pairs = f->by_pairs && row.nways > 1;
    }
    V acc[MAX_CARRIED];
    start_all(k, f, row.lanes, row.nways * f->n, acc);
    if (type_count(f->space))
        row_loops(k, f, nest, 0, &row, acc);
    k->lanes = row.lanes;
    memo_clear(k);
    combine_ways(k, f, row.nways, f->n, acc);
    combine_lanes(k, f, row.lanes, acc);
    f->done(k, f, out_index(k, f, nest, 1), acc);
}

/* ---- when lanes are rows ---- */

enum { FEW_COLUMNS = 4 };

/* Lanes may be combined with one another, in any order. */
static bool is_any_order(const Fold *f)
{
    return f->n == 1 && f->has_identity && !f->in_order;
}

/* Rows of a few elements: to combine lanes with one another would take longer than to combine them with what
 * came before.  That of sums, one instruction a step, does not, unless most lanes would stand empty. */
static bool has_short_rows(const Kernel *k, const Fold *f, const Nest *nest)
{
    enum { LONGEST = 32, LEAST_VECTORS = 4, MOST_NODES = 24 };
    int last = nest->n - 1, nreduced = 0;
    for (int d = 0; d < nest->n; d++)
        nreduced += nest->reduced[d];
    return nreduced == 1 && nest->reduced[last] && last > 0 && nest->dims[last] <= LONGEST &&
           nest->dims[last] > 1 && nest->dims[last - 1] >= LEAST_VECTORS * k->width &&
           (!is_any_order(f) || (nest->dims[last] <= FEW_COLUMNS && k->width > FEW_COLUMNS)) &&
           f->weight <= MOST_NODES;
}

/* The columns of as many rows as there are lanes. */
typedef struct ColumnLoop {
    const Fold *f;
    Nest *nest;
    RowTiles *tiles; /* NULL: columns are so few that vectors of rows have them all */
} ColumnLoop;

static void column_round(Kernel *k, void *user, Loop *loop, V *acc)
{
    const ColumnLoop *c = user;
    V *next = ARENA_ARRAY(k->arena, V, c->f->n);
    c->nest->at[c->nest->n - 1] = loop_coord(loop, 0);
    Index *at = space_index(k, c->f, c->nest, k->width);
    if (c->tiles) {
        c->tiles->at = at;
        c->tiles->column = loop->i;
    }
    k->is_strict = c->f->is_strict;
    c->f->values(k, c->f, at, next);
    k->is_strict = false;
    (c->f->step ? c->f->step : c->f->combine)(k, c->f, acc, next);
}

/* A few columns are combined as lanes would be (combine_lanes): those of the first half with those of the second,
 * and so on. */
static void few_columns_emit(Kernel *k, const Fold *f, Nest *nest)
{
    int last = nest->n - 1, n = (int)nest->dims[last];
    V columns[FEW_COLUMNS];
    k->is_strict = f->is_strict;
    for (int i = 0; i < n; i++) {
        nest->at[last] = coord_const(k, i);
        f->values(k, f, space_index(k, f, nest, k->width), &columns[i]);
    }
    k->is_strict = false;
    for (int half = FEW_COLUMNS / 2; half; half /= 2)
        for (int i = 0; i < half && i + half < n; i++)
            f->combine(k, f, &columns[i], &columns[i + half]);
    f->done(k, f, out_index(k, f, nest, k->width), columns);
}

static void columns_emit(Kernel *k, const Fold *f, Nest *nest)
{
    if (is_any_order(f)) {
        few_columns_emit(k, f, nest);
        return;
    }
    int last = nest->n - 1;
    int64_t n = nest->dims[last];
    V acc[MAX_CARRIED];
    RowTiles tiles = { .lanes = k->width, .n = n };
    ColumnLoop columns = { f, nest, n > FEW_COLUMNS ? &tiles : NULL };
    Rounds r = { f, 1, 1, f->n, k->width, column_round, &columns };
    nest->at[last] = coord_const(k, 0);
    tiles.first = index_linear(k, space_index(k, f, nest, k->width)).base;
    start_all(k, f, k->width, f->n, acc);
    if (columns.tiles)
        row_tiles_begin(k, &tiles);
    rounds_emit(k, &r, n, const_i64(k, 0), const_i64(k, n), acc);
    if (columns.tiles)
        row_tiles_end(k);
    f->done(k, f, out_index(k, f, nest, k->width), acc);
}

/* Then the rows that do not fill a vector, and those behind which tiles would read beyond the array. */
static void lanes_are_rows(Kernel *k, const Fold *f, Nest *nest, bool is_cut)
{
    int row = nest->n - 2;
    int64_t rows = nest->dims[row], n = nest->dims[row + 1], full = rows / k->width * k->width;
    if ((rows - full) * n < row_tiles_beyond(n, k->width))
        full -= k->width;
    Loop loop;
    if (is_cut)
        slice_loop(k, &loop, full, k->width);
    else
        loop_begin(k, &loop, full, k->width, 0, NULL);
    nest->at[row] = loop_coord(&loop, 1);
    columns_emit(k, f, nest);
    loop_end(k, &loop, NULL);
    if (full == rows)
        return;
    LLVMBasicBlockRef after = is_cut ? last_slice_begin(k) : NULL;
    loop_between(k, &loop, const_i64(k, full), const_i64(k, rows), 1, 0, NULL);
    nest->at[row] = coord_uniform(k, loop.i);
    lanes_are_reduced(k, f, nest);
    loop_end(k, &loop, NULL);
    if (after)
        last_slice_end(k, after);
}

/* ---- */

bool fold_is_few(const Fold *f, Element e)
{
    int64_t n = 1;
    for (int d = 0; d < f->space.rank; d++)
        n *= f->reduced[d] && n <= FOLD_FEW ? f->space.dims[d] : 1;
    return n <= FOLD_FEW && element_info[element_part(e)].kind == FLOAT &&
           element_info[element_part(e)].bytes >= 4;
}

void fold_emit(Kernel *k, const Fold *f)
{
    if (type_count(f->out) == 0)
        return;
    Nest nest = nest_of(f);
    if (!nest.n) { /* a scalar folded along nothing */
        nest.dims[0] = 1;
        nest.n = 1;
    }
    bool is_kept = !nest.reduced[nest.n - 1], is_short = has_short_rows(k, f, &nest);
    int nkept = 0, kept[MAX_RANK + 1];
    for (int d = 0; d < nest.n - is_kept - 2 * is_short; d++)
        if (!nest.reduced[d])
            kept[nkept++] = d;
    Loop loops[MAX_RANK + 1];
    int64_t extents[MAX_RANK + 1];
    for (int i = 0; i < nkept; i++)
        extents[i] = nest.dims[kept[i]];
    int64_t vectors = nest.dims[nest.n - 1 - is_short] / k->width;
    extents[nkept] = is_short ? vectors : vectors / vectors_of_block(f, vectors);
    int cut = slices_choose(k, nkept + (is_kept || is_short), extents);
    for (int i = 0; i < nkept; i++) {
        if (i == cut)
            slice_loop(k, &loops[i], nest.dims[kept[i]], 1);
        else
            loop_begin(k, &loops[i], nest.dims[kept[i]], 1, 0, NULL);
        nest.at[kept[i]] = loop_coord(&loops[i], 0);
    }
    if (is_kept)
        lanes_are_kept(k, f, &nest, cut == nkept);
    else if (is_short)
        lanes_are_rows(k, f, &nest, cut == nkept);
    else
        lanes_are_reduced(k, f, &nest);
    for (int i = nkept - 1; i >= 0; i--)
        loop_end(k, &loops[i], NULL);
}
