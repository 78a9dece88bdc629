/* factors_test.c - triangular systems, LU, QR and Cholesky factors against what they were made of, multiplied out by
 * plain loops in double precision, over sizes around the edges of tiles and panels; and shared by three
 * workers, to the same bits.  tests/levels.sh plays it for older machines too. */
#include "engine/exec/executor.h"
#include "engine/numerics/matrices.h"
#include "tests/check.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

static void put(Element e, void *at, int64_t i, double x)
{
    if (e == F32)
        ((float *)at)[i] = (float)x;
    else
        ((double *)at)[i] = x;
}

static double get(Element e, const void *at, int64_t i)
{
    return e == F32 ? (double)((const float *)at)[i] : ((const double *)at)[i];
}

static double _Complex number(Element e, const void *at, int64_t i)
{
    return e == C64    ? ((const float _Complex *)at)[i]
           : e == C128 ? ((const double _Complex *)at)[i]
                       : get(e, at, i);
}

static void set_number(Element e, void *at, int64_t i, double _Complex x)
{
    if (e == C64)
        ((float _Complex *)at)[i] = (float _Complex)x;
    else if (e == C128)
        ((double _Complex *)at)[i] = x;
    else
        put(e, at, i, creal(x));
}

static double epsilon(Element e)
{
    return element_part(e) == F32 ? 0x1p-23 : 0x1p-52;
}

/* n numbers between -1 and 1, of the type; both parts of complex ones. */
static void *numbers(Element e, int64_t n)
{
    void *at = malloc((size_t)(n * element_info[e].bytes));
    int parts = element_part(e) == e ? 1 : 2;
    for (int64_t i = 0; i < parts * n; i++)
        put(element_part(e), at, i, rand() % 2001 / 1000.0 - 1);
    return at;
}

/* The same with `diagonal` added to the diagonal of each n x n matrix, all else a tenth of it. */
static void *matrices_of(Element e, int64_t n, int64_t count, double diagonal)
{
    void *a = numbers(e, n * n * count);
    for (int64_t i = 0; i < n * n * count; i++)
        put(e, a, i, get(e, a, i) / 10 + (i % (n * n) % (n + 1) == 0 ? diagonal : 0));
    return a;
}

/* ---- triangular systems ---- */

/* The largest |a x - b| of column j, in units of the last place of numbers of order 1. */
static double residual(Element e, const TriangularSystem *s, int64_t j)
{
    double most = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0;
        int64_t from = s->is_lower ? 0 : i, to = s->is_lower ? i : s->n - 1;
        for (int64_t k = from; k <= to; k++) {
            double a = get(e, s->a, i * s->a_row + k * s->a_col);
            sum += (k == i && s->is_unit ? 1 : a) * get(e, s->x, k * s->b_row + j * s->b_col);
        }
        double off = fabs(sum - get(e, s->b, i * s->b_row + j * s->b_col));
        most = off > most ? off : most;
    }
    return most / epsilon(e);
}

static void test_system(const Frame *f, Element e, int64_t n, int64_t other, int form)
{
    enum { COUNT = 2 };
    bool is_turned = form & 1, is_right = form & 2, is_lower = form & 4, is_unit = form & 8;
    int64_t bytes = element_info[e].bytes;
    void *a = matrices_of(e, n, COUNT, 2), *b = numbers(e, n * other * COUNT);
    void *x = numbers(e, n * other * COUNT), *again = numbers(e, n * other * COUNT);
    TriangularSystem s = { .frame = NULL,
                           .n = n,
                           .other = other,
                           .a = a,
                           .b = b,
                           .a_row = is_turned ? 1 : n,
                           .a_col = is_turned ? n : 1,
                           .b_row = is_right ? 1 : other,
                           .b_col = is_right ? n : 1,
                           .x = x,
                           .is_lower = is_lower,
                           .is_unit = is_unit };
    triangular_solve(e, &s, COUNT);
    for (int64_t matrix = 0; matrix < COUNT; matrix++) {
        TriangularSystem one = s;
        one.a = (char *)a + matrix * n * n * bytes;
        one.b = (char *)b + matrix * n * other * bytes;
        one.x = (char *)x + matrix * n * other * bytes;
        for (int64_t j = 0; j < other; j++)
            CHECK(residual(e, &one, j) < 50);
    }
    s.frame = f;
    s.x = again;
    triangular_solve(e, &s, COUNT);
    CHECK(!memcmp(x, again, (size_t)(n * other * COUNT * bytes)));
    free(a);
    free(b);
    free(x);
    free(again);
}

