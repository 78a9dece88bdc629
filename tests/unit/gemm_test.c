/* gemm_test.c - matrix products of every kind against three plain loops, over sizes around the edges
 * of tiles and blocks, with plain and transposed operands; and large ones cut for three workers, to the
 * same bits; by what a window sees; and by a matrix that several devices have alike.  Links the engine's
 * run.  tests/levels.sh plays it for older machines too. */
#include "engine/exec/executor.h"
#include "engine/numerics/gemm.h"
#include "tests/check.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

/* Whose products: gemm_tiles_test.c has others. */
#ifndef LEVEL_OF
#define LEVEL_OF(kind) gemm_level_of(kind)
#endif

static void multiply(const Frame *frame, GemmKind kind, int64_t m, int64_t n, int64_t k,
                     const void *a, int64_t a_row, int64_t a_col, const void *b, int64_t b_row,
                     int64_t b_col, void *c, int64_t c_row)
{
    LEVEL_OF(kind)->gemm[kind](frame, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
}

/* ---- numbers of every kind, as double ---- */

typedef double _Complex Number;

typedef struct KindInfo {
    const char *name;
    size_t bytes, sum_bytes; /* of an element of the operands, of the result */
    double slack;            /* of a sum, by its length and the size of a product */
} KindInfo;

static const KindInfo infos[GEMM_KINDS] = {
    [GEMM_F32] = { "f32", 4, 4, 1e-6 },   [GEMM_F64] = { "f64", 8, 8, 1e-15 },
    [GEMM_C64] = { "c64", 8, 8, 2e-6 },   [GEMM_C128] = { "c128", 16, 16, 2e-15 },
    [GEMM_BF16] = { "bf16", 2, 4, 1e-6 }, [GEMM_F16] = { "f16", 2, 4, 1e-6 },
    [GEMM_I8] = { "i8", 1, 4, 0 },        [GEMM_I16] = { "i16", 2, 4, 0 },
    [GEMM_I32] = { "i32", 4, 4, 0 },      [GEMM_I64] = { "i64", 8, 8, 0 },
};

/* Any number of the kind, a large one too; floats are at most 1 and have few digits. */
static Number some_number(GemmKind kind)
{
    static const int64_t limits[GEMM_KINDS] = {
        [GEMM_I8] = 128, [GEMM_I16] = 32768, [GEMM_I32] = 1000, [GEMM_I64] = 100000
    };
    double x = rand() % 255 - 127, y = rand() % 255 - 127;
    int64_t limit = limits[kind];
    if (limit)
        return rand() % 8 == 0 ? -(double)limit : (double)(rand() % (2 * limit) - limit);
    bool is_complex = kind == GEMM_C64 || kind == GEMM_C128;
    return x / 128 + (is_complex ? y / 128 * (Number)1i : 0);
}

static void put_number(GemmKind kind, void *at, int64_t i, Number x)
{
    float single = (float)creal(x);
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    switch (kind) {
    case GEMM_F32: ((float *)at)[i] = single; break;
    case GEMM_F64: ((double *)at)[i] = creal(x); break;
    case GEMM_C64: ((float _Complex *)at)[i] = (float _Complex)x; break;
    case GEMM_C128: ((Number *)at)[i] = x; break;
    case GEMM_BF16: ((uint16_t *)at)[i] = (uint16_t)(bits >> 16); break;
    case GEMM_F16: ((_Float16 *)at)[i] = (_Float16)single; break;
    case GEMM_I8: ((int8_t *)at)[i] = (int8_t)creal(x); break;
    case GEMM_I16: ((int16_t *)at)[i] = (int16_t)creal(x); break;
    case GEMM_I32: ((int32_t *)at)[i] = (int32_t)creal(x); break;
    case GEMM_I64: ((int64_t *)at)[i] = (int64_t)creal(x); break;
    default: CHECK(false);
    }
}

static Number sum_at(GemmKind kind, const void *c, int64_t i)
{
    switch (kind) {
    case GEMM_F64: return ((const double *)c)[i];
    case GEMM_C64: return ((const float _Complex *)c)[i];
    case GEMM_C128: return ((const Number *)c)[i];
    case GEMM_I64: return (double)((const int64_t *)c)[i];
    case GEMM_I8:
    case GEMM_I16:
    case GEMM_I32: return ((const int32_t *)c)[i];
    default: return ((const float *)c)[i];
    }
}

/* The truth in the kind's own arithmetic: sums of 32 bits wrap. */
static Number wrapped(GemmKind kind, Number sum)
{
    bool is_32 = kind == GEMM_I8 || kind == GEMM_I16 || kind == GEMM_I32;
    return is_32 ? (Number)(int32_t)(uint32_t)(int64_t)creal(sum) : sum;
}

typedef struct Matrix2 {
    Number *numbers;
    void *at;
    int64_t row, col;
} Matrix2;

/* A matrix with its elements in row-major or column-major order, or `apart` from each other. */
static Matrix2 matrix_new(GemmKind kind, int64_t rows, int64_t cols, bool is_transposed,
                          int64_t apart)
{
    Matrix2 x = { .row = apart * (is_transposed ? 1 : cols),
                  .col = apart * (is_transposed ? rows : 1) };
    size_t room = (size_t)(apart * rows * cols) + 1;
    x.numbers = calloc(room, sizeof *x.numbers);
    x.at = malloc(infos[kind].bytes * room);
    for (size_t i = 0; i < room; i++) {
        x.numbers[i] = some_number(kind);
        put_number(kind, x.at, (int64_t)i, x.numbers[i]);
    }
    return x;
}

static void matrix_free(Matrix2 x)
{
    free(x.numbers);
    free(x.at);
}

static double error_at(GemmKind kind, Matrix2 a, Matrix2 b, int64_t i, int64_t j, int64_t k,
                       Number got)
{
    Number sum = 0;
    for (int64_t p = 0; p < k; p++)
        sum += a.numbers[i * a.row + p * a.col] * b.numbers[p * b.row + j * b.col];
    return cabs(wrapped(kind, sum) - got);
}

enum { SPARE = 3 }; /* columns of c that are not to be written */

static void test_product(GemmKind kind, int64_t m, int64_t n, int64_t k, int is_transposed,
                         int64_t apart)
{
    Matrix2 a = matrix_new(kind, m, k, is_transposed & 1, apart);
    Matrix2 b = matrix_new(kind, k, n, is_transposed & 2, apart);
    int64_t c_row = n + SPARE;
    size_t bytes = infos[kind].sum_bytes;
    char *c = malloc(bytes * (size_t)(m * c_row + 1));
    memset(c, 77, bytes * (size_t)(m * c_row + 1));
    multiply(NULL, kind, m, n, k, a.at, a.row, a.col, b.at, b.row, b.col, c, c_row);
    double worst = 0;
    int spilled = 0;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            worst = fmax(worst, error_at(kind, a, b, i, j, k, sum_at(kind, c, i * c_row + j)));
        for (size_t l = 0; l < SPARE * bytes; l++)
            spilled += c[(size_t)(i * c_row + n) * bytes + l] != 77;
    }
    bool is_right = worst <= infos[kind].slack * (double)(k + 1) && !spilled;
    if (!is_right)
        printf("%s of %lldx%lldx%lld, is_transposed %d, apart %d: off by %g, %d spilled\n",
               infos[kind].name, (long long)m, (long long)n, (long long)k, is_transposed,
               (int)apart, worst, spilled);
    CHECK(is_right);
    matrix_free(a);
    matrix_free(b);
    free(c);
}

