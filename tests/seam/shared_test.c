/* shared_test.c - collectives of every size, from a few elements to more than the caches hold, by
 * all workers and past the caches; and results that all devices get alike, which are computed once
 * and are one memory for all of them: who lets go of it, who donates it, and what each device is
 * charged.  Links the engine. */
#include "tests/seam/execute.h"

enum { N = 4, MOST = 3 << 20 };

#define GROUPS "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"
#define ADD                                                                                        \
    "({\n^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n%%c = stablehlo.add %%a, %%b : tensor<f32>\n"  \
    "stablehlo.return %%c : tensor<f32>\n})"

/* A program of one operation on n floats that gives m, on N replicas. */
static PJRT_LoadedExecutable *program(const char *op, const char *attrs, const char *region,
                                      int64_t n, int64_t m, const char *donates)
{
    char text[2048], body[512];
    snprintf(body, sizeof body, region, 0);
    snprintf(text, sizeof text,
             "module attributes {mhlo.num_replicas = 4 : i32, mhlo.num_partitions = 1 : i32} {\n"
             "func.func public @main(%%x: tensor<%lldxf32>%s) -> tensor<%lldxf32> {\n"
             "%%r = \"stablehlo.%s\"(%%x) <{%s}> %s : (tensor<%lldxf32>) -> tensor<%lldxf32>\n"
             "return %%r : tensor<%lldxf32>\n}\n}\n",
             (long long)n, donates, (long long)m, op, attrs, body, (long long)n, (long long)m,
             (long long)m);
    return load(text);
}

/* Small whole numbers, so that sums are exact in any order. */
static float value_of(int device, int64_t i)
{
    return (float)((device * 7 + i) % 1021);
}

static float *data;

static void send_all(int64_t n, PJRT_Buffer **in)
{
    for (int d = 0; d < N; d++) {
        for (int64_t i = 0; i < n; i++)
            data[i] = value_of(d, i);
        in[d] = send(d, n, data);
    }
}

static void release_all(PJRT_Buffer **buffers)
{
    for (int d = 0; d < N; d++)
        release(buffers[d]);
}

static const void *address_of(PJRT_Buffer *buffer)
{
    PJRT_Buffer_UnsafePointer_Args args = ARGS(Buffer_UnsafePointer, .buffer = buffer);
    OK(api->PJRT_Buffer_UnsafePointer(&args));
    return (const void *)args.buffer_pointer;
}

/* What device d gets at i; n: floats of one operand. */
typedef float Expected(int d, int64_t i, int64_t n);

static float sum_at(int64_t i)
{
    float sum = 0;
    for (int r = 0; r < N; r++)
        sum += value_of(r, i);
    return sum;
}

/* clang-format off */
static float reduced(int d, int64_t i, int64_t n) { return (void)d, (void)n, sum_at(i); }
static float gathered(int d, int64_t i, int64_t n) { return (void)d, value_of((int)(i / n), i % n); }
static float scattered(int d, int64_t i, int64_t n) { return sum_at(d * (n / N) + i); }
static float from_third(int d, int64_t i, int64_t n) { return (void)d, (void)n, value_of(2, i); }
/* clang-format on */

static float exchanged(int d, int64_t i, int64_t n)
{
    return value_of((int)(i / (n / N)), d * (n / N) + i % (n / N));
}

static float shifted(int d, int64_t i, int64_t n)
{
    return (void)n, d == 3 ? 0 : value_of(d + 1, i);
}

static const struct {
    const char *op, *attrs, *region;
    int64_t times, over; /* floats of a result: times / over of an operand */
    bool is_shared;
    Expected *expected;
} collectives[] = {
    { "all_reduce", GROUPS, ADD, 1, 1, true, reduced },
    { "all_gather", GROUPS ", all_gather_dim = 0 : i64", "", N, 1, true, gathered },
    { "reduce_scatter", GROUPS ", scatter_dimension = 0 : i64", ADD, 1, N, false, scattered },
    { "all_to_all",
      GROUPS ", split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64", "",
      1, 1, false, exchanged },
    { "collective_permute",
      "source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>", "", 1, 1, false,
      shifted },
    { "collective_broadcast", "replica_groups = dense<[[2, 0, 1, 3]]> : tensor<1x4xi64>", "", 1, 1,
      true, from_third },
};

