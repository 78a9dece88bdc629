/* proto_test.c - compile options, device assignments and shardings as protocol buffers.
 * Links the engine (build_options.c, op_sharding.c).  The bytes are written out by hand from the messages' field
 * numbers. */
#include "../check.h"

#include "engine/op_sharding.h"
#include "engine/plugin/build_options.h"
#include "pjrt/proto.h"

#define BYTES(literal) ((Str){ (literal), sizeof(literal) - 1 })

static Arena *arena;

/* What JAX sends for four devices in reverse order, the debug options left out. */
static void test_options_of_jax(void)
{
    Str bytes = BYTES("\x1a\x39"                                     /* executable_build_options */
                      "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" /* device_ordinal -1 */
                      "\x20\x01\x28\x04\x30\x01" /* 1 replica, 4 partitions, spmd */
                      "\x4a\x18\x08\x01\x10\x04" /* assignment: 1 by 4 */
                      "\x1a\x03\x0a\x01\x03\x1a\x03\x0a\x01\x02"
                      "\x1a\x03\x0a\x01\x01\x1a\x03\x0a\x01\x00"
                      "\x62\x01\x01"                                 /* results: free */
                      "\x92\x01\x02\x00\x01"                         /* arguments: fixed, free */
                      "\x98\x01\x01\xb8\x01\x01"                     /* shardy, process_count */
                      "\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" /* profile_version -1 */
                      "\x48\x01");
    BuildOptions o;
    Error *error = build_options_read(arena, bytes, &o);
    CHECK(error == NULL);
    if (error) {
        printf("%s\n", error_text(error));
        error_free(error);
        return;
    }
    CHECK(o.nreplicas == 1 && o.npartitions == 4 && o.ndevices == 4);
    for (int i = 0; i < 4; i++)
        CHECK(o.devices[i] == 3 - i);
    CHECK(o.nfree_results == 1 && o.free_results[0]);
    CHECK(o.nfree_args == 2 && !o.free_args[0] && o.free_args[1]);
    CHECK(!o.evaluate && !o.is_portable);
}

static void test_unpacked_lists(void)
{
    BuildOptions o;
    Error *error = build_options_read(arena, BYTES("\x1a\x06\x60\x00\x60\x01\x60\x01"), &o);
    CHECK(error == NULL);
    CHECK(o.nfree_results == 3 && !o.free_results[0] && o.free_results[2]);
    CHECK(build_options_read(arena, (Str){ 0 }, &o) == NULL);
    CHECK(o.npartitions == 0 && o.ndevices == 0);
}

static void refuses(Str bytes, const char *message)
{
    BuildOptions o;
    Error *error = build_options_read(arena, bytes, &o);
    CHECK_STR(error ? error_text(error) : "accepted", message);
    error_free(error);
}

/* XLA's own options are checked for their type and mean nothing. */
static void test_switches(void)
{
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        { "xla_cpu_use_acl", "true", "accepted" },
        { "xla_cpu_use_acl", "yes",
          "compile option xla_cpu_use_acl: 'yes' is not a valid bool value." },
        { "xla_dump_max_hlo_modules", "200", "accepted" },
        { "xla_dump_max_hlo_modules", "many",
          "compile option xla_dump_max_hlo_modules: 'many' is not a valid number." },
        { "xla_dump_to", "/tmp", "accepted" },
        { "xla_gpu_autotune_level", "4", "accepted" },
        { "xla_dump", "1", "No such compile option: 'xla_dump'" },
        { "xla_dump_to ", "1", "No such compile option: 'xla_dump_to '" },
        { "", "1", "No such compile option: ''" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text bytes = { 0 };
        int name = (int)strlen(cases[i].name), text = (int)strlen(cases[i].text);
        text_printf(&bytes, "%c%c%c%c%s%c%c%c%c%s", 0x3a, name + text + 6, 0x0a, name,
                    cases[i].name, 0x12, text + 2, 0x0a, text, cases[i].text);
        refuses((Str){ bytes.at, bytes.n }, cases[i].message);
        text_free(&bytes);
    }
}

