/* copy_plan_test.c - random collectives against their definitions, byte by byte: any number of members in
 * any order, any element size, arrays of rank 0 to 4 with extents from 0, several operands, results
 * that are operands, overlap them or are one memory for all; small ones, and some that are cut
 * into pieces or streamed.  A plan that may be executed again is, with other operands.  And ragged
 * exchanges.  Every array is a block of its own, so that the sanitizers see its ends.  Links the
 * engine.
 *
 *     copy_plan_test [FIRST [COUNT]]     the seeds to run */
#include "engine/collectives/collectives.h"
#include "tests/handmade.h"

enum { RANKS = 64, OPERANDS = 4, DIMS = 4 };

typedef struct Array {
    int64_t dims[DIMS];
    Type type;
} Array;

/* How result i of a rank lies to its operand i. */
typedef enum Lies { APART, IN_PLACE, OVERLAPPING, ALL_ONE, LIES_END } Lies;

typedef struct Trial {
    unsigned seed;
    int n, nin, nout;
    Collective m;
    Array in[OPERANDS], out[OPERANDS];
    Type in_types[OPERANDS], out_types[OPERANDS];
    Address in_places[OPERANDS], out_places[OPERANDS];
    Lies lies[OPERANDS];
    Frame frames[RANKS], *order[RANKS];
    void *args[RANKS][OPERANDS], *outs[RANKS][OPERANDS];
    char *blocks[RANKS][2 * OPERANDS], *kept[RANKS][OPERANDS]; /* all memory; operands as brought */
    int64_t pairs[2 * RANKS];
    int source[RANKS]; /* by rank; -1: none */
    AllGatherAttrs gather;
    ReduceScatterAttrs scatter;
    AllToAllAttrs all_to_all;
    PermuteAttrs permute;
    CollectiveBroadcastAttrs broadcast;
    int32_t roots[RANKS][OPERANDS];
} Trial;

static Trial t;
static HandMade hand;
static _Atomic int cancel;
static Memory *memory;

static int below(int n)
{
    return rand_r(&t.seed) / 7 % n;
}

/* ---- a reducer that shows the order: bytes, sum = 3 sum + x ---- */

static void fold(void *const *out, int64_t nout, const void *const *in, int64_t nin, int64_t bytes)
{
    CHECK(nin > 1);
    for (int64_t i = 0; i < bytes; i++) {
        unsigned sum = ((const unsigned char *)in[0])[i];
        for (int64_t r = 1; r < nin; r++)
            sum = 3 * sum + ((const unsigned char *)in[r])[i];
        for (int64_t r = 0; r < nout; r++)
            ((unsigned char *)out[r])[i] = (unsigned char)sum;
    }
}

#define FOLD(name, size)                                                                           \
    static void name(void *const *out, int64_t nout, const void *const *in, int64_t nin,           \
                     int64_t n)                                                                    \
    {                                                                                              \
        fold(out, nout, in, nin, n *(size));                                                       \
    }
FOLD(fold_1, 1)
FOLD(fold_2, 2)
FOLD(fold_4, 4)
FOLD(fold_8, 8)
FOLD(fold_16, 16)

static CombineFn *fold_of(int bytes)
{
    switch (bytes) {
    case 1: return fold_1;
    case 2: return fold_2;
    case 4: return fold_4;
    case 8: return fold_8;
    default: return fold_16;
    }
}

/* ---- making a trial ---- */

static Element any_element(void)
{
    static const Element all[] = { I1, I4, I8, BF16, I32, F32, F64, C64, C128 };
    return all[below((int)(sizeof all / sizeof *all))];
}

/* Extents so that the array has about `room` elements at the most. */
static void any_shape(Array *a, int rank, int64_t room)
{
    for (int i = 0; i < rank; i++) {
        int64_t most = below(rank) ? 6 : room;
        most = most < room ? most : room;
        a->dims[i] = below(30) ? 1 + below((int)most) : 0;
        room /= a->dims[i] > 1 ? a->dims[i] : 1;
        room = room ? room : 1;
    }
    a->type = (Type){ a->type.element, rank, a->dims };
}

static void same_types(int i)
{
    t.out[i] = t.in[i];
    t.out[i].type.dims = t.out[i].dims;
}

static void any_ways(void)
{
    int targets[RANKS], npairs = 0;
    for (int r = 0; r < t.n; r++) {
        int other = below(r + 1);
        targets[r] = r;
        targets[r] = targets[other];
        targets[other] = r;
        t.source[r] = -1;
    }
    int gaps = below(3) ? 2 + below(6) : 0;
    for (int r = 0; r < t.n; r++) {
        if (gaps && below(gaps) == 0)
            continue;
        t.pairs[2 * npairs] = t.order[r]->partition;
        t.pairs[2 * npairs++ + 1] = t.order[targets[r]]->partition;
        t.source[targets[r]] = r;
    }
    t.permute = (PermuteAttrs){ .source_target_pairs = { npairs, 2, t.pairs }, .channel_id = 1 };
}

