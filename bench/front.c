/* front.c - the front's contender of the benchmarks: the works of works.py as C over libtutti.
 *
 * Reads one command a line and answers with one line of JSON, like ours.c and contender.py:
 *
 *     call NAME NDEVICES COUNT    times of COUNT calls, arguments in place, each waited for, in ns
 *     trace NAME NDEVICES COUNT   times of tracing, transforming and lowering to StableHLO, in ns
 *     memory                      this process's peak, in bytes
 *
 * Element i of every argument is fill(i), the same number as in works.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <tutti.h>

enum { D = 128, B = 1024, LEAVES = 500 };

typedef struct {
    tt loss, grad;
} LossGrad;
typedef struct {
    tt w, loss;
} Step;

typedef struct {
    tt leaf[LEAVES];
} Many;

static tt plus_one(tt x)
{
    return tt_add(x, 1);
}

static tt lesson(tt x)
{
    return tt_add(tt_pow(x, 2), tt_sin(x));
}

static tt total(tt x)
{
    return tt_psum(x, "i");
}

static tt loss(tt w, tt x, tt y)
{
    return tt_mean(tt_square(tt_sub(tt_matmul(x, w), y)));
}

static Step linear(tt w, tt x, tt y)
{
    LossGrad mine = tt_call_as(LossGrad, tt_value_and_grad(loss), w, x, y);
    LossGrad ours = tt_pmean(mine, "i");
    return (Step){ tt_sub(w, tt_mul(0.01, ours.grad)), ours.loss };
}
TT_FUN(Step, linear, tt, tt, tt);

static Many bump(Many t)
{
    return tt_map(plus_one, t);
}
TT_FUN(Many, bump, Many);

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* [n, a, b], without the axes that are 0, cut for n devices; n = 0: the same for all. */
static tt fill(int n, int64_t a, int64_t b)
{
    int64_t rows = n ? n : 1, count = rows * (a ? a : 1) * (b ? b : 1);
    float *data = malloc(sizeof *data * (size_t)count);
    if (!data)
        exit(1);
    for (int64_t i = 0; i < count; i++)
        data[i] = (float)((uint32_t)i * 2654435761u >> 8) / 16777216.0f - 0.5f;
    tt_dims shape = { 0 };
    for (int i = 0; i < 3; i++)
        if ((const int64_t[]){ n, a, b }[i])
            shape.v[shape.n++] = (const int64_t[]){ n, a, b }[i];
    tt x = (tt_from)(TT_F32, data, 0, &shape);
    free(data);
    return n ? tt_place(x, tt_mesh_of({ "i", n }), "i") : x;
}

/* A work: its function over n devices, and its arguments, of one array each, or one of many. */
typedef struct Work {
    tt_fn f;
    int nargs, nresults;
    tt args[3];
    Many many;
} Work;

static Work many_leaves(void)
{
    Work w = { .f = tt_jit(bump), .nargs = 1, .nresults = LEAVES };
    for (int i = 0; i < LEAVES; i++)
        w.many.leaf[i] = fill(0, 2, 0);
    return w;
}

static Work work(const char *name, int n)
{
    if (strcmp(name, "call") == 0)
        return (Work){ tt_pmap(plus_one), 1, 1, { fill(n, 2, 0) } };
    if (strcmp(name, "psum") == 0)
        return (Work){ tt_pmap(total, .axis_name = "i"), 1, 1, { fill(n, 0, 0) } };
    if (strcmp(name, "lesson") == 0)
        return (Work){ tt_pmap(lesson), 1, 1, { fill(n, 2, 0) } };
    if (strcmp(name, "linear") == 0)
        return (Work){ tt_pmap(linear, .axis_name = "i", .in_axes = { TT_NONE, 0, 0 }),
                       3,
                       2,
                       { fill(0, D, 0), fill(n, B / n, D), fill(n, B / n, 0) } };
    if (strcmp(name, "leaves") == 0)
        return many_leaves();
    fprintf(stderr, "no work is named %s\n", name);
    exit(1);
}

static void trees_of(const Work *w, tt_tree *trees)
{
    for (int i = 0; i < w->nargs; i++)
        trees[i] = (tt_tree){ &w->args[i], 1 };
    if (!w->args[0].slot)
        trees[0] = (tt_tree){ w->many.leaf, LEAVES };
}

static void time_calls(const Work *w, int count)
{
    tt_tree trees[3];
    trees_of(w, trees);
    printf("{\"ns\": [");
    for (int i = -3; i < count; i++) {
        TT_SCOPE;
        int64_t start = now();
        const tt *out = tt_call_n(w->f, trees, w->nargs, w->nresults);
        tt_wait_n((tt_tree){ out, w->nresults });
        if (i >= 0)
            printf("%s%lld", i ? ", " : "", (long long)(now() - start));
    }
    printf("]}\n");
}

static void time_traces(const Work *w, int count)
{
    tt_tree trees[3];
    trees_of(w, trees);
    printf("{\"ns\": [");
    for (int i = -1; i < count; i++) {
        TT_SCOPE;
        int64_t start = now();
        const char *text = tt_lower_n(w->f, trees, w->nargs);
        int64_t took = now() - start;
        if (!strstr(text, "func.func"))
            exit(1);
        if (i >= 0)
            printf("%s%lld", i ? ", " : "", (long long)took);
    }
    printf("]}\n");
}

int main(void)
{
    char line[256], word[32], name[32];
    int n, count;
    while (fgets(line, sizeof line, stdin)) {
        TT_SCOPE;
        if (sscanf(line, "%31s %31s %d %d", word, name, &n, &count) == 4) {
            Work w = work(name, n);
            if (strcmp(word, "call") == 0)
                time_calls(&w, count);
            else
                time_traces(&w, count);
        } else {
            struct rusage use;
            getrusage(RUSAGE_SELF, &use);
            printf("{\"bytes\": %ld}\n", use.ru_maxrss * 1024);
        }
        fflush(stdout);
    }
}
