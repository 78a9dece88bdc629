/* engine_collectives_test.c - every collective against its definition, element by element, for every
 * dimension, in place and not.  Links the engine. */
#include "engine/collectives/collectives.h"
#include "tests/handmade.h"

enum { RANK = 3, ROOM = 4096 };

/* Frames of n devices; slab holds the operand at 0 and the result at ROOM, or in place. */
typedef struct Stage {
    HandMade h;
    Frame frames[MOST], *order[MOST];
    _Alignas(64) char slabs[MOST][2 * ROOM];
    _Atomic int cancel;
    Memory *memory;
} Stage;

static Stage stage;
static int32_t before[MOST][ROOM / 4]; /* operands, kept */

static void add_i32(void *const *out, int64_t nout, const void *const *in, int64_t nin, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t sum = 0;
        for (int64_t r = 0; r < nin; r++)
            sum += ((const int32_t *)in[r])[i];
        for (int64_t r = 0; r < nout; r++)
            ((int32_t *)out[r])[i] = sum;
    }
}

/* Not associative: shows the order. */
static void halve_i32(void *const *out, int64_t nout, const void *const *in, int64_t nin, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t sum = ((const int32_t *)in[0])[i];
        for (int64_t r = 1; r < nin; r++)
            sum = sum / 2 + ((const int32_t *)in[r])[i];
        for (int64_t r = 0; r < nout; r++)
            ((int32_t *)out[r])[i] = sum;
    }
}

static Error *perform_on(const Collective *m, int n)
{
    CopyPlan plan;
    copy_plan_begin(&plan);
    Error *error = collective_perform(m, n, stage.order, stage.memory, &plan);
    copy_plan_end(&plan);
    return error;
}

static void set_stage(int n)
{
    hand_made(&stage.h, n, 0, 0, NULL, 0, 0);
    for (int d = 0; d < n; d++) {
        stage.frames[d] = (Frame){ .slab = stage.slabs[d],
                                   .rt = &runtime,
                                   .partition = d,
                                   .cancel = &stage.cancel,
                                   .program = &stage.h.p };
        stage.order[d] = &stage.frames[d];
        for (int i = 0; i < ROOM / 4; i++) {
            before[d][i] = d * 100000 + i * 3 + 1;
            ((int32_t *)stage.slabs[d])[i] = before[d][i];
            ((int32_t *)(stage.slabs[d] + ROOM))[i] = -1;
        }
    }
}

static const int32_t *result_of(int d, bool in_place)
{
    return (const int32_t *)(stage.slabs[d] + (in_place ? 0 : ROOM));
}

static Error *perform(OpId op, Type in, Type out, const void *attrs, int n, bool in_place,
                      CombineFn *combine)
{
    Address from = at_slab(0), to = at_slab(in_place ? 0 : ROOM);
    Collective m = {
        .op = op,
        .name = op_name(op),
        .where = "t.py:1",
        .nin = 1,
        .nout = 1,
        .in = &from,
        .out = &to,
        .in_types = &in,
        .out_types = &out,
        .attrs = attrs,
        .combine = combine,
    };
    return perform_on(&m, n);
}

/* The index of element i of an array, and back. */
static void index_of(Type t, int64_t i, int64_t *at)
{
    for (int k = t.rank - 1; k >= 0; i /= t.dims[k], k--)
        at[k] = i % t.dims[k];
}

static int64_t offset_of(Type t, const int64_t *at)
{
    int64_t i = 0;
    for (int k = 0; k < t.rank; k++)
        i = i * t.dims[k] + at[k];
    return i;
}

static void check_all_reduce(int n, bool in_place)
{
    set_stage(n);
    int64_t dims[RANK] = { 2, 3, 5 };
    Type t = { I32, RANK, dims };
    CHECK(!perform(OP_ALL_REDUCE, t, t, NULL, n, in_place, halve_i32));
    for (int64_t i = 0; i < type_count(t); i++) {
        int32_t expected = before[0][i];
        for (int r = 1; r < n; r++)
            expected = expected / 2 + before[r][i];
        for (int d = 0; d < n; d++)
            CHECK(result_of(d, in_place)[i] == expected);
    }
}

/* More than a block, in the order of the ranks that the group lists. */
static void check_long_all_reduce(void)
{
    enum { N = 10000 };
    set_stage(3);
    static int32_t data[3][N];
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < N; i++)
            data[d][i] = d * 7 + i;
        stage.frames[d].slab = (char *)data[d];
    }
    stage.order[0] = &stage.frames[2], stage.order[2] = &stage.frames[0];
    int64_t dims[] = { N };
    Type t = { I32, 1, dims };
    CHECK(!perform(OP_ALL_REDUCE, t, t, NULL, 3, true, halve_i32));
    for (int i = 0; i < N; i++)
        for (int d = 0; d < 3; d++)
            CHECK(data[d][i] == ((14 + i) / 2 + 7 + i) / 2 + i);
}

