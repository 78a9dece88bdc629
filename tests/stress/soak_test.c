/* soak_test.c - very many launches of mixed programs on eight devices and two workers: what one
 * program gives is the same bits every time, failures in between leave nothing behind, and memory
 * does not grow.  SOAK says how many launches; 1000000 is the long form.  Links the engine. */
#include "tests/seam/execute.h"
#include "tests/stress/resident.h"

enum { N = 8, SIZE = 4096, MOST_GROWTH = 2 << 20 };

#define VECTOR "tensor<4096xf32>"
#define SUM                                                                                        \
    "<{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>}> ({\n"                \
    "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%c = stablehlo.add %a, %b : tensor<f32>\n"           \
    "stablehlo.return %c : tensor<f32>\n}) : (" VECTOR ") -> " VECTOR "\n"
#define MAIN(arg, body)                                                                            \
    "module attributes {mhlo.num_replicas = 8 : i32, mhlo.num_partitions = 1 : i32} {\n"           \
    "func.func public @main(%x: " VECTOR arg ") -> " VECTOR " {\n" body "return %r : " VECTOR      \
    "\n}\n}\n"

/* What each is about, and whether it fails. */
static const struct {
    const char *text;
    bool donates, fails;
} programs[] = {
    { MAIN("", "%y = stablehlo.multiply %x, %x : " VECTOR "\n"
               "%r = stablehlo.sine %y : " VECTOR "\n"),
      false, false },
    { MAIN("", "%r = \"stablehlo.all_reduce\"(%x) " SUM), false, false },
    { MAIN("", "%y = stablehlo.multiply %x, %x : " VECTOR "\n"
               "%s = \"stablehlo.all_reduce\"(%y) " SUM "%r = stablehlo.subtract %x, %s : " VECTOR
               "\n"),
      false, false },
    /* A loop whose length is data, with a collective in every round. */
    { MAIN("",
           "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
           "%one = stablehlo.constant dense<1.0> : tensor<f32>\n"
           "%eighth = stablehlo.constant dense<0.125> : " VECTOR "\n"
           "%f = stablehlo.slice %x [0:1] : (" VECTOR ") -> tensor<1xf32>\n"
           "%n = stablehlo.reshape %f : (tensor<1xf32>) -> tensor<f32>\n"
           "%n3 = stablehlo.constant dense<3.0> : tensor<f32>\n"
           "%m = stablehlo.minimum %n, %n3 : tensor<f32>\n"
           "%m2 = stablehlo.maximum %m, %n3 : tensor<f32>\n"
           "%q:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<f32>, " VECTOR "\n"
           "cond {\n%g = stablehlo.compare LT, %i, %m2 : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
           "stablehlo.return %g : tensor<i1>\n} do {\n"
           "%s = \"stablehlo.all_reduce\"(%v) " SUM "%w = stablehlo.multiply %s, %eighth : " VECTOR
           "\n"
           "%j = stablehlo.add %i, %one : tensor<f32>\n"
           "stablehlo.return %j, %w : tensor<f32>, " VECTOR "\n}\n"
           "%r = stablehlo.add %q#1, %x : " VECTOR "\n"),
      false, false },
    { MAIN(" {tf.aliasing_output = 0 : i32}", "%r = stablehlo.negate %x : " VECTOR "\n"), true,
      false },
    /* A product that idle workers help with, then a collective of all devices. */
    { MAIN("", "%y = stablehlo.reshape %x : (" VECTOR ") -> tensor<64x64xf32>\n"
               "%p = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0] : "
               "(tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n"
               "%t = stablehlo.tanh %p : tensor<64x64xf32>\n"
               "%z = stablehlo.reshape %t : (tensor<64x64xf32>) -> " VECTOR "\n"
               "%r = \"stablehlo.all_reduce\"(%z) " SUM),
      false, false },
    { MAIN("",
           "%r = \"stablehlo.all_to_all\"(%x) <{replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]>"
           " : tensor<1x8xi64>, split_dimension = 0 : i64, concat_dimension = 0 : i64,"
           " split_count = 8 : i64}> : (" VECTOR ") -> " VECTOR "\n"),
      false, false },
    { MAIN("",
           "%r = \"stablehlo.collective_permute\"(%x) <{source_target_pairs = "
           "dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (" VECTOR ") -> " VECTOR "\n"),
      false, false },
    /* Device 3 does not come. */
    { MAIN("",
           "%id = stablehlo.replica_id : tensor<ui32>\n"
           "%three = stablehlo.constant dense<3> : tensor<ui32>\n"
           "%is = stablehlo.compare EQ, %id, %three : (tensor<ui32>, tensor<ui32>) -> tensor<i1>\n"
           "%r = \"stablehlo.if\"(%is) ({\nstablehlo.return %x : " VECTOR "\n}, {\n"
           "%s = \"stablehlo.all_reduce\"(%x) " SUM "stablehlo.return %s : " VECTOR
           "\n}) : (tensor<i1>) -> " VECTOR "\n"),
      false, true },
};
enum { NPROGRAMS = sizeof programs / sizeof *programs, EVERY_FAILURE = 97 };

