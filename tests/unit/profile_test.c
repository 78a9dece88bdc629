/* profile_test.c - tt_trace_begin and tt_trace_end: what is recorded between them, and what is refused. */
#include "tests/front.h"

#include <unistd.h>

static tt mean(tt x)
{
    return tt_pmean(tt_tanh(x), "i");
}

static bool file_has(const char *path, const char *text)
{
    static char all[1 << 22];
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(all, 1, sizeof all - 1, file) : 0;
    all[n] = 0;
    if (file)
        fclose(file);
    return strstr(all, text) != NULL;
}

static void steps(void)
{
    tt x = tt_reshape(tt_arange(TT_F32, 8), 4, 2);
    tt_range_begin("outer");
    for (int i = 0; i < 3; i++) {
        tt_range_begin("a step");
        tt y = tt_call(tt_pmap(mean, .axis_name = "i"), x);
        tt_wait(y);
        tt_range_end();
    }
    tt_range_end();
}

enum { ROOT_LINE = __LINE__ + 4 };

static tt root(tt x)
{
    return tt_mul(tt_sqrt(tt_sub(x, 3)), 2);
}

static void check_nans(void)
{
    tt_debug_nans(true);
    tt y = tt_call(tt_jit(root), tt_arange(TT_F32, 8));
    tt_wait(y);
    char expected[256];
    snprintf(expected, sizeof expected,
             "sqrt (%s:%d) made the first NaN: its result, f32[8], has one at [0]", __FILE__,
             ROOT_LINE);
    CHECK(strstr(front_said(), expected));
    tt_debug_nans(false);
    tt_wait(tt_call(tt_jit(root), tt_arange(TT_F32, 9)));
    CHECK_SAID("");
}

int main(void)
{
    char folder[] = "/tmp/tutti_XXXXXX", path[64];
    CHECK(mkdtemp(folder));
    front_start(4);
    steps(); /* compiled, and not recorded */
    tt_trace_begin();
    steps();
    tt_trace_begin();
    CHECK(strstr(front_said(), "there is one recording at a time"));
    snprintf(path, sizeof path, "%s/trace.json", folder);
    tt_trace_end(path);
    CHECK_SAID("");
    CHECK(file_has(path, "\"name\":\"a step\",\"cat\":\"range\""));
    CHECK(file_has(path, "\"name\":\"outer\",\"cat\":\"range\""));
    CHECK(file_has(path, "profile_test.c:"));
    CHECK(file_has(path, "\"name\":\"all_reduce\",\"cat\":\"collective\""));
    CHECK(!file_has(path, "\"cat\":\"compile\""));
    unlink(path);
    tt_trace_begin();
    snprintf(path, sizeof path, "%s/trace.what", folder);
    tt_trace_end(path);
    CHECK(strstr(front_said(), "whose name ends in one of .json, .pftrace, .html, .txt; '"));
    for (int i = 0; i < 100; i++) /* more than are kept */
        tt_range_begin("deep");
    for (int i = 0; i < 101; i++)
        tt_range_end();
    steps();
    CHECK_SAID("");
    check_nans();
    rmdir(folder);
    return check_done();
}