static void check_all_gather(int n, int dim, bool in_place)
{
    set_stage(n);
    int64_t dims[RANK] = { 2, 3, 4 }, whole_dims[RANK] = { 2, 3, 4 };
    whole_dims[dim] *= n;
    Type in = { I32, RANK, dims }, out = { I32, RANK, whole_dims };
    AllGatherAttrs attrs = { .all_gather_dim = dim };
    CHECK(!perform(OP_ALL_GATHER, in, out, &attrs, n, in_place, NULL));
    for (int64_t i = 0; i < type_count(out); i++) {
        int64_t at[RANK];
        index_of(out, i, at);
        int from = (int)(at[dim] / dims[dim]);
        at[dim] %= dims[dim];
        for (int d = 0; d < n; d++)
            CHECK(result_of(d, in_place)[i] == before[from][offset_of(in, at)]);
    }
}

static void check_reduce_scatter(int n, int dim, bool in_place)
{
    set_stage(n);
    int64_t dims[RANK] = { 2, 3, 4 }, whole_dims[RANK] = { 2, 3, 4 };
    whole_dims[dim] *= n;
    Type in = { I32, RANK, whole_dims }, out = { I32, RANK, dims };
    ReduceScatterAttrs attrs = { .scatter_dimension = dim };
    CHECK(!perform(OP_REDUCE_SCATTER, in, out, &attrs, n, in_place, add_i32));
    for (int d = 0; d < n; d++)
        for (int64_t i = 0; i < type_count(out); i++) {
            int64_t at[RANK];
            index_of(out, i, at);
            at[dim] += d * dims[dim];
            int32_t expected = 0;
            for (int r = 0; r < n; r++)
                expected += before[r][offset_of(in, at)];
            CHECK(result_of(d, in_place)[i] == expected);
        }
}

static void check_all_to_all(int n, int split, int concat, bool in_place)
{
    set_stage(n);
    int64_t dims[RANK] = { 2, 3, 2 };
    dims[split] *= n;
    int64_t out_dims[RANK] = { dims[0], dims[1], dims[2] };
    out_dims[split] /= n;
    out_dims[concat] *= n;
    Type in = { I32, RANK, dims }, out = { I32, RANK, out_dims };
    AllToAllAttrs attrs = { .split_dimension = split,
                            .concat_dimension = concat,
                            .split_count = n };
    CHECK(!perform(OP_ALL_TO_ALL, in, out, &attrs, n, in_place, NULL));
    int64_t piece = dims[split] / n, width = out_dims[concat] / n;
    for (int d = 0; d < n; d++)
        for (int64_t i = 0; i < type_count(out); i++) {
            int64_t at[RANK];
            index_of(out, i, at);
            int from = (int)(at[concat] / width);
            at[concat] %= width;
            at[split] += d * piece;
            CHECK(result_of(d, in_place)[i] == before[from][offset_of(in, at)]);
        }
}

static void check_permute(bool in_place)
{
    set_stage(4);
    int64_t dims[] = { 5 }, pairs[] = { 0, 1, 1, 0, 3, 2 };
    Type t = { I32, 1, dims };
    PermuteAttrs attrs = { .source_target_pairs = { 3, 2, pairs }, .channel_id = 1 };
    CHECK(!perform(OP_PERMUTE, t, t, &attrs, 4, in_place, NULL));
    for (int i = 0; i < 5; i++) {
        CHECK(result_of(0, in_place)[i] == before[1][i]);
        CHECK(result_of(1, in_place)[i] == before[0][i]);
        CHECK(result_of(2, in_place)[i] == before[3][i]);
        CHECK(result_of(3, in_place)[i] == 0);
    }
}

/* Any pairs of sender and receiver, arrays long enough for vectors and not a multiple of them. */
static void check_any_permute(bool in_place, unsigned *seed)
{
    enum { N = 8, LONG = 300 };
    set_stage(N);
    int64_t dims[] = { LONG }, pairs[2 * N], targets[N];
    int npairs = 0, source_of[N];
    for (int r = 0; r < N; r++) {
        int other = rand_r(seed) % (r + 1);
        targets[r] = r;
        targets[r] = targets[other];
        targets[other] = r;
        source_of[r] = -1;
    }
    for (int r = 0; r < N; r++) {
        if (rand_r(seed) % 4 == 0)
            continue;
        pairs[2 * npairs] = r;
        pairs[2 * npairs++ + 1] = targets[r];
        source_of[targets[r]] = r;
    }
    Type t = { I32, 1, dims };
    PermuteAttrs attrs = { .source_target_pairs = { npairs, 2, pairs }, .channel_id = 1 };
    CHECK(!perform(OP_PERMUTE, t, t, &attrs, N, in_place, NULL));
    for (int r = 0; r < N; r++)
        for (int i = 0; i < LONG; i++)
            CHECK(result_of(r, in_place)[i] == (source_of[r] < 0 ? 0 : before[source_of[r]][i]));
}

