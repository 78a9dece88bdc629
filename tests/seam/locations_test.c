/* locations_test.c - programs that are equal but for the lines they were written on share their code, and
 * each says its own lines when it fails.  Links the engine. */
#include "engine/custom_call.h"
#include "tests/seam/execute.h"

/* Device 0 goes to the all_reduce in line 7, counted from 1; device 1 has no part in it. */
static const char parted[] =
    "module attributes {mhlo.num_replicas = 2 : i32} {\n"
    "func.func public @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n"
    "%id = stablehlo.replica_id : tensor<ui32>\n"
    "%c0 = stablehlo.constant dense<0> : tensor<ui32>\n"
    "%is = stablehlo.compare EQ, %id, %c0 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>\n"
    "%y = \"stablehlo.if\"(%is) ({\n"
    "%p = \"stablehlo.all_reduce\"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
    "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%s = stablehlo.add %a, %b : tensor<f32>\n"
    "stablehlo.return %s : tensor<f32>\n}) : (tensor<1xf32>) -> tensor<1xf32>\n"
    "stablehlo.return %p : tensor<1xf32>\n}, {\nstablehlo.return %x : tensor<1xf32>\n"
    "}) : (tensor<i1>) -> tensor<1xf32>\nreturn %y : tensor<1xf32>\n}\n}\n";

/* The call is in line 2. */
static const char calling[] =
    "func.func public @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n"
    "%y = stablehlo.custom_call @refuse(%x) : (tensor<1xf32>) -> tensor<1xf32>\n"
    "return %y : tensor<1xf32>\n}\n";

static int32_t refuse(void *user, const TuttiCall *call)
{
    (void)user;
    snprintf(call->message, call->room, "no");
    return 1;
}

/* The program as it stands `lines` lines further down. */
static PJRT_LoadedExecutable *load_at(const char *text, int lines)
{
    static char moved[4096];
    memset(moved, '\n', (size_t)lines);
    snprintf(moved + lines, sizeof moved - (size_t)lines, "%s", text);
    return load(moved);
}

static const char *fails(PJRT_LoadedExecutable *loaded, int ndevices)
{
    static char said[2048];
    float x = 1;
    PJRT_Buffer *in[2], *out[2] = { 0 }; /* a call that fails itself gives none */
    for (int d = 0; d < ndevices; d++)
        in[d] = send(d, 1, &x);
    snprintf(said, sizeof said, "%s", execute(loaded, ndevices, 1, in, 1, out));
    for (int d = 0; d < ndevices; d++) {
        release(in[d]);
        release(out[d]);
    }
    return said;
}

static void check(const char *text, int ndevices, const char *format, int first)
{
    enum { N = 4 };
    static const int lines[N] = { 0, 10, 20, 10 };
    PJRT_LoadedExecutable *loaded[N];
    for (int i = 0; i < N; i++)
        loaded[i] = load_at(text, lines[i]);
    for (int round = 0; round < 2; round++)
        for (int i = N - 1; i >= 0; i--) {
            char expected[300];
            snprintf(expected, sizeof expected, format, first + lines[i]);
            CHECK_STR(fails(loaded[i], ndevices), expected);
        }
    unload(loaded[0]); /* whose code it is; the others go on */
    char expected[300];
    snprintf(expected, sizeof expected, format, first + lines[2]);
    CHECK_STR(fails(loaded[2], ndevices), expected);
    for (int i = 1; i < N; i++)
        unload(loaded[i]);
}

int main(void)
{
    client_start("2");
    CHECK(call_registry_add(STR("refuse"), refuse, NULL));
    check(parted, 2, "all_reduce (program:%d:6): device 1 does not come: it has finished; 0 waits",
          7);
    check(calling, 1, "custom_call @refuse, at program:%d:6: no", 2);
    client_end();
    return check_done();
}