static void test_sizes(GemmKind kind)
{
    static const int64_t sizes[] = { 1, 2, 5, 12, 13, 16, 17, 31, 33, 64, 100, 145 };
    enum { N = sizeof sizes / sizeof sizes[0] };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int is_transposed = 0; is_transposed < 4; is_transposed++)
                test_product(kind, sizes[i], sizes[j], sizes[(i + (is_transposed + 1) * j) % N],
                             is_transposed, i == 4 && j > 8 ? 2 : 1);
    test_product(kind, 20, 1100, 300, 0, 1); /* past a block in columns and depth */
    test_product(kind, 300, 40, 270, 3, 1);
    test_product(kind, 30, 50, 1500, 0, 1);
    test_product(kind, 150, 70, 2100, 0,
                 1); /* rows and columns for wide tiles, and several steps of depth */
    test_product(kind, 155, 35, 8301, 2, 1);
    test_product(kind, 151, 75, 8302, 2, 1);
    test_product(kind, 30, 50, 1501, 2, 1);
    for (int64_t n = 2; n <= 8; n += 2) /* a few vectors, long and short, that fill none */
        for (int64_t k = 15; k < 300; k = 2 * k + 3)
            test_product(kind, 50, n, k, 2 * (n == 4), 1);
    test_product(kind, 40, 1024 - SPARE, 9, 0, 1); /* shallow, and rows of c at steps of a page */
    test_product(kind, 3, 4, 0, 0, 1);             /* nothing to add up: zero */
    test_product(kind, 0, 4, 3, 0, 1);
}

