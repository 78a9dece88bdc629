/* long_test.c - long programs: what compiling takes in time and memory grows as the program does.
 *
 * No time is asserted.  Where the obvious way is quadratic the sizes are such that it needs more than
 * the runner's ten minutes of CPU time, or more memory than the test allows itself. */
#include "base/guard.h"
#include "engine/compile.h"
#include "engine/passes/pack.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/resource.h>

#define ARRAY "tensor<4x4xf32>"

/* ---- packing ---- */

typedef struct Box {
    int nspans;
    Span spans[3];
    int64_t bytes, at;
} Box;

static uint32_t seed = 12345;

static int below(int n)
{
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)n);
}

static Box random_box(int npoints)
{
    Box b = { .nspans = 1 + below(3), .bytes = below(5) ? 64 * (1 + below(9)) : below(200) };
    int point = below(npoints / 2);
    for (int i = 0; i < b.nspans; i++) {
        int to = point + below(12);
        b.spans[i] = (Span){ point, to < npoints ? to : npoints - 1, 0 };
        point = b.spans[i].to + below(3);
        point = point < npoints ? point : npoints - 1;
    }
    return b;
}

static bool live_together(const Box *x, const Box *y)
{
    for (int i = 0; i < x->nspans; i++)
        for (int j = 0; j < y->nspans; j++)
            if (x->spans[i].from <= y->spans[j].to && y->spans[j].from <= x->spans[i].to)
                return true;
    return false;
}

/* The lowest address at which nothing is in the way, tried one after the other. */
static int64_t lowest(const Box *all, int n, const Box *b)
{
    int64_t at = 0;
    for (int i = 0; i < n && b->bytes; i++) {
        const Box *other = &all[i];
        bool is_apart =
            other->at >= at + b->bytes || at >= other->at + packing_rounded(other->bytes);
        if (!other->bytes || is_apart || !live_together(other, b))
            continue;
        at = other->at + packing_rounded(other->bytes);
        i = -1;
    }
    return at;
}

static void test_packing_is_lowest(void)
{
    enum { N = 300, POINTS = 100 };
    for (int round = 0; round < 20; round++) {
        Arena *arena = arena_new();
        Packing *k = packing_new(arena, POINTS);
        static Box all[N];
        for (int i = 0; i < N; i++) {
            all[i] = random_box(POINTS);
            all[i].at = packing_place(k, all[i].nspans, all[i].spans, all[i].bytes);
            CHECK(all[i].at == lowest(all, i, &all[i]));
        }
        arena_free(arena);
    }
}

/* All of them live in the middle. */
static void test_packing_of_many(void)
{
    enum { N = 300000 };
    Arena *arena = arena_new();
    Packing *k = packing_new(arena, 2 * N);
    int64_t wrong = 0;
    for (int i = 0; i < N; i++) {
        Span s = { i, 2 * N - 1 - i, 0 };
        wrong += packing_place(k, 1, &s, 48) != (int64_t)i * PACK_ALIGN;
    }
    CHECK(wrong == 0);
    arena_free(arena);
}

/* ---- programs ---- */

typedef struct Passes {
    const Text *text;
    Error *error;
} Passes;

static void run_passes(void *at)
{
    Passes *job = at;
    Source s = { .bytes = { job->text->at, job->text->n }, .options = { .name = "long" } };
    job->error = compile_until(&s, "assign");
    module_free(s.module);
}

/* In 2 GB more than the process has now (the address sanitizer's own are not counted). */
static void check_passes(const Text *text)
{
    struct rlimit old, few;
    getrlimit(RLIMIT_AS, &old);
    few = old;
#ifndef __SANITIZE_ADDRESS__
    few.rlim_cur = (rlim_t)3 << 30;
#endif
    setrlimit(RLIMIT_AS, &few);
    Passes job = { text, NULL };
    Error *error = guard_run("compiling", run_passes, &job);
    setrlimit(RLIMIT_AS, &old);
    CHECK_STR(error ? error_text(error) : "", "");
    CHECK_STR(job.error ? error_text(job.error) : "", "");
    error_free(error);
    error_free(job.error);
}

/* An array that each of many kernels reads. */
static void test_many_readers(void)
{
    enum { N = 30000 };
    Text t = { 0 };
    text_printf(&t, "func.func @main(%%a0: " ARRAY ") -> " ARRAY " {\n");
    for (int i = 1; i <= N; i++)
        text_printf(&t,
                    "%%a%d = stablehlo.dot_general %%a%d, %%a0, contracting_dims = [1] x [0]"
                    " : (" ARRAY ", " ARRAY ") -> " ARRAY "\n",
                    i, i - 1);
    text_printf(&t, "return %%a%d : " ARRAY "\n}\n", N);
    check_passes(&t);
    text_free(&t);
}

static void test_many_functions(void)
{
    enum { N = 300000 };
    Text t = { 0 };
    for (int i = 0; i < N; i++)
        text_printf(&t, "func.func private @f%d() { return }\n", i);
    text_printf(&t, "func.func @main(%%x: " ARRAY ") -> " ARRAY " {\n");
    for (int i = N - 1; i >= 0; i -= 3)
        text_printf(&t, "func.call @f%d() : () -> ()\n", i);
    text_printf(&t, "return %%x : " ARRAY "\n}\n");
    check_passes(&t);
    text_free(&t);
}

int main(void)
{
    test_packing_is_lowest();
    test_packing_of_many();
    test_many_readers();
    test_many_functions();
    return check_done();
}
