/* client_test.c - a program given as text, compiled and run over the seam; plugins that are
 * none. */
#include "front/client/client.h"
#include "pjrt/client.h"
#include "tests/front.h"

#include <stdio.h>

static void check_ok(Error *error)
{
    if (error)
        printf("%s\n", error_text(error));
    CHECK(!error);
    error_free(error);
}

static void refuse(const char *path, int devices, const char *expected)
{
    check_ok(client_options(&(ClientOptions){ .plugin = path, .devices = devices }));
    Error *error = client_need();
    CHECK(error != NULL);
    if (error && !strstr(error_text(error), expected))
        CHECK_STR(error_text(error), expected);
    error_free(error);
}

/* Of tests/plugins, built beside this program. */
static const char *beside(const char *self, const char *name)
{
    static char path[4096];
    const char *slash = strrchr(self, '/');
    snprintf(path, sizeof path, "%.*s/../plugins/%s", (int)(slash - self), self, name);
    return path;
}

static void test_fakes(const char *self)
{
    const char *path = beside(self, "fake.so");
    setenv("FAKE", "empty", 1);
    refuse(path, 0, "is no PJRT plugin: its GetPjrtApi gives no table");
    setenv("FAKE", "old", 1);
    refuse(path, 0, "speaks PJRT 0.12; this library needs 0.40 or a later 0.x");
    setenv("FAKE", "major", 1);
    refuse(path, 0, "speaks PJRT 1.114; this library needs 0.40 or a later 0.x");
    setenv("FAKE", "none", 1);
    refuse(path, 2, "2 devices are wanted, and ");
}

static void test_not_plugins(const char *self)
{
    refuse("build/nothing.so", 0,
           "tt_init names the plugin build/nothing.so, and there is no such file");
    refuse("Makefile", 0, "the plugin cannot be loaded: ");
    refuse("libm.so.6", 0, "there is no such file");
    refuse(beside(self, "none.so"), 0, "is no PJRT plugin: it has no GetPjrtApi");
    setenv("TUTTI_DEVICES", "many", 1);
    refuse(NULL, 0, "TUTTI_DEVICES is 'many'; 1 to 4096 are possible");
    setenv("TUTTI_DEVICES", "3", 1);
    Error *error = client_options(&(ClientOptions){ .plugin = NULL, .devices = -1 });
    CHECK(error != NULL);
    error_free(error);
}

static const char program[] =
    "module @square attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @mesh = <[\"i\"=2]>\n"
    "  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"i\"}]>})\n"
    "      -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"i\"}]>}) {\n"
    "    %y = stablehlo.multiply %x, %x : tensor<4xf32>\n"
    "    return %y : tensor<4xf32>\n"
    "  }\n"
    "}\n";

/* On devices 2 and 1, in that order. */
static void test_execute(void)
{
    Executable *e = NULL;
    int devices[] = { 2, 1 };
    check_ok(client_compile(str_of(program), 2, devices, 1, 1, &e));
    if (!e)
        return;
    Type part = { F32, 1, (int64_t[]){ 2 } };
    float in[2][2] = { { 1, 2 }, { 3, 4 } }, out[2][2] = { { 0 } };
    PJRT_Buffer *a[2], *b[2];
    for (int d = 0; d < 2; d++)
        check_ok(client_upload(part, in[d], devices[d], &a[d]));
    PJRT_Buffer *const *args[] = { &a[0], &a[1] };
    PJRT_Buffer **results[] = { &b[0], &b[1] };
    check_ok(client_execute(e, args, results, 0, NULL, 0));
    for (int d = 0; d < 2; d++) {
        check_ok(client_await(b[d]));
        check_ok(client_download(b[d], part, out[d]));
        for (int i = 0; i < 2; i++)
            CHECK(out[d][i] == in[d][i] * in[d][i]);
        client_free(a[d]);
        client_free(b[d]);
    }
    client_end(e);
}

static void test_refused_program(void)
{
    Executable *e = NULL;
    Error *error = client_compile(STR("module { nonsense }"), 1, (int[]){ 0 }, 0, 0, &e);
    CHECK(error != NULL && e == NULL);
    error_free(error);
}

static void test_buffers(void)
{
    Type type = { I64, 2, (int64_t[]){ 2, 3 } };
    int64_t in[6] = { 1, 2, 3, 4, 5, 6 }, out[6] = { 0 };
    PJRT_Buffer *a, *b;
    check_ok(client_upload(type, in, 0, &a));
    in[0] = 9; /* it may go as soon as the call returns */
    check_ok(client_copy(a, 1, &b));
    client_free(a);
    check_ok(client_download(b, type, out));
    CHECK(out[0] == 1 && out[5] == 6);
    client_free(b);
}

/* A plugin that is not ours cannot call a function of the user's. */
static void test_no_extension(void)
{
    const TuttiExtension *ours = client_plugin()->tutti;
    CHECK(ours != NULL);
    client_plugin()->tutti = NULL;
    Error *error = client_define("tt_define_call", "mine", NULL, NULL);
    CHECK(error &&
          strstr(error_text(error), "is another's plugin: only Tutti's own engine can call "
                                    "mine"));
    error_free(error);
    client_plugin()->tutti = ours;
}

int main(int argc, char **argv)
{
    (void)argc;
    tt_on_error(NULL, NULL);
    test_not_plugins(argv[0]);
    test_fakes(argv[0]);
    setenv("TUTTI_PLUGIN", "build/pjrt_plugin_tutti.so", 0);
    check_ok(client_options(&(ClientOptions){ .plugin = NULL, .devices = 0 }));
    check_ok(client_need());
    if (check_failures)
        return check_done();
    CHECK(client_device_count() == 3 && client_plugin()->tutti); /* as TUTTI_DEVICES says */
    CHECK(strlen(client_device_name(2)) > 0);
    check_ok(client_options(&(ClientOptions){ .plugin = NULL, .devices = 3 }));
    Error *late = client_options(&(ClientOptions){ .plugin = NULL, .devices = 5 });
    CHECK(late && strstr(error_text(late), "tt_init: 3 devices of "));
    error_free(late);
    test_execute();
    test_refused_program();
    test_buffers();
    test_no_extension();
    return check_done();
}
