/* gemm_test.c - matrix products against three plain loops, over sizes around the edges of tiles
 * and blocks, with plain and transposed operands; and large ones cut for three workers, to the
 * same bits; by what a window sees; and by a matrix that several devices have alike.  Links the engine's run. */
#include "engine/exec/executor.h"
#include "engine/numerics/numerics.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

#define TEST(T, gemm, slack)                                                                       \
    static void test_##gemm(int64_t m, int64_t n, int64_t k, int turned)                           \
    {                                                                                              \
        T *a = malloc(sizeof(T) * (size_t)(m * k + 1)), *b = malloc(sizeof(T) * (size_t)(k * n + 1));\
        T *c = malloc(sizeof(T) * (size_t)(m * (n + 3) + 1));                                      \
        int64_t a_row = turned & 1 ? 1 : k, a_col = turned & 1 ? m : 1;                            \
        int64_t b_row = turned & 2 ? 1 : n, b_col = turned & 2 ? k : 1, c_row = n + 3;             \
        for (int64_t i = 0; i < m * k; i++)                                                        \
            a[i] = (T)(rand() % 1000 - 500) / 500;                                                 \
        for (int64_t i = 0; i < k * n; i++)                                                        \
            b[i] = (T)(rand() % 1000 - 500) / 500;                                                 \
        for (int64_t i = 0; i < m * c_row; i++)                                                    \
            c[i] = 777;                                                                            \
        gemm(NULL, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);                           \
        double worst = 0;                                                                          \
        int spilled = 0;                                                                           \
        for (int64_t i = 0; i < m; i++)                                                            \
            for (int64_t j = 0; j < c_row; j++) {                                                  \
                double sum = 0;                                                                    \
                for (int64_t p = 0; p < k && j < n; p++)                                           \
                    sum += (double)a[i * a_row + p * a_col] * (double)b[p * b_row + j * b_col];    \
                if (j < n)                                                                         \
                    worst = fmax(worst, fabs(sum - (double)c[i * c_row + j]));                     \
                else                                                                               \
                    spilled += c[i * c_row + j] != 777;                                            \
            }                                                                                      \
        if (worst > slack * (double)(k + 1) || spilled)                                            \
            printf("%s of %lldx%lldx%lld, turned %d: off by %g, %d spilled\n", #gemm,              \
                   (long long)m, (long long)n, (long long)k, turned, worst, spilled);              \
        CHECK(worst <= slack * (double)(k + 1) && !spilled);                                       \
        free(a);                                                                                   \
        free(b);                                                                                   \
        free(c);                                                                                   \
    }

TEST(float, gemm_f32, 1e-6)
TEST(double, gemm_f64, 1e-15)

static void test_sizes(void)
{
    static const int64_t sizes[] = { 1, 2, 5, 12, 13, 16, 17, 31, 33, 64, 100, 145 };
    enum { N = sizeof sizes / sizeof sizes[0] };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int turned = 0; turned < 4; turned++) {
                test_gemm_f32(sizes[i], sizes[j], sizes[(i + j) % N], turned);
                test_gemm_f64(sizes[i], sizes[j], sizes[(i + 2 * j) % N], turned);
            }
    test_gemm_f32(20, 1100, 300, 0); /* past a block in columns and depth */
    test_gemm_f32(300, 40, 270, 3);
    test_gemm_f64(150, 1030, 260, 2);
    test_gemm_f32(3, 4, 0, 0); /* nothing to add up: zero */
    test_gemm_f32(0, 4, 3, 0);
}

/* A window of 3 x `wide` that moves over an image of 9 x 40, backwards in one direction, against
 * plain loops; the product is exact. */
static void test_gather(bool is_b, int64_t wide, int64_t places, int64_t other)
{
    enum { HIGH = 9, WIDTH = 40 };
    int64_t lines = 5 * places, terms = 2 * 3 * wide, rows = is_b ? other : lines;
    int64_t columns = is_b ? lines : other;
    float image[2 * HIGH * WIDTH], *kernel = malloc(sizeof *kernel * (size_t)(terms * other));
    float *c = malloc(sizeof *c * (size_t)(lines * other));
    Gather *g = malloc(sizeof *g + sizeof *g->dims * 5);
    *g = (Gather){ is_b, rows, columns, terms, terms, 1, columns, 2, 3 };
    const int64_t dims[5][2] = { { 5, WIDTH }, { places, 1 },
                                 { 2, HIGH * WIDTH }, { 3, -WIDTH }, { wide, 1 } };
    memcpy(g->dims, dims, sizeof dims);
    for (int i = 0; i < 2 * HIGH * WIDTH; i++)
        image[i] = (float)(i % 61 - 30);
    for (int64_t i = 0; i < terms * other; i++)
        kernel[i] = (float)(i % 17 - 8);
    gather_f32(NULL, g, image + 2 * WIDTH, kernel, c);
    int wrong = 0;
    for (int64_t l = 0; l < lines; l++)
        for (int64_t o = 0; o < other; o++) {
            float sum = 0;
            for (int64_t t = 0; t < terms; t++)
                sum += kernel[o * terms + t] *
                       image[(l / places + 2 - t / wide % 3) * WIDTH + l % places + t % wide +
                             t / wide / 3 * HIGH * WIDTH];
            wrong += sum != c[is_b ? o * columns + l : l * columns + o];
        }
    CHECK(!wrong);
    free(kernel);
    free(c);
    free(g);
}