static void check_values(PJRT_Buffer *buffer, int k, int d, int64_t n)
{
    int64_t m = n * collectives[k].times / collectives[k].over, nwrong = 0;
    CHECK_STR(receive(buffer, m, data), "");
    for (int64_t i = 0; i < m; i++)
        nwrong += data[i] != collectives[k].expected(d, i, n);
    if (nwrong)
        printf("%s of %lld: %lld wrong on device %d\n", collectives[k].op, (long long)n,
               (long long)nwrong, d);
    CHECK(!nwrong);
}

static void check_size(int k, int64_t n)
{
    int64_t m = n * collectives[k].times / collectives[k].over;
    PJRT_LoadedExecutable *loaded =
        program(collectives[k].op, collectives[k].attrs, collectives[k].region, n, m, "");
    PJRT_Buffer *in[N], *out[N], *again[N];
    send_all(n, in);
    CHECK_STR(execute(loaded, N, 1, in, 1, out), "");
    bool is_shared = collectives[k].is_shared && m * (int64_t)sizeof(float) >= 4096;
    for (int d = 1; d < N; d++)
        CHECK((address_of(out[d]) == address_of(out[0])) == is_shared);
    release(out[0]); /* the first goes; the others keep what they have, whatever comes next */
    out[0] = NULL;
    CHECK_STR(execute(loaded, N, 1, in, 1, again), "");
    for (int d = 1; d < N; d++)
        CHECK(address_of(again[d]) != address_of(out[d]));
    for (int d = 0; d < N; d++) {
        check_values(again[d], k, d, n);
        release(again[d]);
        if (out[d]) {
            check_values(out[d], k, d, n);
            release(out[d]);
        }
    }
    release_all(in);
    unload(loaded);
}

static int64_t bytes_in_use(int device)
{
    PJRT_Client_LookupDevice_Args at = ARGS(Client_LookupDevice, .client = client, .id = device);
    OK(api->PJRT_Client_LookupDevice(&at));
    PJRT_Device_MemoryStats_Args args = ARGS(Device_MemoryStats, .device = at.device);
    OK(api->PJRT_Device_MemoryStats(&args));
    return args.bytes_in_use;
}

/* A result that is one memory, of which each device is charged for its share; then given away by all of them to a program
 * that could work in place: it must not, while others hold it. */
static void check_donation(void)
{
    enum { SIZE = 1 << 14 };
    PJRT_LoadedExecutable *sum = program("all_reduce", GROUPS, ADD, SIZE, SIZE, "");
    PJRT_LoadedExecutable *negate =
        program("negate", "", "", SIZE, SIZE, " {tf.aliasing_output = 0 : i32}");
    PJRT_Buffer *in[N], *shared[N], *out[N];
    int64_t before[N];
    send_all(SIZE, in);
    for (int d = 0; d < N; d++)
        before[d] = bytes_in_use(d);
    CHECK_STR(execute(sum, N, 1, in, 1, shared), "");
    for (int d = 0; d < N; d++)
        CHECK(bytes_in_use(d) - before[d] == SIZE * (int64_t)sizeof(float) / N);
    CHECK_STR(execute(negate, N, 1, shared, 1, out), "");
    for (int d = 0; d < N; d++) {
        CHECK_STR(receive(out[d], SIZE, data), "");
        for (int64_t i = 0; i < SIZE; i++)
            CHECK(data[i] == -sum_at(i));
    }
    release_all(shared);
    release_all(out);
    for (int d = 0; d < N; d++)
        CHECK(bytes_in_use(d) == before[d]);
    release_all(in);
    unload(sum);
    unload(negate);
}

