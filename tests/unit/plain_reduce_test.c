/* plain_reduce_test.c - sums and extremes that are made ready against plain ones in double: of rows and of columns, whole
 * and in parts and pieces, of every kind, around the edges of vectors, strips and blocks.  Links the engine's run.  tests/levels.sh plays it for
 * older machines too. */
#include "engine/numerics/numerics.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

static const Element elements[] = { F32, F64, BF16 };
enum { NELEMENTS = sizeof elements / sizeof *elements };

static void put(Element e, void *at, int64_t i, double x)
{
    float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    switch (e) {
    case F32: ((float *)at)[i] = single; break;
    case F64: ((double *)at)[i] = x; break;
    default: ((uint16_t *)at)[i] = (uint16_t)(bits >> 16); break;
    }
}

static double get(Element e, const void *at, int64_t i)
{
    uint32_t bits = e == BF16 ? (uint32_t)((const uint16_t *)at)[i] << 16 : 0;
    float single;
    memcpy(&single, &bits, sizeof single);
    return e == F32 ? ((const float *)at)[i] : e == F64 ? ((const double *)at)[i] : single;
}

typedef struct Shape {
    int64_t parts, outer, n, inner;
} Shape;

/* Number (a, b) of the result. */
static double wanted(OpId op, Element e, const void *in, Shape s, int64_t a, int64_t b)
{
    double sum = 0, most = -INFINITY, least = INFINITY;
    bool is_nan = false;
    for (int64_t p = 0; p < s.parts; p++)
        for (int64_t i = 0; i < s.n; i++) {
            double x = get(e, in, ((p * s.outer + a) * s.n + i) * s.inner + b);
            is_nan = is_nan || isnan(x);
            sum += x;
            most = x > most ? x : most;
            least = x < least ? x : least;
        }
    return is_nan ? NAN : op == OP_ADD ? sum : op == OP_MAX ? most : least;
}

static bool is_near(Element e, double got, double want)
{
    return (isnan(got) && isnan(want)) || got == want ||
           fabs(got - want) <= (e == BF16 ? ldexp(fabs(want), -8) : 0);
}

/* Whole numbers, whose sums are exact but for the last rounding; some NaN. */
static void try_shape(OpId op, Element e, Shape s, int nans)
{
    size_t bytes = (size_t)element_info[e].bytes;
    int64_t count = s.parts * s.outer * s.n * s.inner, results = s.outer * s.inner;
    void *in = malloc((size_t)count * bytes);
    char *out = malloc((size_t)(results + 1) * bytes);
    for (int64_t i = 0; i < count; i++)
        put(e, in, i, rand() % 17 - 8);
    for (int i = 0; i < nans; i++)
        put(e, in, rand() % count, NAN);
    put(e, out, results, 77);
    plain_reduce(NULL, plain_reduce_kind(op, e), s.parts, s.outer, s.n, s.inner, in, out);
    for (int64_t a = 0; a < s.outer; a++)
        for (int64_t b = 0; b < s.inner; b++)
            CHECK(is_near(e, get(e, out, a * s.inner + b), wanted(op, e, in, s, a, b)));
    CHECK(get(e, out, results) == 77);
    free(in);
    free(out);
}

static void test_shapes(void)
{
    static const Shape shapes[] = {
        { 1, 1, 256, 1 },   { 1, 3, 257, 1 },    { 1, 2, 320, 1 },     { 1, 1, 321, 1 },
        { 1, 5, 2048, 1 },  { 1, 1, 100003, 1 }, { 1, 1, 1 << 20, 1 }, { 1, 1, 1, 128 },
        { 1, 3, 33, 128 },  { 1, 2, 64, 131 },   { 1, 1, 1000, 1000 }, { 1, 70, 40, 129 },
        { 1, 1, 97, 511 },  { 1, 2, 2049, 257 }, { 1, 3, 32, 64 },     { 5, 3, 256, 1 },
        { 33, 2, 3136, 1 }, { 2, 7, 301, 1 },    { 3, 2, 40, 77 },     { 40, 37, 256, 1 },
        { 32, 5, 511, 1 },  { 1, 1, 9001, 64 },  { 1, 2, 5003, 130 },  { 5, 1, 3001, 67 },
    };
    static const OpId ops[] = { OP_ADD, OP_MAX, OP_MIN };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int e = 0; e < NELEMENTS; e++)
            for (int o = 0; o < 3; o++)
                for (int nans = 0; nans < 3; nans++)
                    try_shape(ops[o], elements[e], shapes[s], nans);
}

/* The error is that of one block, however many there are. */
static void test_long(void)
{
    enum { N = 1 << 21, COLUMNS = 128 };
    float *x = malloc(sizeof *x * N), sums[COLUMNS];
    for (int i = 0; i < N; i++)
        x[i] = 0.1f;
    plain_reduce(NULL, plain_reduce_kind(OP_ADD, F32), 1, 1, N, 1, x, sums);
    CHECK(fabs(sums[0] - (double)0.1f * N) <= 1e-6 * 0.1 * N);
    plain_reduce(NULL, plain_reduce_kind(OP_ADD, F32), 1, 1, N / COLUMNS, COLUMNS, x, sums);
    CHECK(fabs(sums[COLUMNS - 1] - (double)0.1f * N / COLUMNS) <= 1e-6 * 0.1 * N / COLUMNS);
    free(x);
}

/* Sums begin at 0, and a NaN is not lost. */
static void test_wild(void)
{
    enum { N = 4096 };
    static float x[N];
    float sums[128];
    for (int i = 0; i < N; i++)
        x[i] = -0.0f;
    plain_reduce(NULL, plain_reduce_kind(OP_ADD, F32), 1, 1, N, 1, x, sums);
    CHECK(sums[0] == 0 && !signbit(sums[0]));
    plain_reduce(NULL, plain_reduce_kind(OP_ADD, F32), 1, 1, N / 128, 128, x, sums);
    CHECK(sums[5] == 0 && !signbit(sums[5]));
    x[128 * 7 + 5] = NAN;
    plain_reduce(NULL, plain_reduce_kind(OP_ADD, F32), 1, 1, N / 128, 128, x, sums);
    CHECK(isnan(sums[5]) && sums[4] == 0);
    for (int i = 0; i < N; i++)
        x[i] = -INFINITY;
    plain_reduce(NULL, plain_reduce_kind(OP_MAX, F32), 1, 1, N, 1, x, sums);
    CHECK(sums[0] == -INFINITY);
    CHECK(plain_reduce_kind(OP_ADD, I32) < 0 && plain_reduce_kind(OP_ADD, C64) < 0);
    CHECK(plain_reduce_kind(OP_MUL, F32) < 0);
}

int main(void)
{
    test_shapes();
    test_long();
    test_wild();
    return check_done();
}