static void test_gathers(void)
{
    for (int64_t wide = 1; wide <= 37; wide += 6)
        for (int64_t places = 1; places <= 41 - wide; places += 9)
            for (int64_t other = 1; other <= 40; other += 13) {
                test_gather(false, wide, places, other);
                test_gather(true, wide, places, other);
            }
}

static void test_cut(const Frame *frame, int64_t m, int64_t n, int64_t k, bool turned)
{
    float *a = malloc(sizeof *a * (size_t)(m * k)), *b = malloc(sizeof *b * (size_t)(k * n));
    float *c = malloc(sizeof *c * (size_t)(m * n)), *d = malloc(sizeof *d * (size_t)(m * n));
    for (int64_t i = 0; i < m * k; i++)
        a[i] = (float)rand() / (float)RAND_MAX;
    for (int64_t i = 0; i < k * n; i++)
        b[i] = (float)rand() / (float)RAND_MAX;
    int64_t row = turned ? 1 : n, col = turned ? k : 1;
    gemm_f32(NULL, m, n, k, a, k, 1, b, row, col, c, n);
    gemm_f32(frame, m, n, k, a, k, 1, b, row, col, d, n);
    CHECK(!memcmp(c, d, sizeof *c * (size_t)(m * n)));
    free(a);
    free(b);
    free(c);
    free(d);
}

static void test_cuts(void)
{
    Executor *e = NULL;
    CHECK(!executor_new(1, 3, 0, &e) && !executor_start(e));
    Run run = { .executor = e };
    Task task = { .run = &run };
    Frame frame = { .task = &task };
    for (int i = 0; i < 5; i++) {
        test_cut(&frame, 300, 200, 400, false);
        test_cut(&frame, 300, 200, 400, true);
        test_cut(&frame, 14, 2000, 333, false);
        test_cut(&frame, 40, 30, 9000, false);
        test_cut(&frame, 2000, 1, 300, false);
        test_cut(&frame, 1, 2000, 300, false);
        test_cut(&frame, 1, 2000, 300, true);
    }
    executor_free(e);
}

/* Devices multiply by their argument 0, side by side.  Only the first one's holds the numbers, so
 * that the others show whose they took. */
enum { DEVICES = 4, ROWS = 40, DEPTH = 300, COLUMNS = 333 };

typedef struct Evaluator {
    Frame frame;
    bool turned;
    float *a, *c;
} Evaluator;

static void play(void *user)
{
    const Evaluator *p = user;
    int64_t row = p->turned ? 1 : COLUMNS, col = p->turned ? DEPTH : 1;
    for (int i = 0; i < 3; i++)
        gemm_f32(&p->frame, ROWS, COLUMNS, DEPTH, p->a, DEPTH, 1, p->frame.args[0], row, col, p->c,
                 COLUMNS);
}

static void play_all(Run *run, Evaluator *players)
{
    Thread threads[DEVICES];
    for (int d = 0; d < DEVICES; d++)
        CHECK(!thread_start(&threads[d], "player", play, &players[d]));
    for (int d = 0; d < DEVICES; d++)
        thread_join(&threads[d]);
    shared_packing_free_all(run);
}

static float *filled(int64_t n, float scale)
{
    float *at = malloc(sizeof *at * (size_t)n);
    for (int64_t i = 0; i < n; i++)
        at[i] = scale * (float)(i * 7919 % 1000);
    return at;
}

static void test_alike(bool is_replicated, bool is_pending, bool turned)
{
    Executor *e = NULL;
    CHECK(!executor_new(DEVICES, 3, 0, &e));
    Type type = { F32, 2, (int64_t[]){ DEPTH, COLUMNS } };
    Param argument = { .whole = type, .local = type, .is_replicated = is_replicated };
    Program program = { .ndevices = DEVICES, .nargs = 1, .args = &argument };
    void *weights[DEVICES];
    Event *pending[DEVICES] = { is_pending ? event_new() : NULL };
    Run run = { .executor = e, .program = &program, .pointers = weights, .pending = pending };
    Task task = { .run = &run };
    Evaluator players[DEVICES];
    int64_t row = turned ? 1 : COLUMNS, col = turned ? DEPTH : 1;
    for (int d = 0; d < DEVICES; d++) {
        weights[d] = filled(DEPTH * COLUMNS, d ? -1 : 1);
        Frame frame = { .args = &weights[d], .program = &program, .task = &task };
        players[d] = (Evaluator){ frame, turned, filled(ROWS * DEPTH, (float)(1 + d)),
                               filled(ROWS * COLUMNS, 0) };
    }
    play_all(&run, players);
    bool takes_first = is_replicated && !is_pending;
    float *expected = filled(ROWS * COLUMNS, 0);
    for (int d = 0; d < DEVICES; d++) {
        gemm_f32(NULL, ROWS, COLUMNS, DEPTH, players[d].a, DEPTH, 1, weights[takes_first ? 0 : d],
                 row, col, expected, COLUMNS);
        CHECK(!memcmp(expected, players[d].c, sizeof(float) * ROWS * COLUMNS));
    }
    for (int d = 0; d < DEVICES; d++) {
        free(weights[d]);
        free(players[d].a);
        free(players[d].c);
    }
    free(expected);
    event_release(pending[0]);
    executor_free(e);
}

int main(void)
{
    test_sizes();
    test_gathers();
    test_cuts();
    for (int turned = 0; turned < 2; turned++) {
        test_alike(true, false, turned);
        test_alike(true, true, turned);
        test_alike(false, false, turned);
    }
    return check_done();
}