static void any_roots(void)
{
    bool has_roots = below(2);
    t.broadcast.has_dynamic_root = has_roots;
    for (int r = 0; r < t.n; r++)
        for (int i = 0; i < OPERANDS; i++)
            t.roots[r][i] = has_roots ? below(t.n) : 0;
    if (!has_roots)
        return;
    Array *last = &t.in[t.nin++];
    last->dims[0] = t.nout;
    last->type = (Type){ I32, 1, last->dims };
}

/* Types and attributes of operation `op`, each operand with about `room` elements. */
static void any_collective(OpId op, int64_t room)
{
    t.nin = t.nout = 1 + below(op == OP_COLLECTIVE_BROADCAST ? OPERANDS - 1 : OPERANDS);
    Element element = any_element();
    int dim = below(DIMS), concat = below(DIMS), most = dim > concat ? dim : concat;
    for (int i = 0; i < t.nin; i++) {
        bool reduces = op == OP_ALL_REDUCE || op == OP_REDUCE_SCATTER;
        bool has_dims = op != OP_ALL_REDUCE && op != OP_PERMUTE && op != OP_COLLECTIVE_BROADCAST;
        t.in[i].type.element = reduces ? element : any_element();
        any_shape(&t.in[i], has_dims ? most + 1 + below(DIMS - most) : below(DIMS + 1), room);
        same_types(i);
        if (op == OP_ALL_GATHER)
            t.out[i].dims[dim] *= t.n;
        if (op == OP_REDUCE_SCATTER || op == OP_ALL_TO_ALL)
            t.in[i].dims[dim] *= t.n;
        if (op == OP_ALL_TO_ALL)
            t.out[i].dims[concat] *= t.n;
        if (op == OP_ALL_TO_ALL && dim == concat)
            t.out[i].dims[dim] = t.in[i].dims[dim];
    }
    t.m.combine = fold_of(element_info[element].bytes);
    t.gather = (AllGatherAttrs){ .all_gather_dim = dim };
    t.scatter = (ReduceScatterAttrs){ .scatter_dimension = dim };
    t.all_to_all =
        (AllToAllAttrs){ .split_dimension = dim, .concat_dimension = concat, .split_count = t.n };
    t.m.attrs = op == OP_ALL_GATHER       ? (void *)&t.gather
                : op == OP_REDUCE_SCATTER ? (void *)&t.scatter
                : op == OP_ALL_TO_ALL     ? (void *)&t.all_to_all
                : op == OP_PERMUTE        ? (void *)&t.permute
                                          : (void *)&t.broadcast;
    if (op == OP_PERMUTE)
        any_ways();
    if (op == OP_COLLECTIVE_BROADCAST)
        any_roots();
}

/* Members in any order. */
static void any_members(void)
{
    hand_made(&hand, 1, 0, 0, NULL, 0, 0);
    for (int r = 0; r < t.n; r++) {
        int other = below(r + 1);
        t.frames[r] = (Frame){ .args = t.args[r],
                               .outs = t.outs[r],
                               .rt = &runtime,
                               .partition = r,
                               .cancel = &cancel,
                               .program = &hand.p };
        t.order[r] = &t.frames[r];
        t.order[r] = t.order[other];
        t.order[other] = &t.frames[r];
    }
}

static bool gives_all_the_same(OpId op)
{
    return op == OP_ALL_REDUCE || op == OP_ALL_GATHER ||
           (op == OP_COLLECTIVE_BROADCAST && !t.broadcast.has_dynamic_root);
}

/* May the compiler have said that it is apart?  As it decides. */
static bool is_told_apart(OpId op, int i)
{
    if (t.lies[i] != IN_PLACE)
        return t.lies[i] != OVERLAPPING;
    if (op == OP_COLLECTIVE_BROADCAST)
        return !t.broadcast.has_dynamic_root;
    for (int k = 0; op == OP_ALL_TO_ALL && k < t.in[i].type.rank; k++)
        if ((k < t.all_to_all.split_dimension || k < t.all_to_all.concat_dimension) &&
            t.in[i].dims[k] != 1)
            return false;
    return op_is_in_place(op, i, i);
}