static void check_long_all_to_all(int n, bool in_place)
{
    enum { EACH = 100 };
    set_stage(n);
    int64_t dims[] = { EACH * n };
    Type t = { I32, 1, dims };
    AllToAllAttrs attrs = { .split_dimension = 0, .concat_dimension = 0, .split_count = n };
    CHECK(!perform(OP_ALL_TO_ALL, t, t, &attrs, n, in_place, NULL));
    for (int d = 0; d < n; d++)
        for (int i = 0; i < EACH * n; i++)
            CHECK(result_of(d, in_place)[i] == before[i / EACH][d * EACH + i % EACH]);
}

static void check_broadcast(int n, bool in_place)
{
    set_stage(n);
    int64_t dims[] = { 300 };
    Type t = { I32, 1, dims };
    CollectiveBroadcastAttrs attrs = { .has_dynamic_root = false };
    CHECK(!perform(OP_COLLECTIVE_BROADCAST, t, t, &attrs, n, in_place, NULL));
    for (int d = 0; d < n; d++)
        for (int i = 0; i < 300; i++)
            CHECK(result_of(d, in_place)[i] == before[0][i]);
}

static void check_misfits(void)
{
    set_stage(3);
    int64_t two[] = { 2 }, four[] = { 4 };
    Type in = { I32, 1, two }, out = { I32, 1, four };
    AllGatherAttrs attrs = { .all_gather_dim = 0 };
    Error *error = perform(OP_ALL_GATHER, in, out, &attrs, 3, false, NULL);
    CHECK_STR(error_text(error),
              "all_gather (t.py:1): operand 0 is i32[2] and its result i32[4], in a group of 3");
    error_free(error);
    error = perform(OP_SORT, in, in, NULL, 3, false, NULL);
    CHECK_STR(error_text(error), "not supported: a collective in sort (t.py:1)");
    error_free(error);
    int64_t pairs[] = { 5, 0 };
    PermuteAttrs permute = { .source_target_pairs = { 1, 2, pairs }, .channel_id = 1 };
    error = perform(OP_PERMUTE, in, in, &permute, 3, false, NULL);
    CHECK_STR(error_text(error),
              "collective_permute (t.py:1): source 5 of target 0 is not in its group");
    error_free(error);
}

/* --- tutti.global: the body transposes a 4x6 array and gives its sum besides. */
static int32_t transpose_and_sum(Frame *f)
{
    int32_t *scratch = (int32_t *)f->slab, sum = 0;
    const int32_t *in = f->args[0];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++) {
            scratch[j * 4 + i] = in[i * 6 + j];
            sum += in[i * 6 + j];
        }
    memcpy(f->outs[0], scratch, 24 * 4);
    *(int32_t *)f->outs[1] = sum + *(const int32_t *)f->args[1];
    return SEGMENT_END;
}