static void test_overrides(void)
{
    BuildOptions o;
    CHECK(build_options_read(arena, BYTES("\x3a\x14\x0a\x0etutti_evaluate\x12\x02\x10\x01"), &o) ==
          NULL);
    CHECK(o.evaluate);
    CHECK(build_options_read(arena,
                             BYTES("\x3a\x19\x0a\x0etutti_evaluate\x12\x07\x0a\x05"
                                   "false"),
                             &o) == NULL);
    CHECK(!o.evaluate);
    refuses(BYTES("\x3a\x09\x0a\x03"
                  "foo\x12\x02\x10\x01"),
            "No such compile option: 'foo'");
    refuses(BYTES("\x3a\x17\x0a\x0etutti_evaluate\x12\x05\x0a\x03yes"),
            "compile option tutti_evaluate: 'yes' is not a valid bool value.");
    CHECK(o.name == NULL && !o.no_fold);
    CHECK(build_options_read(arena,
                             BYTES("\x3a\x16\x0a\x0atutti_name\x12\x08\x0a\x06x.mlir"
                                   "\x3a\x10\x0a\x0atutti_fold\x12\x02\x10\x00"),
                             &o) == NULL);
    CHECK_STR(o.name ? o.name : "none", "x.mlir");
    CHECK(o.no_fold);
    refuses(BYTES("\x3a\x10\x0a\x0atutti_name\x12\x02\x10\x01"),
            "compile option tutti_name: it must be a string");
}

static void test_broken_bytes(void)
{
    refuses(BYTES("\x1a\x7f\x20"),
            "compile options: the CompileOptionsProto is cut short or garbled");
    refuses(BYTES("\x1a\x02\x4a\x05"),
            "compile options: the ExecutableBuildOptionsProto is cut short or garbled");
    refuses(BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"),
            "compile options: the CompileOptionsProto is cut short or garbled");
    refuses(BYTES("\x1a\x06\x4a\x04\x08\x02\x10\x02"),
            "compile options: a device assignment of 2 replicas by 2 partitions lists 0 devices");
    refuses(BYTES("\x10\x01"), "not supported: compile option parameter_is_tupled_arguments");
}

static void writes_sharding(Tiling t, Str expected)
{
    Text out = { 0 };
    sharding_write(&out, t);
    CHECK(out.n == expected.n && (out.n == 0 || memcmp(out.at, expected.at, out.n) == 0));
    text_free(&out);
}

static void test_shardings(void)
{
    static const int64_t by_row[] = { 4, 1 }, rows[] = { 0, 0, 1, 0, 2, 0, 3, 0 };
    writes_sharding((Tiling){ 2, 4, by_row, rows },
                    BYTES("\x08\x03\x1a\x02\x04\x01\x22\x04\x00\x01\x02\x03"));
    /* Two tiles, each on two devices: 0 and 2 hold the first. */
    static const int64_t halves[] = { 2, 1 }, held[] = { 0, 0, 1, 0, 0, 0, 1, 0 };
    writes_sharding((Tiling){ 2, 4, halves, held },
                    BYTES("\x08\x03\x1a\x03\x02\x01\x02\x22\x04\x00\x02\x01\x03\x30\x01"));
    writes_sharding(tiling_replicated(arena, 2, 4), (Str){ 0 });
}

static void test_assignment(void)
{
    static const int devices[] = { 3, 200 };
    Text out = { 0 };
    assignment_write(&out, 1, 2, devices);
    static const char expected[] = "\x08\x01\x10\x02\x1a\x03\x0a\x01\x03\x1a\x04\x0a\x02\xc8\x01";
    CHECK(out.n == sizeof expected - 1 && memcmp(out.at, expected, out.n) == 0);
    text_free(&out);
}

int main(void)
{
    arena = arena_new();
    test_options_of_jax();
    test_unpacked_lists();
    test_overrides();
    test_switches();
    test_broken_bytes();
    test_shardings();
    test_assignment();
    arena_free(arena);
    return check_done();
}