static void any_lies(OpId op)
{
    t.m.is_apart = below(2);
    for (int i = 0; i < t.nout; i++) {
        t.lies[i] = (Lies)below(LIES_END);
        if (t.lies[i] == ALL_ONE && !gives_all_the_same(op))
            t.lies[i] = APART;
        t.m.is_apart = t.m.is_apart && is_told_apart(op, i);
    }
}

/* Memory for operand and result i of member r. */
static void make_arrays(int r, int i)
{
    bool has_result = i < t.nout, is_apart = !has_result || t.lies[i] == APART;
    size_t in = type_bytes(t.in[i].type), out = has_result ? type_bytes(t.out[i].type) : 0;
    size_t shift = t.lies[i] == OVERLAPPING ? (in / 2 + 15) / 16 * 16 : 0;
    bool is_together = !is_apart && t.lies[i] != ALL_ONE;
    char *block = malloc(is_together && out + shift > in ? out + shift : in);
    t.kept[r][i] = malloc(in);
    t.args[r][i] = t.blocks[r][i] = block;
    if (is_together)
        t.outs[r][i] = block + shift;
    else if (!r || is_apart)
        t.outs[r][i] = t.blocks[r][OPERANDS + i] = malloc(out);
    else
        t.outs[r][i] = t.outs[0][i];
}

static void any_trial(unsigned seed)
{
    static const OpId ops[] = { OP_ALL_REDUCE, OP_ALL_GATHER, OP_REDUCE_SCATTER,
                                OP_ALL_TO_ALL, OP_PERMUTE,    OP_COLLECTIVE_BROADCAST };
    static const int64_t rooms[] = { 8, 300, 20000, 1500000 };
    memset(&t, 0, sizeof t);
    t.seed = seed * 2654435761u + 1;
    OpId op = ops[below(6)];
    int size = below(12) ? below(2) : below(4) ? 2 : 3;
    t.n = size == 3 ? 1 + below(4) : below(20) ? 1 + below(9) : 1 + below(RANKS);
    any_members();
    any_collective(op, rooms[size] / (size == 2 ? 1 + t.n / 8 : 1));
    for (int i = 0; i < OPERANDS; i++) {
        t.in_types[i] = t.in[i].type;
        t.out_types[i] = t.out[i].type;
        t.in_places[i] = at_arg(i);
        t.out_places[i] = at_out(i);
    }
    any_lies(op);
    for (int r = 0; r < t.n; r++)
        for (int i = 0; i < t.nin; i++)
            make_arrays(r, i);
    t.m = (Collective){ .op = op,
                        .name = op_name(op),
                        .where = "t.py:1",
                        .nin = t.nin,
                        .nout = t.nout,
                        .in = t.in_places,
                        .out = t.out_places,
                        .in_types = t.in_types,
                        .out_types = t.out_types,
                        .is_apart = t.m.is_apart,
                        .attrs = t.m.attrs,
                        .combine = t.m.combine };
}

static void trial_free(void)
{
    for (int r = 0; r < t.n; r++) {
        for (int i = 0; i < 2 * OPERANDS; i++)
            free(t.blocks[r][i]);
        for (int i = 0; i < OPERANDS; i++)
            free(t.kept[r][i]);
    }
}

/* ---- executing and comparing ---- */

static void fill_array(unsigned char *at, size_t bytes, unsigned state)
{
    for (size_t k = 0; k < bytes; k++) {
        state = state * 1664525u + 1013904223u;
        at[k] = (unsigned char)(state >> 24);
    }
}

/* Every rank brings other bytes; what is to be written first holds something else. */
static void fill(void)
{
    for (int r = 0; r < t.n; r++)
        for (int i = 0; i < t.nin; i++) {
            size_t bytes = type_bytes(t.in[i].type);
            if (i < t.nout && (t.lies[i] == APART || !r))
                memset(t.outs[r][i], 0xee, type_bytes(t.out[i].type));
            if (i < t.nout)
                fill_array(t.args[r][i], bytes, t.seed + (unsigned)(r * 31 + i));
            else
                memcpy(t.args[r][i], t.roots[r], bytes);
            memcpy(t.kept[r][i], t.args[r][i], bytes);
        }
    t.seed++;
}

static int number_of(int rank)
{
    return (int)(t.order[rank] - t.frames);
}

/* Operand i of a rank, at a byte. */
static unsigned char brought(int rank, int i, int64_t at)
{
    return (unsigned char)t.kept[number_of(rank)][i][at];
}

