/* fft_test.c - numerics/fft.c against the definition, in long double: lengths with every kind of factor,
 * both precisions, all four transforms, several dimensions.  Links engine objects. */
#include "engine/numerics/numerics.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define complex _Complex
#define I _Complex_I

enum { FFT, IFFT, RFFT, IRFFT };
typedef long double complex Wide;

/* The last naxes dimensions. */
static void fft_transform(Type in, Type out, int type, int naxes, const void *from, void *to)
{
    int64_t lengths[3] = { 0 };
    FftAttrs attrs = { .fft_type = type, .fft_length = { naxes, lengths } };
    Node node = { .op = OP_FFT, .attrs = &attrs, .loc = &loc_unknown };
    Tensor x = { in, (void *)from }, y = { out, to };
    Error *error = routine_fft(NULL, &node, &x, &y);
    CHECK(!error);
    error_free(error);
}

static double noise(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1;
}

/* One line by the definition. */
static void define(const Wide *x, Wide *y, int64_t n, int64_t stride, bool is_forward)
{
    Wide *roots = malloc(sizeof *roots * (size_t)n), *to = malloc(sizeof *to * (size_t)n);
    for (int64_t k = 0; k < n; k++) {
        long double turn = 2 * acosl(-1) * (long double)k / (long double)n;
        roots[k] = cosl(turn) + (is_forward ? -1 : 1) * (Wide)I * sinl(turn);
    }
    for (int64_t k = 0; k < n; k++) {
        to[k] = 0;
        for (int64_t j = 0; j < n; j++)
            to[k] += x[j * stride] * roots[j * k % n];
        if (!is_forward)
            to[k] /= (long double)n;
    }
    for (int64_t k = 0; k < n; k++)
        y[k * stride] = to[k];
    free(roots);
    free(to);
}

static Wide get(const void *data, Element e, int64_t i)
{
    switch (e) {
    case F32: return ((const float *)data)[i];
    case F64: return ((const double *)data)[i];
    case C64: return ((const float complex *)data)[i];
    default: return ((const double complex *)data)[i];
    }
}

static void set(void *data, Element e, int64_t i, double re, double im)
{
    switch (e) {
    case F32: ((float *)data)[i] = (float)re; break;
    case F64: ((double *)data)[i] = re; break;
    case C64: ((float complex *)data)[i] = CMPLXF((float)re, (float)im); break;
    default: ((double complex *)data)[i] = CMPLX(re, im); break;
    }
}

/* Lines of n; the error, relative to the results' size. */
static double line_error(int type, bool is_f32, int64_t n, int64_t nlines)
{
    int64_t half = n / 2 + 1;
    Element real = is_f32 ? F32 : F64, whole = is_f32 ? C64 : C128;
    Element from = type == RFFT ? real : whole, into = type == IRFFT ? real : whole;
    int64_t nin = type == IRFFT ? half : n, nout = type == RFFT ? half : n;
    int64_t in_dims[] = { nlines, nin }, out_dims[] = { nlines, nout };
    Type in = { from, 2, in_dims }, out = { into, 2, out_dims };
    void *x = calloc((size_t)(nlines * n), 16), *y = calloc((size_t)(nlines * n), 16);
    Wide *line = calloc((size_t)n, sizeof *line);
    for (int64_t i = 0; i < nlines * nin; i++)
        set(x, from, i, noise(), noise());
    fft_transform(in, out, type, 1, x, y);
    long double error = 0, size = 0;
    for (int64_t l = 0; l < nlines; l++) {
        for (int64_t i = 0; i < n; i++)
            line[i] = i < nin ? get(x, from, l * nin + i) : conjl(get(x, from, l * nin + n - i));
        if (type == IRFFT) { /* parts that a real line cannot have do not count */
            line[0] = creall(line[0]);
            if (n % 2 == 0)
                line[n / 2] = creall(line[n / 2]);
        }
        define(line, line, n, 1, type == FFT || type == RFFT);
        for (int64_t i = 0; i < nout; i++) {
            long double miss = cabsl(get(y, into, l * nout + i) - line[i]), is = cabsl(line[i]);
            error += miss * miss;
            size += is * is;
        }
    }
    free(x);
    free(y);
    free(line);
    return (double)sqrtl(error / size);
}

static void check_lines(int type, int64_t n, int64_t nlines)
{
    double single = line_error(type, true, n, nlines);
    double wide = line_error(type, false, n, nlines);
    CHECK(single < 1e-6);
    CHECK(wide < 2e-15);
    if (single >= 1e-6 || wide >= 2e-15)
        printf("type %d, %lld lines of %lld numbers: %g in f32, %g in f64\n", type,
               (long long)nlines, (long long)n, single, wide);
}

/* One line, some of which are matrices, and several. */
static void all_lengths(void)
{
    static const int64_t more[] = { 81,  97,  100,  125,  127,  128,  131,  143, 169,
                                    210, 240, 251,  256,  262,  300,  331,  343, 400,
                                    512, 524, 1000, 1009, 1023, 1024, 4096, 5000 };
    for (int type = FFT; type <= IRFFT; type++)
        for (int i = 1; i < 70 + (int)(sizeof more / sizeof *more); i++) {
            int64_t n = i < 70 ? i : more[i - 70];
            check_lines(type, n, 1);
            if (n <= 1024)
                check_lines(type, n, n > 300 ? 18 : 1 + i % 19);
        }
}

