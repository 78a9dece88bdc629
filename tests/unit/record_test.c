/* record_test.c - the recorder: rings, names, threads that record while others read, and strings in
 * JSON.  Links the engine. */
#include "engine/profile/record.h"

#include "base/guard.h"
#include "base/json.h"
#include "base/sync.h"
#include "engine/profile/views.h"
#include "tests/check.h"

static void add(int32_t what, uint64_t begin, uint64_t end, int device)
{
    Record r = { .begin = begin,
                 .end = end,
                 .what = what,
                 .device = (int16_t)device,
                 .other = -1,
                 .kind = RECORD_SEGMENT };
    record_add(&r);
}

static void begin(void)
{
    record_stop();
    Error *error = record_begin();
    CHECK(!error);
    error_free(error);
    error = record_begin();
    CHECK(error && strstr(error_text(error), "one recording at a time"));
    error_free(error);
}

static void check_order(void *user)
{
    (void)user;
    begin();
    uint64_t t = ticks_now();
    add(2, t + 2000, t + 3000, 3);
    add(1, t + 1000, t + 1500, 0);
    add(0, t + 1000, t + 9000, 0); /* around the one before it */
    Arena *arena = arena_new();
    Recording r;
    recording_take(arena, &r);
    CHECK(r.n == 3 && r.ndevices == 4 && r.lost == 0);
    for (int i = 0; i < r.n; i++)
        CHECK(r.records[i].what == i);
    CHECK(r.ns == (int64_t)r.records[0].end);
    arena_free(arena);
    begin(); /* forgets */
    arena = arena_new();
    recording_take(arena, &r);
    CHECK(r.n == 0);
    arena_free(arena);
}

static void check_full_ring(void *user)
{
    enum { ROOM = 1 << 19, MORE = 1000 };
    (void)user;
    begin();
    uint64_t t = ticks_now();
    for (int i = 0; i < ROOM + MORE; i++)
        add(i, t + (uint64_t)i, t + (uint64_t)i + 1, 0);
    Arena *arena = arena_new();
    Recording r;
    recording_take(arena, &r);
    CHECK(r.n == ROOM && r.lost == MORE);
    CHECK(r.records[0].what >= MORE && r.records[r.n - 1].what == ROOM + MORE - 1);
    arena_free(arena);
}

static void ranges(void *user)
{
    (void)user;
    for (int i = 0; i < 3000; i++)
        record_end(record_start(), RECORD_RANGE, i % 2 ? STR("odd") : STR("even"), -1, 0);
}

static void check_threads(void *user)
{
    enum { THREADS = 4 };
    (void)user;
    Thread threads[THREADS];
    begin();
    for (int i = 0; i < THREADS; i++)
        error_free(thread_start(&threads[i], "recorder", ranges, NULL));
    for (int i = 0; i < 3; i++) { /* while they write */
        Arena *arena = arena_new();
        Recording r;
        recording_take(arena, &r);
        arena_free(arena);
    }
    for (int i = 0; i < THREADS; i++)
        thread_join(&threads[i]);
    record_stop();
    CHECK(record_start() == 0);
    Arena *arena = arena_new();
    Recording r;
    recording_take(arena, &r);
    int64_t n = 0, nodd = 0;
    for (int64_t i = 0; i < r.n; i++) {
        n += r.records[i].kind == RECORD_RANGE;
        nodd += strcmp(r.names[r.records[i].what], "odd") == 0;
    }
    CHECK(n == THREADS * 3000 && nodd == n / 2 && r.nnames == 2);
    Text table = { 0 };
    table_write(&table, &r); /* of a recording without devices */
    CHECK(strstr(text_cstr(&table), "0 runs on 0 devices"));
    text_free(&table);
    arena_free(arena);
}

static void check_json(void *user)
{
    (void)user;
    static const struct {
        Str in;
        const char *out;
    } cases[] = {
        { { "plain", 5 }, "\"plain\"" },
        { { "a\"b\\c\n", 6 }, "\"a\\\"b\\\\c\\u000a\"" },
        { { "</script>", 9 }, "\"\\u003c/script>\"" },
        { { "\xc3\xa9\xf0\x9f\x8e\xbb", 6 }, "\"\xc3\xa9\xf0\x9f\x8e\xbb\"" },
        { { "\xff\xc3", 2 }, "\"\\ufffd\\ufffd\"" },
        { { "\xed\xa0\x80", 3 }, "\"\\ufffd\\ufffd\\ufffd\"" },
        { { "\xe0\x80\x80", 3 }, "\"\\ufffd\\ufffd\\ufffd\"" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text out = { 0 };
        json_put_string(&out, cases[i].in);
        CHECK_STR(text_cstr(&out), cases[i].out);
        text_free(&out);
    }
}

int main(void)
{
    GuardFn *const checks[] = { check_order, check_full_ring, check_threads, check_json };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        Error *error = guard_run("a test", checks[i], NULL);
        CHECK(!error);
        error_free(error);
    }
    record_unload();
    return check_done();
}