static void test_systems(const Frame *f, Element e)
{
    static const int64_t sides[] = { 1, 5, 12, 17, 100 }, others[] = { 1, 8, 16, 37 };
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (size_t j = 0; j < sizeof others / sizeof *others; j++)
            for (int form = 0; form < 16; form++)
                test_system(f, e, sides[i], others[j], form);
    test_system(f, e, 200, 70, 4);
}

/* ---- LU ---- */

/* The largest element of L U, as rows stood before, less the matrix; no element of L is above 1, or the
 * diagonal of 1 and 1. */
static double lu_error(Element e, int64_t m, int64_t n, const void *a, const void *lu,
                       const int32_t *pivots)
{
    int64_t k = m < n ? m : n, *rows = malloc(sizeof *rows * (size_t)m);
    double most = 0;
    for (int64_t i = 0; i < m; i++)
        rows[i] = i;
    for (int64_t i = 0; i < k; i++) {
        int64_t other = pivots[i] - 1, kept = rows[i];
        CHECK(other >= i && other < m);
        rows[i] = rows[other];
        rows[other] = kept;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double _Complex sum = 0;
            for (int64_t p = 0; p <= i && p <= j && p < k; p++)
                sum += (p == i ? 1 : number(e, lu, i * n + p)) * number(e, lu, p * n + j);
            double off = cabs(sum - number(e, a, rows[i] * n + j));
            most = off > most ? off : most;
            CHECK(j >= i || cabs(number(e, lu, i * n + j)) <= (element_part(e) == e ? 1 : 1.42));
        }
    free(rows);
    return most / epsilon(e);
}

static void test_lu(const Frame *f, Element e, int64_t m, int64_t n)
{
    size_t bytes = (size_t)(m * n * element_info[e].bytes), count = (size_t)(m < n ? m : n);
    void *a = numbers(e, m * n), *lu = malloc(bytes), *again = malloc(bytes);
    int32_t *pivots = malloc(sizeof *pivots * count), *others = malloc(sizeof *pivots * count);
    int32_t info = -1;
    memcpy(lu, a, bytes);
    memcpy(again, a, bytes);
    blocked_lu(f, false, e, m, n, lu, pivots, &info);
    CHECK(info == 0);
    CHECK(lu_error(e, m, n, a, lu, pivots) < 500);
    blocked_lu(NULL, true, e, m, n, again, others, &info);
    CHECK(!memcmp(lu, again, bytes) && !memcmp(pivots, others, sizeof *pivots * count));
    free(a);
    free(lu);
    free(again);
    free(pivots);
    free(others);
}

/* Column `zero` (from 0) of what is left is zero: it is told, and the others are factored. */
static void test_singular(Element e, int64_t n, int64_t zero)
{
    void *a = numbers(e, n * n), *lu = malloc((size_t)(n * n * element_info[e].bytes));
    int32_t *pivots = malloc(sizeof *pivots * (size_t)n), info = -1;
    for (int64_t i = 0; i < n; i++)
        memset((char *)a + (i * n + zero) * element_info[e].bytes, 0,
               (size_t)element_info[e].bytes);
    memcpy(lu, a, (size_t)(n * n * element_info[e].bytes));
    blocked_lu(NULL, true, e, n, n, lu, pivots, &info);
    CHECK(info == zero + 1);
    CHECK(lu_error(e, n, n, a, lu, pivots) < 500);
    free(a);
    free(lu);
    free(pivots);
}