/* A step: %q - sum of %y, on pieces; %q is the same on all devices, or each has its own. */
static PJRT_LoadedExecutable *step_program(bool is_same, const char *donates)
{
    char text[4096];
    const char *cut = is_same ? "{}" : "{\"i\"}";
    int whole = is_same ? 32768 : 131072;
    snprintf(
        text, sizeof text,
        "module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {\n"
        "sdy.mesh @m = <[\"i\"=4]>\n"
        "func.func public @main(%%p: tensor<%dxf32> {%ssdy.sharding = #sdy.sharding<@m, [%s]>},"
        " %%x: tensor<131072xf32> {sdy.sharding = #sdy.sharding<@m, [{\"i\"}]>})"
        " -> (tensor<131072xf32> {sdy.sharding = #sdy.sharding<@m, [{\"i\"}]>}) {\n"
        "%%r = sdy.manual_computation(%%p, %%x) in_shardings=[<@m, [%s]>, <@m, [{\"i\"}]>]"
        " out_shardings=[<@m, [{\"i\"}]>] manual_axes={\"i\"}"
        " (%%q: tensor<32768xf32>, %%y: tensor<32768xf32>) {\n"
        "%%g = \"stablehlo.all_reduce\"(%%y) <{channel_handle = #stablehlo.channel_handle<handle ="
        " 1, type = 1>, replica_groups = dense<[[3, 1, 2, 0]]> : tensor<1x4xi64>,"
        " use_global_device_ids}> ({\n^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n"
        "%%c = stablehlo.add %%a, %%b : tensor<f32>\nstablehlo.return %%c : tensor<f32>\n})"
        " : (tensor<32768xf32>) -> tensor<32768xf32>\n"
        "%%n = stablehlo.subtract %%q, %%g : tensor<32768xf32>\n"
        "sdy.return %%n : tensor<32768xf32>\n"
        "} : (tensor<%dxf32>, tensor<131072xf32>) -> tensor<131072xf32>\n"
        "return %%r : tensor<131072xf32>\n}\n}\n",
        whole, donates, cut, cut, whole);
    return load(text);
}

/* The same as each device's own program, in which nothing says how arrays lie. */
static PJRT_LoadedExecutable *own_program(void)
{
    return load(
        "module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {\n"
        "func.func public @main(%q: tensor<32768xf32>, %y: tensor<32768xf32>)"
        " -> tensor<32768xf32> {\n"
        "%g = \"stablehlo.all_reduce\"(%y) <{channel_handle = #stablehlo.channel_handle<handle ="
        " 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,"
        " use_global_device_ids}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
        "%c = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %c : tensor<f32>\n})"
        " : (tensor<32768xf32>) -> tensor<32768xf32>\n"
        "%n = stablehlo.subtract %q, %g : tensor<32768xf32>\n"
        "return %n : tensor<32768xf32>\n}\n}\n");
}

/* What all would compute alike is computed once, and only that. */
static void check_step(PJRT_LoadedExecutable *step, bool is_same, bool is_shared)
{
    enum { SIZE = 32768 };
    PJRT_Buffer *in[2 * N], *pieces[N], *out[N];
    send_all(SIZE, pieces);
    for (int d = 0; d < N; d++) {
        for (int64_t i = 0; i < SIZE; i++)
            data[i] = (float)(i % 100 + (is_same ? 0 : d));
        in[2 * d] = send(d, SIZE, data);
        in[2 * d + 1] = pieces[d];
    }
    CHECK_STR(execute(step, N, 2, in, 1, out), "");
    for (int d = 0; d < N; d++) {
        int64_t nwrong = 0;
        CHECK((address_of(out[d]) == address_of(out[(d + 1) % N])) == is_shared);
        CHECK_STR(receive(out[d], SIZE, data), "");
        for (int64_t i = 0; i < SIZE; i++)
            nwrong += data[i] != (float)(i % 100 + (is_same ? 0 : d)) - sum_at(i);
        CHECK(!nwrong);
        release(in[2 * d]);
    }
    release_all(pieces);
    release_all(out);
    unload(step);
}

int main(void)
{
    static const int64_t sizes[] = { 8, 1024, 2052, 65536 + 4, 1048576 + 12 };
    data = malloc(sizeof *data * N * MOST);
    CHECK(data != NULL);
    client_start("4");
    for (int k = 0; k < (int)(sizeof collectives / sizeof *collectives); k++)
        for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++)
            check_size(k, sizes[i]);
    check_donation();
    check_step(step_program(true, ""), true, true);
    check_step(step_program(false, ""), false, false);
    check_step(step_program(false, "tf.aliasing_output = 0 : i32, "), false, false);
    check_step(own_program(), false, false);
    free(data);
    client_end();
    return check_done();
}
