/* plain_sum_test.c - sums that are made ready against sums in double: of rows and of columns, of every kind,
 * around the edges of vectors, strips and blocks.  Links the engine's run.  tests/levels.sh plays it for
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

/* Whole numbers, whose sums are exact but for the last rounding. */
static void try_shape(Element e, int64_t outer, int64_t n, int64_t inner)
{
    size_t bytes = (size_t)element_info[e].bytes;
    void *in = malloc((size_t)(outer * n * inner) * bytes);
    char *out = malloc((size_t)(outer * inner + 1) * bytes);
    for (int64_t i = 0; i < outer * n * inner; i++)
        put(e, in, i, rand() % 17 - 8);
    put(e, out, outer * inner, 77);
    plain_sum(NULL, plain_sum_kind(e), outer, n, inner, in, out);
    for (int64_t a = 0; a < outer; a++)
        for (int64_t b = 0; b < inner; b++) {
            double sum = 0, got = get(e, out, a * inner + b);
            for (int64_t i = 0; i < n; i++)
                sum += get(e, in, (a * n + i) * inner + b);
            CHECK(fabs(got - sum) <= (e == BF16 ? ldexp(fabs(sum), -8) : 0));
        }
    CHECK(get(e, out, outer * inner) == 77);
    free(in);
    free(out);
}

static void test_shapes(void)
{
    static const int64_t shapes[][3] = { { 1, 1, 1 },       { 3, 63, 1 },      { 2, 64, 1 },
                                         { 1, 65, 1 },      { 5, 2048, 1 },    { 1, 100003, 1 },
                                         { 1, 1 << 20, 1 }, { 1, 1, 128 },     { 3, 33, 128 },
                                         { 2, 64, 131 },    { 1, 1000, 1000 }, { 70, 40, 129 },
                                         { 1, 97, 511 },    { 2, 2049, 257 } };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int e = 0; e < NELEMENTS; e++)
            try_shape(elements[e], shapes[s][0], shapes[s][1], shapes[s][2]);
}

/* The error is that of one block, however many there are. */
static void test_long(void)
{
    enum { N = 1 << 21, COLUMNS = 128 };
    float *x = malloc(sizeof *x * N), sums[COLUMNS];
    for (int i = 0; i < N; i++)
        x[i] = 0.1f;
    plain_sum(NULL, plain_sum_kind(F32), 1, N, 1, x, sums);
    CHECK(fabs(sums[0] - (double)0.1f * N) <= 1e-6 * 0.1 * N);
    plain_sum(NULL, plain_sum_kind(F32), 1, N / COLUMNS, COLUMNS, x, sums);
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
    plain_sum(NULL, plain_sum_kind(F32), 1, N, 1, x, sums);
    CHECK(sums[0] == 0 && !signbit(sums[0]));
    plain_sum(NULL, plain_sum_kind(F32), 1, N / 128, 128, x, sums);
    CHECK(sums[5] == 0 && !signbit(sums[5]));
    x[128 * 7 + 5] = NAN;
    plain_sum(NULL, plain_sum_kind(F32), 1, N / 128, 128, x, sums);
    CHECK(isnan(sums[5]) && sums[4] == 0);
    CHECK(plain_sum_kind(I32) < 0 && plain_sum_kind(C64) < 0);
}

int main(void)
{
    test_shapes();
    test_long();
    test_wild();
    return check_done();
}