/* What is small beside other terms is not lost with them: each sum of f32 holds few products. */
static void test_long_sum(GemmKind kind)
{
    enum { K = 100000 };
    Matrix2 a = matrix_new(kind, 4, K, false, 1), b = matrix_new(kind, K, 4, true, 1);
    float c[16];
    double worst = 0;
    multiply(NULL, kind, 4, 4, K, a.at, a.row, a.col, b.at, b.row, b.col, c, 4);
    for (int i = 0; i < 16; i++)
        worst = fmax(worst, error_at(kind, a, b, i / 4, i % 4, K, c[i]));
    CHECK(worst < 2e-4); /* of terms of about 0.3; one sum in a row is off by some thousandths */
    matrix_free(a);
    matrix_free(b);
}

/* An infinite column by a vector: the columns that fill up its four take no part. */
static void test_infinite(GemmKind kind)
{
    enum { M = 40, MOST = 9 };
    for (int64_t k = 1; k <= MOST; k++) {
        Matrix2 a = matrix_new(kind, M, k, true, 1), b = matrix_new(kind, k, 1, false, 1);
        char c[M * sizeof(double)];
        int wrong = 0;
        for (int64_t i = 0; i < M; i++)
            put_number(kind, a.at, i * a.row + (k - 1) * a.col, INFINITY);
        put_number(kind, b.at, (k - 1) * b.row, 1);
        multiply(NULL, kind, M, 1, k, a.at, a.row, a.col, b.at, b.row, b.col, c, 1);
        for (int64_t i = 0; i < M; i++)
            wrong += creal(sum_at(kind, c, i)) != (double)INFINITY;
        CHECK(wrong == 0);
        matrix_free(a);
        matrix_free(b);
    }
}

/* ---- what a window sees ---- */

/* A window of 3 x `wide` that moves over an image of 9 x 40, backwards in one direction, against
 * plain loops; the product is exact. */
static void test_gather(GemmKind kind, bool is_b, int64_t wide, int64_t places, int64_t other)
{
    enum { HIGH = 9, WIDTH = 40 };
    int64_t lines = 5 * places, terms = 2 * 3 * wide, rows = is_b ? other : lines;
    int64_t columns = is_b ? lines : other;
    size_t bytes = infos[kind].bytes;
    char *image = malloc(bytes * 2 * HIGH * WIDTH),
         *kernel = malloc(bytes * (size_t)(terms * other));
    void *c = malloc(infos[kind].sum_bytes * (size_t)(lines * other));
    Gather *g = malloc(sizeof *g + sizeof *g->dims * 5);
    *g = (Gather){ is_b, rows, columns, terms, terms, 1, columns, 2, 3 };
    const int64_t dims[5][2] = {
        { 5, WIDTH }, { places, 1 }, { 2, HIGH * WIDTH }, { 3, -WIDTH }, { wide, 1 }
    };
    memcpy(g->dims, dims, sizeof dims);
    for (int i = 0; i < 2 * HIGH * WIDTH; i++)
        put_number(kind, image, i, i % 61 - 30);
    for (int64_t i = 0; i < terms * other; i++)
        put_number(kind, kernel, i, (double)(i % 17 - 8));
    LEVEL_OF(kind)->gather[kind](NULL, g, image + 2 * WIDTH * bytes, kernel, c);
    int wrong = 0;
    for (int64_t l = 0; l < lines; l++)
        for (int64_t o = 0; o < other; o++) {
            int64_t sum = 0;
            for (int64_t t = 0; t < terms; t++)
                sum += ((o * terms + t) % 17 - 8) *
                       (((l / places + 2 - t / wide % 3) * WIDTH + l % places + t % wide +
                         t / wide / 3 * HIGH * WIDTH) %
                            61 -
                        30);
            wrong +=
                creal(sum_at(kind, c, is_b ? o * columns + l : l * columns + o)) != (double)sum;
        }
    CHECK(!wrong);
    free(image);
    free(kernel);
    free(c);
    free(g);
}

static void test_gathers(GemmKind kind)
{
    for (int64_t wide = 1; wide <= 37; wide += 6)
        for (int64_t places = 1; places <= 41 - wide; places += 9)
            for (int64_t other = 1; other <= 40; other += 13) {
                test_gather(kind, false, wide, places, other);
                test_gather(kind, true, wide, places, other);
            }
}

/* ---- cuts ---- */