static PJRT_LoadedExecutable *loaded[NPROGRAMS];
static float first[NPROGRAMS][N][SIZE]; /* what each gave the first time */
static bool has_run[NPROGRAMS];
static PJRT_Buffer *args[N];

static PJRT_Buffer *fresh_argument(int d)
{
    static float data[SIZE];
    for (int i = 0; i < SIZE; i++)
        data[i] = (float)((i * 37 + d * 11) % 257) / 64 - 2;
    return send(d, SIZE, data);
}

static void look_at(int k, PJRT_Buffer **out)
{
    static float got[SIZE];
    for (int d = 0; d < N; d++) {
        CHECK_STR(receive(out[d], SIZE, has_run[k] ? got : first[k][d]), "");
        CHECK(!has_run[k] || memcmp(got, first[k][d], sizeof got) == 0);
    }
    has_run[k] = true;
}

static void launch(int k)
{
    PJRT_Buffer *in[N], *out[N] = { 0 };
    for (int d = 0; d < N; d++)
        in[d] = programs[k].donates ? fresh_argument(d) : args[d];
    const char *message = execute(loaded[k], N, 1, in, 1, out);
    if (programs[k].fails)
        CHECK(strstr(message, "device 3 does not come") != NULL);
    else
        CHECK_STR(message, "");
    if (!programs[k].fails)
        look_at(k, out);
    for (int d = 0; d < N; d++) {
        if (programs[k].donates)
            release(in[d]);
        if (out[d])
            release(out[d]);
    }
}

static int64_t bytes_in_use(int device)
{
    PJRT_Client_LookupDevice_Args at = ARGS(Client_LookupDevice, .client = client, .id = device);
    OK(api->PJRT_Client_LookupDevice(&at));
    PJRT_Device_MemoryStats_Args stats = ARGS(Device_MemoryStats, .device = at.device);
    OK(api->PJRT_Device_MemoryStats(&stats));
    return stats.bytes_in_use;
}

static void soak(int nlaunches)
{
    uint32_t dice = 1;
    int64_t live[N];
    long began = 0, middle = 0;
    for (int t = 0; t < nlaunches; t++) {
        dice = dice * 1664525 + 1013904223;
        bool fails = t % EVERY_FAILURE == EVERY_FAILURE - 1;
        launch(fails ? NPROGRAMS - 1 : (int)((dice >> 16) % (NPROGRAMS - 1)));
        if (t == nlaunches / 10) {
            began = resident();
            for (int d = 0; d < N; d++)
                live[d] = bytes_in_use(d);
        }
        if (t == nlaunches / 2)
            middle = resident();
    }
    long ended = resident();
    printf("%d launches: resident %.2f MB after a tenth, %.2f after half, %.2f at the end\n",
           nlaunches, (double)began / 1e6, (double)middle / 1e6, (double)ended / 1e6);
    for (int d = 0; d < N; d++)
        CHECK(bytes_in_use(d) == live[d]);
#ifndef __SANITIZE_ADDRESS__ /* it keeps what is freed */
    CHECK(ended - began < MOST_GROWTH);
#endif
}

int main(void)
{
    const char *said = getenv("SOAK");
    setenv("TUTTI_WORKERS", "2", 0);
    client_start("8");
    for (int k = 0; k < NPROGRAMS; k++)
        loaded[k] = load(programs[k].text);
    for (int d = 0; d < N; d++)
        args[d] = fresh_argument(d);
    soak(said ? atoi(said) : 3000);
    for (int d = 0; d < N; d++)
        release(args[d]);
    for (int k = 0; k < NPROGRAMS; k++)
        unload(loaded[k]);
    client_end();
    return check_done();
}