/* From the index of an element in the result to that in an operand, and from whom. */
static int64_t found_at(int rank, int i, int64_t k, int *from)
{
    int64_t at[DIMS], n = 0;
    const Array *in = &t.in[i], *out = &t.out[i];
    int dim = (int)t.gather.all_gather_dim, concat = (int)t.all_to_all.concat_dimension;
    for (int d = out->type.rank - 1; d >= 0; k /= out->dims[d], d--)
        at[d] = k % out->dims[d];
    if (t.m.op == OP_ALL_GATHER) {
        *from = (int)(at[dim] / in->dims[dim]);
        at[dim] %= in->dims[dim];
    } else if (t.m.op == OP_REDUCE_SCATTER) {
        at[dim] += rank * out->dims[dim];
    } else if (t.m.op == OP_ALL_TO_ALL) {
        int64_t width = out->dims[concat] / t.n;
        *from = (int)(at[concat] / width);
        at[concat] %= width;
        at[dim] += rank * (in->dims[dim] / t.n);
    }
    for (int d = 0; d < in->type.rank; d++)
        n = n * in->dims[d] + at[d];
    return n;
}

static unsigned char expected(int rank, int i, int64_t byte)
{
    int64_t size = element_info[t.in[i].type.element].bytes;
    int from = rank;
    if (t.m.op == OP_COLLECTIVE_BROADCAST)
        return brought(t.roots[number_of(rank)][i], i, byte);
    if (t.m.op == OP_PERMUTE)
        return t.source[rank] < 0 ? 0 : brought(t.source[rank], i, byte);
    int64_t at =
        t.m.op == OP_ALL_REDUCE ? byte : found_at(rank, i, byte / size, &from) * size + byte % size;
    if (t.m.op != OP_ALL_REDUCE && t.m.op != OP_REDUCE_SCATTER)
        return brought(from, i, at);
    unsigned sum = brought(0, i, at);
    for (int r = 1; r < t.n; r++)
        sum = 3 * sum + brought(r, i, at);
    return (unsigned char)sum;
}

/* Of what is large some bytes are looked at, its ends among them. */
static void compare(unsigned seed, int turn)
{
    for (int rank = 0; rank < t.n; rank++)
        for (int i = 0; i < t.nout; i++) {
            int64_t bytes = (int64_t)type_bytes(t.out[i].type), step = 1 + bytes / 4000 * 3;
            const unsigned char *got = t.outs[number_of(rank)][i];
            int64_t k = 0;
            while (k < bytes && got[k] == expected(rank, i, k))
                k = k + step < bytes || k == bytes - 1 ? k + step : bytes - 1;
            if (k >= bytes)
                continue;
            printf("seed %u, turn %d: %s of %d, rank %d, result %d, %s, lies %d, byte %lld is %d "
                   "and should be %d\n",
                   seed, turn, t.m.name, t.n, rank, i, type_name(t.out[i].type), t.lies[i],
                   (long long)k, got[k], expected(rank, i, k));
            check_failures++;
            return;
        }
}

static void run_seed(unsigned seed)
{
    any_trial(seed);
    CopyPlan plan;
    copy_plan_begin(&plan);
    for (int turn = 0; turn < 3; turn++) {
        fill();
        if (plan.c == &t.m && plan.frame == t.order[0])
            copy_plan_execute(&plan);
        else
            CHECK(!collective_perform(&t.m, t.n, t.order, memory, &plan));
        compare(seed, turn);
    }
    copy_plan_end(&plan);
    trial_free();
}

/* ---- ragged exchanges: what is sent is data, so there is no plan ---- */

enum { RAGGED_RANKS = 9, RAGGED_EACH = 2, RAGGED_ROWS = 20, RAGGED_WIDTH = 300 };
enum { SENT, INTO, STARTS, SIZES, PLACES, RECEIVED, NLISTS };

typedef unsigned char RaggedRow[RAGGED_WIDTH];

typedef struct Ragged {
    int n, each, width; /* ranks, entries for each, bytes of a row */
    int64_t rows, into;
    RaggedRow expected[RAGGED_RANKS][RAGGED_ROWS];
    char *args[RAGGED_RANKS][NLISTS], *outs[RAGGED_RANKS][1];
    Frame frames[RAGGED_RANKS], *order[RAGGED_RANKS];
} Ragged;

static Ragged ragged;

static int64_t lists_at(int r, int list, int i)
{
    return ((const int64_t *)ragged.args[r][list])[i];
}

/* Entry i of rank r's lists; what sends nothing may say any place. */
static void any_entry(int r, int i)
{
    int64_t most = ragged.rows < ragged.into ? ragged.rows : ragged.into;
    int64_t size = below(3) ? below((int)most + 1) : 0;
    ((int64_t *)ragged.args[r][SIZES])[i] = size;
    ((int64_t *)ragged.args[r][STARTS])[i] = size ? below((int)(ragged.rows - size) + 1) : -7;
    ((int64_t *)ragged.args[r][PLACES])[i] = size ? below((int)(ragged.into - size) + 1) : 1 << 20;
}