static void test_cut(const Frame *frame, GemmKind kind, int64_t m, int64_t n, int64_t k,
                     bool is_transposed)
{
    Matrix2 a = matrix_new(kind, m, k, false, 1), b = matrix_new(kind, k, n, is_transposed, 1);
    size_t bytes = infos[kind].sum_bytes * (size_t)(m * n);
    void *c = malloc(bytes), *d = malloc(bytes);
    multiply(NULL, kind, m, n, k, a.at, a.row, a.col, b.at, b.row, b.col, c, n);
    multiply(frame, kind, m, n, k, a.at, a.row, a.col, b.at, b.row, b.col, d, n);
    CHECK(!memcmp(c, d, bytes));
    matrix_free(a);
    matrix_free(b);
    free(c);
    free(d);
}

/* A result that goes past the caches has the bits of its rows computed apart, which do not. */
static void test_large_result(const Frame *frame, GemmKind kind)
{
    enum { M = 2100, N = 1024, K = 33, SOME = 210 };
    Matrix2 a = matrix_new(kind, M, K, false, 1), b = matrix_new(kind, K, N, false, 1);
    size_t bytes = infos[kind].sum_bytes * N;
    char *c = aligned_alloc(64, bytes * M), *d = aligned_alloc(64, bytes * SOME);
    multiply(frame, kind, M, N, K, a.at, a.row, a.col, b.at, b.row, b.col, c, N);
    for (int64_t i = 0; i < M; i += SOME) {
        const char *rows = (const char *)a.at + (size_t)(i * a.row) * infos[kind].bytes;
        multiply(NULL, kind, SOME, N, K, rows, a.row, a.col, b.at, b.row, b.col, d, N);
        CHECK(!memcmp(c + bytes * (size_t)i, d, bytes * SOME));
    }
    matrix_free(a);
    matrix_free(b);
    free(c);
    free(d);
}

static void test_cuts(GemmKind kind)
{
    Executor *e = NULL;
    CHECK(!executor_new(1, 3, 0, &e) && !executor_start(e));
    Run run = { .executor = e };
    Task task = { .run = &run };
    Frame frame = { .task = &task };
    for (int i = 0; i < (kind == GEMM_F32 ? 5 : 1); i++) {
        test_cut(&frame, kind, 300, 200, 400, false);
        test_cut(&frame, kind, 300, 200, 400, true);
        test_cut(&frame, kind, 14, 2000, 333, false);
        test_cut(&frame, kind, 40, 30, 9000, false);
        test_cut(&frame, kind, 2000, 1, 300, false);
        test_cut(&frame, kind, 1, 2000, 300, false);
        test_cut(&frame, kind, 1, 2000, 300, true);
    }
    test_large_result(&frame, kind);
    executor_free(e);
}

/* Results of bf16 have the bits of those of f32, rounded; where numbers are none, or infinite, too. */
static void test_rounded(const Frame *frame, int64_t m, int64_t n, int64_t k, int is_transposed)
{
    Matrix2 a = matrix_new(GEMM_BF16, m, k, is_transposed & 1, 1);
    Matrix2 b = matrix_new(GEMM_BF16, k, n, is_transposed & 2, 1);
    if (k > 3) {
        ((uint16_t *)a.at)[0] = 0x7fc0;         /* nan */
        ((uint16_t *)a.at)[m * k - 1] = 0x7f80; /* infinity */
        ((uint16_t *)b.at)[n * k / 2] = 0x7f7f; /* the largest: rounding makes infinities of sums */
    }
    int64_t c_row = n + SPARE;
    float *sums = malloc(sizeof *sums * (size_t)(m * n + 1));
    uint16_t *c = malloc(sizeof *c * (size_t)(m * c_row + 1));
    memset(c, 77, sizeof *c * (size_t)(m * c_row + 1));
    multiply(NULL, GEMM_BF16, m, n, k, a.at, a.row, a.col, b.at, b.row, b.col, sums, n);
    multiply(frame, GEMM_BF16_ROUNDED, m, n, k, a.at, a.row, a.col, b.at, b.row, b.col, c, c_row);
    int wrong = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < c_row; j++) {
            uint32_t bits = 77 * 0x01010000;
            if (j < n) {
                memcpy(&bits, &sums[i * n + j], sizeof bits);
                bits = isnan(sums[i * n + j]) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
            }
            wrong += c[i * c_row + j] != bits >> 16;
        }
    if (wrong)
        printf("bf16 of %lldx%lldx%lld, is_transposed %d: %d wrong\n", (long long)m, (long long)n,
               (long long)k, is_transposed, wrong);
    CHECK(!wrong);
    matrix_free(a);
    matrix_free(b);
    free(sums);
    free(c);
}

