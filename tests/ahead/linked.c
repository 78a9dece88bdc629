/* linked.c - two programs that were compiled ahead and the library tutti in one process: what they are
 * told, custom calls, pieces, workers (tests/ahead.sh). */
#include "custom_call.h"
#include "endless.h"
#include "lesson.h"
#include "products.h"

#include "tests/check.h"

#include <stdlib.h>
#include <tutti.h>

static void says(const char *wrong, const char *expected)
{
    CHECK_STR(wrong ? wrong : "nothing", expected);
}

static const char *inverse(void *user, const tutti_rt_operand *in, int nin,
                           const tutti_rt_operand *out, int nout)
{
    ++*(int *)user;
    CHECK(nin == 1 && nout == 1 && strcmp(in->type, "f32") == 0 && in->rank == 1);
    for (int64_t i = 0; i < in->dims[0]; i++) {
        if (((float *)in->data)[i] == 0)
            return "0 has no inverse";
        ((float *)out->data)[i] = 1 / ((float *)in->data)[i];
    }
    return NULL;
}

static void custom_calls(void)
{
    float x[CUSTOM_CALL_ARG0] = { 1, 2, 4, 8 }, y[CUSTOM_CALL_RESULT0];
    custom_call_arguments in = { x };
    custom_call_results out = { y };
    int ncalls = 0;
    says(custom_call(NULL, &in, &out), "not supported: custom_call @inverse, at "
                                       "examples/custom_call.mlir:2:14: nobody has defined "
                                       "it; a C program does with tutti_rt_define_call");
    says(tutti_rt_define_call("inverse", NULL, NULL),
         "tutti_rt_define_call: the function is missing");
    CHECK(!tutti_rt_define_call("inverse", inverse, &ncalls));
    CHECK(!custom_call(NULL, &in, &out) && ncalls == 1);
    CHECK(y[0] == 2 && y[1] == 1.5 && y[2] == 1.25 && y[3] == 1.125);
    x[2] = 0;
    says(custom_call(NULL, &in, &out),
         "custom_call @inverse, at examples/custom_call.mlir:2:14: 0 has no inverse");
}

static void at_once(void *pool, void (*job)(void *), void *at)
{
    (void)pool;
    job(at);
}

/* Options as an earlier and a later header have them. */
static void other_headers(void)
{
    struct {
        tutti_rt_options known;
        int later;
    } options = { { .workers = TUTTI_RT_ALONE }, 0 };
    tutti_rt *rt;
    CHECK(!tutti_rt_start_sized(&options.known, sizeof options, &rt));
    tutti_rt_end(rt);
    options.known.seconds = -1;
    CHECK(!tutti_rt_start_sized(&options.known, sizeof(int), &rt)); /* the seconds are not seen */
    tutti_rt_end(rt);
    options.later = 1;
    const char *wrong = tutti_rt_start_sized(&options.known, sizeof options, &rt);
    CHECK(wrong && strstr(wrong, "made by a later tutti_rt.h"));
}

static void pieces(void)
{
    float x[4][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 } }, whole[4][2], apart[4][2];
    lesson_arguments in = { x[0] }, each[LESSON_DEVICES];
    lesson_results out = { whole[0] }, outs[LESSON_DEVICES];
    for (int d = 0; d < LESSON_DEVICES; d++) {
        each[d].arg0 = x[LESSON_DEVICES - 1 - d];
        outs[d].result0 = apart[d];
    }
    tutti_rt *rt;
    CHECK(!tutti_rt_start(&(tutti_rt_options){ .workers = TUTTI_RT_ALONE }, &rt));
    CHECK(!lesson(rt, &in, &out) && !lesson_pieces(rt, each, outs));
    for (int d = 0; d < LESSON_DEVICES; d++)
        CHECK(memcmp(whole[LESSON_DEVICES - 1 - d], apart[d], sizeof *apart) == 0);
    outs[2].result0 = NULL;
    says(lesson_pieces(rt, each, outs), "lesson: result 0, f32[4,2], is NULL");
    in.arg0 = NULL;
    says(lesson(rt, &in, &out), "lesson: argument 0, f32[4,2], is NULL");
    tutti_rt_end(rt);
    says(tutti_rt_start(&(tutti_rt_options){ .workers = -2 }, &rt),
         "tutti_rt_start: -2 workers; 0 means one per core, TUTTI_RT_ALONE none");
    says(tutti_rt_start(&(tutti_rt_options){ .workers = -1, .submit = at_once }, &rt),
         "tutti_rt_start: a pool and TUTTI_RT_ALONE; workers is how many of the pool's threads may "
         "work, 0 as many as there are cores");
}

/* The caller's own memory: every byte comes from it and goes back. */
typedef struct Owned {
    size_t taken, given, most;
} Owned;

static void *take(void *user, size_t bytes)
{
    Owned *o = user;
    if (o->taken - o->given + bytes > o->most)
        return NULL;
    o->taken += bytes;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void give(void *user, void *at, size_t bytes)
{
    ((Owned *)user)->given += bytes;
    free(at);
}

static void own_memory(void)
{
    static float x[PRODUCTS_ARG0], y[PRODUCTS_RESULT0];
    for (int i = 0; i < 64; i++)
        x[i * 64 + i] = 2;
    for (size_t most = 0; most <= 4 << 20; most += 4 << 20) {
        Owned own = { .most = most };
        tutti_rt_options options = {
            .workers = TUTTI_RT_ALONE, .take = take, .give = give, .user = &own
        };
        tutti_rt *rt;
        CHECK(!tutti_rt_start(&options, &rt));
        for (int n = 0; n < 3; n++) {
            const char *wrong = products(rt, &(products_arguments){ x }, &(products_results){ y });
            CHECK(most ? !wrong && y[65] == 16 : wrong && strstr(wrong, "the system has no more"));
        }
        tutti_rt_end(rt);
        CHECK(own.taken == own.given && (own.taken > 0) == (most > 0));
    }
    says(tutti_rt_start(&(tutti_rt_options){ .take = take }, &(tutti_rt *){ NULL }),
         "tutti_rt_start: memory of the caller's needs both take and give");
}

/* A call that does not end is stopped, on the caller's thread and on workers. */
static void limits(void)
{
    float x[ENDLESS_ARG0] = { 1, 2, 3, 4 }, y[ENDLESS_RESULT0];
    endless_arguments in = { x };
    endless_results out = { y };
    for (int workers = TUTTI_RT_ALONE; workers <= 0; workers++) {
        tutti_rt *rt;
        tutti_rt_options options = { .workers = workers, .memory = 1 << 20, .seconds = 0.1 };
        CHECK(!tutti_rt_start(&options, &rt));
        says(endless(rt, &in, &out), "main was stopped: it took longer than 0.1 seconds");
        float rows[LESSON_ARG0] = { 0 }, sums[LESSON_RESULT0];
        CHECK(!lesson(rt, &(lesson_arguments){ rows }, &(lesson_results){ sums }) && sums[0] == 0);
        tutti_rt_end(rt);
    }
    says(tutti_rt_start(&(tutti_rt_options){ .seconds = -1 }, &(tutti_rt *){ NULL }),
         "tutti_rt_start: -1 seconds; 0 means no limit");
}

int main(void)
{
    custom_calls();
    other_headers();
    pieces();
    limits();
    own_memory();
    tt x = tt_add(tt_arange(TT_F32, 4), 1); /* the library beside them */
    CHECK(tt_item(tt_sum(tt_mul(x, x))) == 30);
    return check_done();
}