static void any_ragged(void)
{
    ragged.n = 1 + below(RAGGED_RANKS);
    ragged.each = 1 + below(RAGGED_EACH);
    ragged.width = below(3) ? 1 + below(9) : RAGGED_WIDTH;
    ragged.rows = 1 + below(RAGGED_ROWS);
    ragged.into = 1 + below(RAGGED_ROWS);
    int entries = ragged.n * ragged.each;
    for (int r = 0; r < ragged.n; r++) {
        for (int list = STARTS; list < NLISTS; list++)
            ragged.args[r][list] = calloc((size_t)entries, sizeof(int64_t));
        for (int i = 0; i < entries; i++)
            any_entry(r, i);
        for (int i = SENT; i <= INTO; i++) {
            size_t bytes = (size_t)((i == SENT ? ragged.rows : ragged.into) * ragged.width);
            ragged.args[r][i] = malloc(bytes);
            fill_array((unsigned char *)ragged.args[r][i], bytes, t.seed + (unsigned)(2 * r + i));
        }
        size_t bytes = (size_t)(ragged.into * ragged.width);
        ragged.outs[r][0] = below(2) ? ragged.args[r][INTO] : malloc(bytes);
        ragged.frames[r] = (Frame){ .args = (void **)ragged.args[r],
                                    .outs = (void **)ragged.outs[r],
                                    .rt = &runtime,
                                    .partition = r,
                                    .cancel = &cancel,
                                    .program = &hand.p };
        ragged.order[r] = &ragged.frames[r];
    }
}

/* What was there, then what each rank sends, one after the other. */
static void expect_ragged(void)
{
    size_t width = (size_t)ragged.width;
    for (int to = 0; to < ragged.n; to++) {
        for (int64_t k = 0; k < ragged.into; k++)
            memcpy(ragged.expected[to][k], ragged.args[to][INTO] + (size_t)k * width, width);
        for (int from = 0; from < ragged.n; from++)
            for (int i = to * ragged.each; i < (to + 1) * ragged.each; i++)
                for (int64_t k = 0; k < lists_at(from, SIZES, i); k++)
                    memcpy(ragged.expected[to][lists_at(from, PLACES, i) + k],
                           ragged.args[from][SENT] +
                               (size_t)(lists_at(from, STARTS, i) + k) * width,
                           width);
    }
}

static void ragged_end(unsigned seed)
{
    for (int r = 0; r < ragged.n; r++) {
        for (int64_t k = 0; k < ragged.into; k++)
            if (memcmp(ragged.outs[r][0] + k * ragged.width, ragged.expected[r][k],
                       (size_t)ragged.width)) {
                printf("seed %u: ragged exchange of %d: rank %d, row %d\n", seed, ragged.n, r,
                       (int)k);
                check_failures++;
                break;
            }
        if (ragged.outs[r][0] != ragged.args[r][INTO])
            free(ragged.outs[r][0]);
        for (int i = 0; i < NLISTS; i++)
            free(ragged.args[r][i]);
    }
}

static void run_ragged_seed(unsigned seed)
{
    t.seed = seed * 2654435761u + 1;
    any_ragged();
    expect_ragged();
    int64_t rows[] = { ragged.rows, ragged.width }, into[] = { ragged.into, ragged.width };
    int64_t entries[] = { ragged.n * ragged.each };
    Type list = { I64, 1, entries }, result = { I8, 2, into };
    Type types[NLISTS] = { { I8, 2, rows }, result, list, list, list, list };
    Address out = at_out(0), in[NLISTS];
    for (int i = 0; i < NLISTS; i++)
        in[i] = at_arg(i);
    Collective m = { .op = OP_RAGGED,
                     .name = "ragged",
                     .where = "t.py:1",
                     .nin = NLISTS,
                     .nout = 1,
                     .in = in,
                     .out = &out,
                     .in_types = types,
                     .out_types = &result };
    CopyPlan plan;
    copy_plan_begin(&plan);
    CHECK(!collective_perform(&m, ragged.n, ragged.order, memory, &plan));
    CHECK(!plan.c);
    copy_plan_end(&plan);
    ragged_end(seed);
}

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;
    memory = memory_new(0, 0);
    for (unsigned seed = first; seed < first + count && check_failures < 10; seed++) {
        run_seed(seed);
        run_ragged_seed(seed);
    }
    CHECK(memory_stats(memory).bytes_in_use == 0);
    memory_free(memory);
    return check_done();
}