static void test_all_rounded(void)
{
    Executor *e = NULL;
    CHECK(!executor_new(1, 3, 0, &e) && !executor_start(e));
    Run run = { .executor = e };
    Task task = { .run = &run };
    Frame frame = { .task = &task };
    static const int64_t sizes[] = { 1, 2, 5, 12, 13, 16, 17, 31, 33, 64, 100, 145 };
    enum { N = sizeof sizes / sizeof sizes[0] };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            test_rounded(NULL, sizes[i], sizes[j], sizes[(i + 3 * j) % N], (i + j) % 4);
    test_rounded(&frame, 300, 200, GEMM_ROUNDED_DEPTH, 0);
    test_rounded(&frame, 300, 200, GEMM_ROUNDED_DEPTH - 1, 3);
    test_rounded(&frame, 14, 2000, 333, 1);
    test_rounded(&frame, 2000, 2000, 8, 2);
    test_rounded(NULL, 3, 4, 0, 0);
    executor_free(e);
}

/* Devices multiply by their argument 0, side by side.  Only the first one's holds the numbers, so
 * that the others show whose they took. */
enum { DEVICES = 4, ROWS = 40, DEPTH = 300, COLUMNS = 333 };

typedef struct Product {
    Frame frame;
    bool is_transposed;
    float *a, *c;
} Product;

static void multiply_thrice(void *user)
{
    const Product *p = user;
    int64_t row = p->is_transposed ? 1 : COLUMNS, col = p->is_transposed ? DEPTH : 1;
    for (int i = 0; i < 3; i++)
        gemm(&p->frame, GEMM_F32, ROWS, COLUMNS, DEPTH, p->a, DEPTH, 1, p->frame.args[0], row, col,
             p->c, COLUMNS);
}

static void multiply_all(Run *run, Product *products)
{
    Thread threads[DEVICES];
    for (int d = 0; d < DEVICES; d++)
        CHECK(!thread_start(&threads[d], "product", multiply_thrice, &products[d]));
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

static void test_alike(bool is_replicated, bool is_pending, bool is_transposed)
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
    Product products[DEVICES];
    int64_t row = is_transposed ? 1 : COLUMNS, col = is_transposed ? DEPTH : 1;
    for (int d = 0; d < DEVICES; d++) {
        weights[d] = filled(DEPTH * COLUMNS, d ? -1 : 1);
        Frame frame = { .args = &weights[d], .program = &program, .task = &task };
        products[d] = (Product){ frame, is_transposed, filled(ROWS * DEPTH, (float)(1 + d)),
                                 filled(ROWS * COLUMNS, 0) };
    }
    multiply_all(&run, products);
    bool takes_first = is_replicated && !is_pending;
    float *expected = filled(ROWS * COLUMNS, 0);
    for (int d = 0; d < DEVICES; d++) {
        gemm(NULL, GEMM_F32, ROWS, COLUMNS, DEPTH, products[d].a, DEPTH, 1,
             weights[takes_first ? 0 : d], row, col, expected, COLUMNS);
        CHECK(!memcmp(expected, products[d].c, sizeof(float) * ROWS * COLUMNS));
    }
    for (int d = 0; d < DEVICES; d++) {
        free(weights[d]);
        free(products[d].a);
        free(products[d].c);
    }
    free(expected);
    event_release(pending[0]);
    executor_free(e);
}

int main(void)
{
    for (GemmKind kind = 0; kind < GEMM_KINDS; kind++) {
        if (!LEVEL_OF(kind)->gemm[kind])
            continue;
        if (kind == GEMM_BF16_ROUNDED) {
            test_all_rounded();
            continue;
        }
        test_sizes(kind);
        test_cuts(kind);
        if (gemm_gathers(kind))
            test_gathers(kind);
    }
    static const GemmKind sums_of_f32[] = { GEMM_F32, GEMM_BF16, GEMM_F16 };
    for (int i = 0; i < 3; i++)
        if (LEVEL_OF(sums_of_f32[i])->gemm[sums_of_f32[i]])
            test_long_sum(sums_of_f32[i]);
    static const GemmKind floats[] = { GEMM_F32, GEMM_F64 };
    for (int i = 0; i < 2; i++)
        if (LEVEL_OF(floats[i])->gemm[floats[i]])
            test_infinite(floats[i]);
    for (int is_transposed = 0; is_transposed < 2; is_transposed++) {
        test_alike(true, false, is_transposed);
        test_alike(true, true, is_transposed);
        test_alike(false, false, is_transposed);
    }
    return check_done();
}