/* Long: a prime, of a few odd factors; of reals also twice a prime, and of many factors. */
static void long_lines(void)
{
    static const int64_t lengths[] = { 4099, 4199, 8198, 8200 };
    for (int type = FFT; type <= IRFFT; type++)
        for (int i = type < RFFT ? 0 : 1; i < (type < RFFT ? 2 : 4); i++) {
            CHECK(line_error(type, true, lengths[i], 1 + (i == 1)) < 1e-6);
            CHECK(line_error(type, false, lengths[i], 1) < 2e-15);
        }
}

/* Sums of many products keep their accuracy. */
static void long_sums(void)
{
    for (int type = FFT; type <= IRFFT; type++) {
        CHECK(line_error(type, true, 127, 16) < 1.4e-7);
        CHECK(line_error(type, false, 127, 16) < 2.6e-16);
    }
}

/* Three dimensions are three lists of lines. */
static void many_dimensions(void)
{
    int64_t dims[] = { 2, 3, 4, 5 };
    Type type = { C128, 4, dims };
    double complex x[120], y[120], back[120];
    Wide whole[120];
    for (int i = 0; i < 120; i++)
        whole[i] = x[i] = CMPLX(noise(), noise());
    for (int batch = 0; batch < 2; batch++)
        for (int i = 0; i < 60; i++) {
            Wide *w = whole + 60 * batch;
            if (i < 20)
                define(w + i, w + i, 3, 20, true);
        }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++)
            define(whole + 20 * i + j, whole + 20 * i + j, 4, 5, true);
    for (int i = 0; i < 24; i++)
        define(whole + 5 * i, whole + 5 * i, 5, 1, true);
    fft_transform(type, type, FFT, 3, x, y);
    fft_transform(type, type, IFFT, 3, y, back);
    for (int i = 0; i < 120; i++) {
        CHECK(cabsl(y[i] - whole[i]) < 1e-13);
        CHECK(cabs(back[i] - x[i]) < 1e-14);
    }
}

/* Rows a multiple of 4096 bytes long, whose columns go by way of rows with gaps between them. */
static void crowded(void)
{
    enum { ROWS = 64, ALL = 2 * ROWS * 256 };
    static double complex x[ALL], y[ALL], back[ALL];
    static Wide whole[ALL];
    int64_t dims[] = { 2, ROWS, 256 };
    Type type = { C128, 3, dims };
    for (int i = 0; i < ALL; i++)
        whole[i] = x[i] = CMPLX(noise(), noise());
    for (int i = 0; i < ALL; i += ALL / 2)
        for (int j = 0; j < 256; j++)
            define(whole + i + j, whole + i + j, ROWS, 256, true);
    for (int i = 0; i < ALL; i += 256)
        define(whole + i, whole + i, 256, 1, true);
    fft_transform(type, type, FFT, 2, x, y);
    fft_transform(type, type, IFFT, 2, y, back);
    for (int i = 0; i < ALL; i++) {
        CHECK(cabsl(y[i] - whole[i]) < 1e-12);
        CHECK(cabs(back[i] - x[i]) < 1e-14);
    }
}

/* Lines side by side, more and fewer than a vector has lanes. */
static void columns(void)
{
    for (int64_t width = 1, count = 1; width < 40; width += width < 5 ? 1 : 7, count = 4 - count) {
        int64_t dims[] = { count, 6, width }, n = count * 6 * width;
        Type type = { C64, 3, dims };
        float complex *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y);
        Wide *whole = calloc((size_t)n, sizeof *whole);
        for (int64_t i = 0; i < n; i++)
            whole[i] = x[i] = CMPLXF((float)noise(), (float)noise());
        for (int64_t i = 0; i < n; i += 6 * width)
            for (int64_t j = 0; j < width; j++)
                define(whole + i + j, whole + i + j, 6, width, true);
        for (int64_t i = 0; i < n; i += width)
            define(whole + i, whole + i, width, 1, true);
        fft_transform(type, type, FFT, 2, x, y);
        for (int64_t i = 0; i < n; i++)
            CHECK(cabsl(y[i] - whole[i]) < 1e-4);
        free(x);
        free(y);
        free(whole);
    }
}

/* A line has the same bits whatever lies beside it, unless it has a vector for itself; long ones also then. */
static void alike(void)
{
    enum { LINES = 21, LONGEST = 4099, SOME = 5 };
    static const int64_t lengths[] = { 91, 143, 1001, 1031, 4096, LONGEST };
    static float complex x[LINES * LONGEST], y[LINES * LONGEST], some[SOME * LONGEST];
    for (int64_t i = 0; i < LINES * LONGEST; i++)
        x[i] = CMPLXF((float)noise(), (float)noise());
    for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++) {
        int64_t n = lengths[i], nsome = n < 4096 ? SOME : 1, few[] = { nsome, n };
        for (int64_t lines = 17; lines <= LINES; lines += 4) {
            int64_t all[] = { lines, n };
            fft_transform((Type){ C64, 2, all }, (Type){ C64, 2, all }, FFT, 1, x, y);
            for (int64_t l = 0; l + nsome <= lines; l++) {
                fft_transform((Type){ C64, 2, few }, (Type){ C64, 2, few }, FFT, 1, x + l * n,
                              some);
                CHECK(!memcmp(some, y + l * n, sizeof *y * (size_t)(nsome * n)));
            }
        }
    }
}

static void nothing(void)
{
    int64_t dims[] = { 0, 3 }, half[] = { 0, 2 };
    Type none = { F32, 2, dims }, out = { C64, 2, half };
    float complex y[1] = { 7 };
    fft_transform(none, out, RFFT, 1, NULL, y);
    CHECK(crealf(y[0]) == 7);
}

int main(void)
{
    all_lengths();
    long_lines();
    long_sums();
    many_dimensions();
    crowded();
    columns();
    alike();
    nothing();
    return check_done();
}
