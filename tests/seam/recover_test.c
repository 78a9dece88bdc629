/* recover_test.c - after a run that failed, the next one is right, in the same process: devices
 * that skip a collective, come to another one or go round less often, many times over, with runs
 * that hold before, between and after.  Links the engine; reads tests/errors. */
#include "tests/seam/execute.h"

/* Each of four devices gives the sum of what they hold. */
static const char sum_program[] =
    "module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @m = <[\"i\"=4]>\n"
    "  func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"i\"}]>})"
    " -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"i\"}]>}) {\n"
    "    %r = sdy.manual_computation(%x) in_shardings=[<@m, [{\"i\"}]>]"
    " out_shardings=[<@m, [{\"i\"}]>] manual_axes={\"i\"} (%p: tensor<2xf32>) {\n"
    "      %s = \"stablehlo.all_reduce\"(%p) <{channel_handle = #stablehlo.channel_handle<"
    "handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,"
    " use_global_device_ids}> ({\n"
    "      ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    "        %c = stablehlo.add %a, %b : tensor<f32>\n"
    "        stablehlo.return %c : tensor<f32>\n"
    "      }) : (tensor<2xf32>) -> tensor<2xf32>\n"
    "      sdy.return %s : tensor<2xf32>\n"
    "    } : (tensor<8xf32>) -> tensor<8xf32>\n"
    "    return %r : tensor<8xf32>\n"
    "  }\n"
    "}\n";

static void check_sum(PJRT_LoadedExecutable *sum, float shift)
{
    PJRT_Buffer *in[4], *out[4];
    for (int d = 0; d < 4; d++)
        in[d] = send(d, 2, (float[]){ (float)d + shift, (float)(10 * d) });
    CHECK_STR(execute(sum, 4, 1, in, 1, out), "");
    for (int d = 0; d < 4; d++) {
        float got[2];
        CHECK_STR(receive(out[d], 2, got), "");
        CHECK(got[0] == 6 + 4 * shift && got[1] == 60);
        release(in[d]);
        release(out[d]);
    }
}

typedef struct Bad {
    const char *path;
    PJRT_LoadedExecutable *loaded;
} Bad;

/* The message itself is what tests/errors.sh looks at; here it must be one of a failed collective,
 * and every result must carry it. */
static void check_fails(const Bad *bad)
{
    PJRT_Buffer *none[1] = { NULL }, *out[4] = { 0 };
    const char *message = execute(bad->loaded, 4, 0, none, 1, out);
    bool says = strstr(message, "does not come") || strstr(message, "comes here while");
    if (!says)
        printf("%s: '%s'\n", bad->path, message);
    CHECK(says);
    for (int d = 0; d < 4 && out[d]; d++) {
        float got[16];
        CHECK(receive(out[d], 16, got)[0] != 0);
        release(out[d]);
    }
}

int main(void)
{
    enum { NBAD = 4, TIMES = 50 };
    Bad bad[NBAD] = { { .path = "tests/errors/skips_collective_4.mlir" },
                      { .path = "tests/errors/different_collectives_4.mlir" },
                      { .path = "tests/errors/turns_differ_4.mlir" },
                      { .path = "tests/errors/groups_cross_4.mlir" } };
    client_start("4");
    PJRT_LoadedExecutable *sum = load(sum_program);
    for (int i = 0; i < NBAD; i++) {
        char *text = text_of_file(bad[i].path);
        bad[i].loaded = load(text);
        free(text);
    }
    check_sum(sum, 0);
    for (int t = 0; t < TIMES; t++)
        for (int i = 0; i < NBAD; i++) {
            check_fails(&bad[i]);
            check_sum(sum, (float)t);
        }
    for (int i = 0; i < NBAD; i++)
        unload(bad[i].loaded);
    unload(sum);
    client_end();
    return check_done();
}