static void test_factors(const Frame *f, Element e)
{
    static const int64_t sizes[][2] = { { 1, 1 },     { 16, 16 },   { 17, 40 },  { 40, 17 },
                                        { 130, 130 }, { 200, 333 }, { 333, 200 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        test_lu(f, e, sizes[i][0], sizes[i][1]);
    test_singular(e, 90, 0);
    test_singular(e, 90, 70);
}

/* ---- QR ---- */

/* A column of zeros, one that is another's double, and elements whose squares are no numbers of the type. */
static void spoil(Element e, int64_t m, int64_t n, void *a)
{
    double far = element_part(e) == F32 ? 1e-25 : 1e-200;
    for (int64_t i = 0; i < m; i++) {
        set_number(e, a, i * n + n / 2, 0);
        set_number(e, a, i * n + n - 1, 2 * number(e, a, i * n));
        set_number(e, a, i * n + n / 3, far * number(e, a, i * n + n / 3));
        set_number(e, a, i * n + n / 4, number(e, a, i * n + n / 4) / far);
    }
}

/* The largest element of Q R less the matrix, for the size of its column; of Q^H Q less the identity. */
static double qr_error(Element e, int64_t m, int64_t n, const void *a, const void *r, const void *q)
{
    int64_t k = m < n ? m : n;
    double most = 0;
    for (int64_t j = 0; j < n; j++) {
        double size = 0, off = 0;
        for (int64_t i = 0; i < m; i++) {
            double _Complex sum = 0;
            for (int64_t p = 0; p <= j && p < k; p++)
                sum += number(e, q, i * k + p) * number(e, r, p * n + j);
            size = fmax(size, cabs(number(e, a, i * n + j)));
            off = fmax(off, cabs(sum - number(e, a, i * n + j)));
        }
        most = fmax(most, size > 0 ? off / size : off);
    }
    for (int64_t x = 0; x < k; x++)
        for (int64_t y = 0; y <= x; y++) {
            double _Complex sum = x == y ? -1 : 0;
            for (int64_t i = 0; i < m; i++)
                sum += conj(number(e, q, i * k + x)) * number(e, q, i * k + y);
            most = fmax(most, cabs(sum));
        }
    return most / epsilon(e);
}

static void test_qr(const Frame *f, Element e, int64_t m, int64_t n, bool is_spoiled)
{
    int64_t k = m < n ? m : n, bytes = element_info[e].bytes;
    void *a = numbers(e, m * n), *r = malloc((size_t)(m * n * bytes));
    void *again = malloc((size_t)(m * n * bytes)), *taus = numbers(e, k), *others = numbers(e, k);
    void *v = numbers(e, m * k), *q = numbers(e, m * k), *same = numbers(e, m * k);
    if (is_spoiled)
        spoil(e, m, n, a);
    memcpy(r, a, (size_t)(m * n * bytes));
    memcpy(again, a, (size_t)(m * n * bytes));
    blocked_qr(f, false, e, m, n, r, taus);
    blocked_qr(NULL, true, e, m, n, again, others);
    CHECK(!memcmp(r, again, (size_t)(m * n * bytes)) && !memcmp(taus, others, (size_t)(k * bytes)));
    for (int64_t i = 0; i < m; i++)
        memcpy((char *)v + i * k * bytes, (char *)r + i * n * bytes, (size_t)(k * bytes));
    blocked_q(f, false, e, m, k, k, v, taus, q);
    blocked_q(NULL, true, e, m, k, k, v, taus, same);
    CHECK(!memcmp(q, same, (size_t)(m * k * bytes)));
    CHECK(qr_error(e, m, n, a, r, q) < 100);
    free(a);
    free(r);
    free(again);
    free(taus);
    free(others);
    free(v);
    free(q);
    free(same);
}

static void test_qrs(const Frame *f, Element e)
{
    static const int64_t sizes[][2] = { { 1, 1 },    { 5, 1 },     { 1, 5 },     { 16, 16 },
                                        { 17, 40 },  { 40, 17 },   { 300, 6 },   { 65, 64 },
                                        { 64, 130 }, { 130, 130 }, { 200, 333 }, { 333, 200 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int is_spoiled = 0; is_spoiled < 2; is_spoiled++)
            test_qr(f, e, sizes[i][0], sizes[i][1], is_spoiled);
}

/* ---- bidiagonal form ---- */

/* The largest element of the matrix less the bidiagonal one, after the reflectors have been applied to it one by one. */
static double bidiagonal_error(Element e, int64_t m, int64_t n, const void *a, const void *reduced,
                               const BidiagonalParts *p)
{
    double *x = malloc(sizeof *x * (size_t)(m * n)), most = 0;
    for (int64_t i = 0; i < m * n; i++)
        x[i] = get(e, a, i);
    for (int64_t k = 0; k < n; k++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = x[k * n + j];
            for (int64_t i = k + 1; i < m; i++)
                sum += get(e, reduced, i * n + k) * x[i * n + j];
            sum *= get(e, p->left_taus, k);
            x[k * n + j] -= sum;
            for (int64_t i = k + 1; i < m; i++)
                x[i * n + j] -= sum * get(e, reduced, i * n + k);
        }
        for (int64_t i = 0; i < m && k + 1 < n; i++) {
            double sum = x[i * n + k + 1];
            for (int64_t j = k + 2; j < n; j++)
                sum += x[i * n + j] * get(e, reduced, k * n + j);
            sum *= get(e, p->right_taus, k);
            x[i * n + k + 1] -= sum;
            for (int64_t j = k + 2; j < n; j++)
                x[i * n + j] -= sum * get(e, reduced, k * n + j);
        }
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double want = i == j ? get(e, p->diagonal, i) : i + 1 == j ? get(e, p->beside, i) : 0;
            most = fmax(most, fabs(x[i * n + j] - want));
        }
    free(x);
    return most / epsilon(e);
}

static void test_bidiagonal(const Frame *f, Element e, int64_t m, int64_t n)
{
    size_t bytes = (size_t)(m * n * element_info[e].bytes);
    void *a = numbers(e, m * n), *reduced = malloc(bytes), *again = malloc(bytes);
    BidiagonalParts p = { numbers(e, n), numbers(e, n), numbers(e, n), numbers(e, n) };
    memcpy(reduced, a, bytes);
    memcpy(again, a, bytes);
    blocked_bidiagonal(f, false, e, m, n, reduced, &p);
    CHECK(bidiagonal_error(e, m, n, a, reduced, &p) < 1000);
    blocked_bidiagonal(f, true, e, m, n, again, &p);
    CHECK(!memcmp(reduced, again, bytes));
    free(a);
    free(reduced);
    free(again);
    free(p.diagonal);
    free(p.beside);
    free(p.left_taus);
    free(p.right_taus);
}

/* By how much reflectors below the diagonal of `factors` are none: tau v^T v is 2. */
static double reflector_error(Element e, int64_t m, int64_t n, const void *factors,
                              const void *taus)
{
    double most = 0;
    for (int64_t k = 0; k < n; k++) {
        double sum = 1, tau = get(e, taus, k);
        for (int64_t i = k + 1; i < m; i++)
            sum += get(e, factors, i * n + k) * get(e, factors, i * n + k);
        most = fmax(most, tau == 0 ? 0 : fabs(tau * sum - 2));
    }
    return most / epsilon(e);
}

/* Two blocks, of which the second is so small that its elements' squares are below the normal range. */
static void *far_blocks(Element e, int64_t n)
{
    char *a = numbers(e, n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            bool is_second = i >= n / 2 && j >= n / 2, is_first = i < n / 2 && j < n / 2;
            double by = is_first ? 1 : is_second ? e == F32 ? 0x1p-70 : 0x1p-530 : 0;
            put(e, a, i * n + j, by * get(e, a, i * n + j));
        }
    return a;
}

static void test_far_blocks(const Frame *f, Element e)
{
    enum { N = 60, SMALL = 8 };
    void *a = far_blocks(e, N), *few = far_blocks(e, SMALL), *reduced = far_blocks(e, SMALL);
    BidiagonalParts p = { numbers(e, N), numbers(e, N), numbers(e, N), numbers(e, N) };
    blocked_bidiagonal(f, false, e, N, N, a, &p);
    CHECK(reflector_error(e, N, N, a, p.left_taus) < 100);
    small_qr(e, 1, SMALL, SMALL, few, reduced, p.left_taus);
    CHECK(reflector_error(e, SMALL, SMALL, reduced, p.left_taus) < 100);
    free(a);
    free(few);
    free(reduced);
    free(p.diagonal);
    free(p.beside);
    free(p.left_taus);
    free(p.right_taus);
}

static void test_bidiagonals(const Frame *f, Element e)
{
    static const int64_t sizes[][2] = { { 1, 1 },   { 5, 1 },   { 6, 6 },    { 33, 32 },
                                        { 64, 33 }, { 65, 65 }, { 200, 97 }, { 530, 520 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        test_bidiagonal(f, e, sizes[i][0], sizes[i][1]);
    test_far_blocks(f, e);
}

/* ---- Cholesky ---- */

/* The largest element of L L^T less the matrix, on and below the diagonal; above, L is zero. */
static double cholesky_error(Element e, int64_t n, const void *a, const void *l)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t p = 0; p <= i && p <= j; p++)
                sum += get(e, l, i * n + p) * get(e, l, j * n + p);
            double off = fabs(sum - get(e, a, i * n + j));
            most = j <= i && off > most ? off : most;
            CHECK(j <= i || get(e, l, i * n + j) == 0);
        }
    return most / epsilon(e);
}

/* What lies above the diagonal is not looked at.  A diagonal element below zero, wherever it is, is told. */
static void test_cholesky(const Frame *f, Element e, int64_t n)
{
    size_t bytes = (size_t)(n * n * element_info[e].bytes);
    void *a = matrices_of(e, n, 1, (double)n / 10 + 1), *l = malloc(bytes), *again = malloc(bytes);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            put(e, a, i * n + j, (double)NAN);
    CHECK(blocked_cholesky(f, false, e, n, a, l));
    CHECK(cholesky_error(e, n, a, l) < 500);
    CHECK(blocked_cholesky(NULL, true, e, n, a, again));
    CHECK(!memcmp(l, again, bytes));
    for (int64_t at = 0; at < n; at += n / 3 + 1) {
        double kept = get(e, a, at * n + at);
        put(e, a, at * n + at, at % 2 ? (double)NAN : -1);
        CHECK(!blocked_cholesky(f, false, e, n, a, l));
        put(e, a, at * n + at, kept);
    }
    free(a);
    free(l);
    free(again);
}

static void test_choleskys(const Frame *f, Element e)
{
    static const int64_t sides[] = { 1, 8, 16, 17, 40, 64, 65, 130, 161, 333 };
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        test_cholesky(f, e, sides[i]);
}

int main(void)
{
    Executor *e = NULL;
    CHECK(!executor_new(1, 3, 0, &e));
    Program program = { .ndevices = 1 };
    Run run = { .executor = e, .program = &program };
    Task task = { .run = &run };
    Frame frame = { .program = &program, .task = &task };
    for (Element type = F32; type <= F64; type++)
        if (type == F32 || type == F64)
            test_systems(&frame, type), test_factors(&frame, type), test_qrs(&frame, type),
                test_choleskys(&frame, type), test_bidiagonals(&frame, type);
    test_factors(&frame, C64);
    test_factors(&frame, C128);
    test_qrs(&frame, C64);
    test_qrs(&frame, C128);
    executor_free(e);
    return check_done();
}