/* In tiles of tiles_in, out of tiles_out, over 4 devices; the second operand and result whole. */
static void check_global(const int64_t *tiles_in, const int64_t *tiles_out, bool in_place)
{
    set_stage(4);
    static SegmentFn *const segments[] = { transpose_and_sum };
    int64_t whole_in[] = { 4, 6 }, whole_out[] = { 6, 4 };
    int64_t part_in_dims[] = { 4 / tiles_in[0], 6 / tiles_in[1] };
    int64_t part_out_dims[] = { 6 / tiles_out[0], 4 / tiles_out[1] };
    Type types_in[] = { { I32, 2, part_in_dims }, type_scalar(I32) };
    Type types_out[] = { { I32, 2, part_out_dims }, type_scalar(I32) };
    int64_t coordinates_in[8], coordinates_out[8], none[1] = { 0 };
    for (int d = 0; d < 4; d++) { /* device d holds tile d, counted through and round again */
        coordinates_in[2 * d] = d / tiles_in[1] % tiles_in[0];
        coordinates_in[2 * d + 1] = d % tiles_in[1];
        coordinates_out[2 * d] = d / tiles_out[1] % tiles_out[0];
        coordinates_out[2 * d + 1] = d % tiles_out[1];
    }
    Tiling in_tilings[] = { { 2, 4, tiles_in, coordinates_in, 0, NULL },
                            { 0, 4, none, none, 0, NULL } };
    Tiling out_tilings[] = { { 2, 4, tiles_out, coordinates_out, 0, NULL },
                             { 0, 4, none, none, 0, NULL } };
    HandMade body;
    hand_made(&body, 1, 2, 2, segments, 1, 0);
    body.args[0].local = (Type){ I32, 2, whole_in };
    body.results[0].local = (Type){ I32, 2, whole_out };
    body.args[1].local = body.results[1].local = type_scalar(I32);
    body.p.slab_bytes = 24 * 4;
    Address in[] = { at_slab(0), at_slab(1000) };
    Address out[] = { at_slab(in_place ? 0 : ROOM), at_slab(in_place ? 1000 : ROOM + 1000) };
    Collective m = {
        .op = OP_GLOBAL,
        .name = "tutti.global",
        .where = "g.py:1",
        .nin = 2,
        .nout = 2,
        .in = in,
        .out = out,
        .in_types = types_in,
        .out_types = types_out,
        .body = &body.p,
        .in_tilings = in_tilings,
        .out_tilings = out_tilings,
    };
    CHECK(!perform_on(&m, 4));

    int32_t whole[4][6], sum = before[0][250];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++) {
            int64_t row = i / part_in_dims[0], column = j / part_in_dims[1];
            int64_t tile = row * tiles_in[1] + column;
            whole[i][j] = before[tile][i % part_in_dims[0] * part_in_dims[1] + j % part_in_dims[1]];
            sum += whole[i][j];
        }
    for (int d = 0; d < 4; d++) {
        const int32_t *got = (const int32_t *)(stage.slabs[d] + out[0].at);
        for (int64_t i = 0; i < part_out_dims[0]; i++)
            for (int64_t j = 0; j < part_out_dims[1]; j++)
                CHECK(got[i * part_out_dims[1] + j] ==
                      whole[coordinates_out[2 * d + 1] * part_out_dims[1] + j]
                           [coordinates_out[2 * d] * part_out_dims[0] + i]);
        CHECK(*(const int32_t *)(stage.slabs[d] + out[1].at) == sum);
    }
}

static int32_t fail_body(Frame *f)
{
    f->error = error_new(CODE_UNIMPLEMENTED, "not supported: this");
    return SEGMENT_FAIL;
}

/* As a loop does that looks at the flag. */
static int32_t stop_body(Frame *f)
{
    (void)f;
    atomic_store_explicit(&stage.cancel, 1, memory_order_relaxed);
    return SEGMENT_FAIL;
}

static void check_failing_body(SegmentFn *const *segments, ErrorCode code, const char *said)
{
    set_stage(2);
    HandMade body;
    hand_made(&body, 1, 0, 0, segments, 1, 0);
    Collective m = { .op = OP_GLOBAL, .name = "tutti.global", .where = "g.py:1", .body = &body.p };
    Error *error = perform_on(&m, 2);
    CHECK(error && error_code(error) == code);
    CHECK_STR(error ? error_text(error) : "", said);
    error_free(error);
    atomic_store_explicit(&stage.cancel, 0, memory_order_relaxed);
}

int main(void)
{
    stage.memory = memory_new(0, 0);
    for (int in_place = 0; in_place < 2; in_place++) {
        for (int n = 1; n <= 5; n++) {
            check_all_reduce(n, in_place);
            for (int dim = 0; dim < RANK; dim++) {
                check_all_gather(n, dim, in_place);
                check_reduce_scatter(n, dim, in_place);
                for (int concat = 0; concat < RANK; concat++)
                    check_all_to_all(n, dim, concat, in_place);
            }
        }
        check_permute(in_place);
        unsigned seed = 1;
        for (int i = 0; i < 100; i++)
            check_any_permute(in_place, &seed);
        for (int n = 1; n <= MOST; n++) {
            check_long_all_to_all(n, in_place);
            check_broadcast(n, in_place);
        }
        int64_t tiles[][2] = { { 1, 1 }, { 4, 1 }, { 2, 2 }, { 1, 2 }, { 2, 1 } };
        int64_t out_tiles[][2] = { { 1, 1 }, { 1, 4 }, { 2, 2 }, { 3, 1 }, { 1, 2 } };
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                check_global(tiles[i], out_tiles[j], in_place);
    }
    check_long_all_reduce();
    check_misfits();
    static SegmentFn *const fails[] = { fail_body }, *const stops[] = { stop_body };
    check_failing_body(fails, CODE_UNIMPLEMENTED, "not supported: this");
    check_failing_body(stops, CODE_CANCELLED, "tutti.global (g.py:1): the run was stopped");
    CHECK(memory_stats(stage.memory).bytes_in_use == 0);
    memory_free(stage.memory);
    return check_done();
}
