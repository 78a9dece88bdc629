/* linalg_test.c - factorizations against what defines them, and LAPACK's calls by their names.
 * Links engine objects: the matrices and the evaluator's rules. */
#include "engine/numerics/linalg/mat.h"
#include "engine/numerics/matrices.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

static Arena *arena;
static uint64_t seed = 1;

static double next_number(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / (double)(1ull << 52) - 1;
}

static void must(Error *error)
{
    if (error)
        printf("%s\n", error_text(error));
    CHECK(!error);
    error_free(error);
}

static Mat zeros(int64_t rows, int64_t cols)
{
    Mat m = { 0 };
    must(mat_new(arena, rows, cols, &m));
    return m;
}

static Mat any(int64_t rows, int64_t cols, bool is_real)
{
    Mat m = zeros(rows, cols);
    for (int64_t i = 0; i < rows * cols; i++)
        m.at[i] = CMPLX(next_number(), is_real ? 0 : next_number());
    return m;
}

static Mat copy(Mat a)
{
    Mat m = zeros(a.rows, a.cols);
    memcpy(m.at, a.at, sizeof *a.at * (size_t)(a.rows * a.cols));
    return m;
}

static Mat times(Mat a, Mat b)
{
    Mat m = zeros(a.rows, b.cols);
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t k = 0; k < a.cols; k++)
            for (int64_t j = 0; j < b.cols; j++)
                AT(m, i, j) += AT(a, i, k) * AT(b, k, j);
    return m;
}

static Mat adjoint(Mat a)
{
    Mat m = { 0 };
    must(mat_adjoint(arena, a, &m));
    return m;
}

static double distance(Mat a, Mat b)
{
    double most = 0;
    CHECK(a.rows == b.rows && a.cols == b.cols);
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        most = fmax(most, cabs(a.at[i] - b.at[i]));
    return most;
}

static bool is_unitary(Mat q)
{
    Mat one = zeros(q.cols, q.cols);
    mat_identity(one);
    return distance(times(adjoint(q), q), one) < 1e-13;
}

static Mat diagonal(int64_t rows, int64_t cols, int64_t n, const double *d)
{
    Mat m = zeros(rows, cols);
    for (int64_t i = 0; i < n; i++)
        AT(m, i, i) = d[i];
    return m;
}

static Mat part(Mat a, int64_t rows, int64_t cols, bool above)
{
    Mat m = zeros(rows, cols);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            if (above ? j >= i : j < i)
                AT(m, i, j) = AT(a, i, j);
    for (int64_t i = 0; !above && i < cols && i < rows; i++)
        AT(m, i, i) = 1;
    return m;
}

static void elimination(int64_t rows, int64_t cols, bool is_real)
{
    Mat a = any(rows, cols, is_real), lu = copy(a);
    int64_t k = rows < cols ? rows : cols, pivots[32];
    CHECK(lu_factor(lu, pivots) == 0);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < cols; j++) {
            Z x = AT(a, i, j);
            AT(a, i, j) = AT(a, pivots[i], j);
            AT(a, pivots[i], j) = x;
        }
    Mat lower = part(lu, rows, k, false), upper = part(lu, k, cols, true);
    CHECK(distance(times(lower, upper), a) < 1e-13);
    CHECK(mat_max(lower) < 1 + 1e-9 || !is_real); /* the largest was the pivot */
    Mat singular = zeros(2, 2);
    CHECK(lu_factor(singular, pivots) == 1);
}

static void positive(int64_t n, bool is_real)
{
    Mat b = any(n, n + 2, is_real), a = times(b, adjoint(b));
    for (int lower = 0; lower < 2; lower++) {
        Mat f = copy(a), room = any(n + 1, n, true);
        CHECK(dense_cholesky(C128, n, lower, a.at, f.at, room.at) == 0);
        Mat kept = lower ? adjoint(f) : f;
        Mat upper = part(kept, n, n, true);
        CHECK(distance(times(adjoint(upper), upper), a) < 1e-12);
    }
    AT(a, n - 1, n - 1) = -1;
    Mat f = copy(a), room = any(n + 1, n, true);
    CHECK(dense_cholesky(C128, n, true, a.at, f.at, room.at) == n);
}

static void reflections(int64_t rows, int64_t cols, bool is_real)
{
    Mat a = any(rows, cols, is_real), f = copy(a), q = zeros(rows, rows);
    int64_t k = rows < cols ? rows : cols, columns[32];
    Z taus[32];
    must(qr_factor(arena, f, taus, NULL));
    mat_identity(q);
    Reflected by = { f, k, 0, taus };
    must(reflected_apply(arena, &by, q, true, false));
    CHECK(is_unitary(q));
    CHECK(distance(times(q, part(f, rows, cols, true)), a) < 1e-13);
    Mat turned = copy(a);
    must(reflected_apply(arena, &by, turned, true, true)); /* Q^H A = R */
    CHECK(distance(turned, part(f, rows, cols, true)) < 1e-13);

    Mat p = copy(a);
    must(qr_factor(arena, p, taus, columns));
    mat_identity(q);
    must(reflected_apply(arena, &(Reflected){ p, k, 0, taus }, q, true, false));
    Mat product = times(q, part(p, rows, cols, true));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            CHECK(cabs(AT(product, i, j) - AT(a, i, columns[j])) < 1e-13);
    for (int64_t i = 1; i < k; i++)
        CHECK(cabs(AT(p, i, i)) <= cabs(AT(p, i - 1, i - 1)) + 1e-13);
}

static void hermitian(int64_t n, bool is_real)
{
    Mat b = any(n, n, is_real), a = zeros(n, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            AT(a, i, j) = AT(b, i, j) + conj(AT(b, j, i));
    Mat v = copy(a);
    double w[32];
    int info;
    must(hermitian_eigen(arena, v, w, &info));
    CHECK(info == 0 && is_unitary(v));
    CHECK(distance(times(times(v, diagonal(n, n, n, w)), adjoint(v)), a) < 1e-12);
    for (int64_t i = 1; i < n; i++)
        CHECK(w[i] >= w[i - 1]);
    AT(a, 0, 0) = NAN;
    must(hermitian_eigen(arena, a, w, &info));
    CHECK(info != 0);
}

static void singular(int64_t rows, int64_t cols, bool is_real, bool is_full, int64_t rank)
{
    int64_t k = rows < cols ? rows : cols;
    Mat a = rank < k ? times(any(rows, rank, is_real), any(rank, cols, is_real))
                     : any(rows, cols, is_real);
    Mat u = zeros(rows, is_full ? rows : k), vh = zeros(is_full ? cols : k, cols);
    double s[32];
    int info;
    must(singular_values(arena, copy(a), s, u, vh, &info));
    CHECK(info == 0 && is_unitary(u) && is_unitary(adjoint(vh)));
    CHECK(distance(times(times(u, diagonal(u.cols, vh.rows, k, s)), vh), a) < 1e-12);
    for (int64_t i = 0; i < k; i++)
        CHECK(s[i] >= 0 && (i == 0 || s[i] <= s[i - 1]) && (i < rank) == (s[i] > 1e-12));
}

static void schur(int64_t n, bool is_real)
{
    Mat a = any(n, n, is_real), t = copy(a), z = zeros(n, n);
    int info;
    mat_identity(z);
    must(schur_factor(arena, t, z, is_real, &info));
    CHECK(info == 0 && is_unitary(z));
    CHECK(distance(times(times(z, t), adjoint(z)), a) < 1e-12);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            CHECK(AT(t, i, j) == 0 || (is_real && j == i - 1 && AT(t, i, i) == AT(t, j, j) &&
                                       creal(AT(t, i, j)) * creal(AT(t, j, i)) < 0));
}

static void eigen(int64_t n, bool is_real)
{
    Mat a = any(n, n, is_real), left = zeros(n, n), right = zeros(n, n), wide = zeros(n, n);
    Z w[32];
    int info;
    must(general_eigen(arena, copy(a), is_real, w, left, right, &info));
    CHECK(info == 0);
    for (int64_t i = 0; i < n; i++)
        AT(wide, i, i) = w[i];
    CHECK(distance(times(a, right), times(right, wide)) < 1e-12);
    CHECK(distance(times(adjoint(left), a), times(wide, adjoint(left))) < 1e-12);
    for (int64_t i = 0; i < n && is_real; i++)
        if (cimag(w[i]) > 0)
            CHECK(w[i + 1] == conj(w[i]));
}

/* x^3 = 1 as a matrix: its eigenvalues are the roots. */
static void known_roots(void)
{
    Mat a = zeros(3, 3), left = zeros(3, 3), right = zeros(3, 3);
    AT(a, 0, 2) = AT(a, 1, 0) = AT(a, 2, 1) = 1;
    Z w[3];
    int info, found = 0;
    must(general_eigen(arena, a, true, w, left, right, &info));
    for (int i = 0; i < 3; i++)
        found += cabs(w[i] * w[i] * w[i] - 1) < 1e-14;
    CHECK(info == 0 && found == 3 && cabs(w[0] + w[1] + w[2]) < 1e-14);
}

static void diagonals(int64_t n)
{
    Mat below = any(1, n, false), d = any(1, n, false), above = any(1, n, false);
    Mat a = zeros(n, n), x = any(n, 2, false);
    for (int64_t i = 0; i < n; i++) {
        AT(a, i, i) = d.at[i];
        if (i > 0)
            AT(a, i, i - 1) = below.at[i];
        if (i + 1 < n)
            AT(a, i, i + 1) = above.at[i];
    }
    Mat b = times(a, x);
    int info;
    must(tridiagonal_solve(arena, below.at, d.at, above.at, b, 0, &info));
    CHECK(info == 0 && distance(b, x) < 1e-10);
}

/* Nothing but zeros: no solution, or a large one if asked for. */
static void no_diagonals(void)
{
    Mat none = zeros(1, 3), b = any(3, 1, true);
    int info;
    must(tridiagonal_solve(arena, none.at, none.at, none.at, copy(b), 0, &info));
    CHECK(info == 1);
    Mat d[] = { zeros(1, 3), zeros(1, 3), zeros(1, 3) };
    must(tridiagonal_solve(arena, d[0].at, d[1].at, d[2].at, b, 1e-7, &info));
    CHECK(info == 0 && mat_is_finite(b) && mat_max(b) > 1e5);
}

/* ---- by name ---- */

#define TENSOR(element, data, ...)                                                                 \
    ((Tensor){ { element, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),             \
                 (int64_t[]){ __VA_ARGS__ } },                                                     \
               data })

static const char *call(const char *target, int nin, const Tensor *in, int nout, Tensor *out)
{
    static Text text;
    CustomCallAttrs attrs = { .call_target_name = str_of(target) };
    Node n = {
        .op = OP_CUSTOM_CALL, .nin = nin, .nout = nout, .attrs = &attrs, .loc = &loc_unknown
    };
    bool is_lapack = lapack_knows(attrs.call_target_name, in->type.element);
    Error *error = is_lapack ? routine_lapack(NULL, &n, in, out) : NULL;
    text_free(&text);
    text_printf(&text, "%s", error ? error_text(error) : is_lapack ? "done" : "not of LAPACK");
    error_free(error);
    return text_cstr(&text);
}

static void by_name(void)
{
    float a[] = { 1, 2, 3, 4, 0, 1, 1, 0 }, lu[8];
    int32_t pivots[4], info[2] = { 9, 9 };
    Tensor in = TENSOR(F32, a, 2, 2, 2);
    Tensor out[] = { TENSOR(F32, lu, 2, 2, 2), TENSOR(I32, pivots, 2, 2), TENSOR(I32, info, 2) };
    CHECK_STR(call("lapack_sgetrf_ffi", 1, &in, 3, out), "done");
    CHECK(lu[0] == 3 && lu[1] == 4 && lu[2] == 1.f / 3 && lu[3] == (float)(2 - 4 / 3.));
    CHECK(lu[4] == 1 && lu[5] == 0 && lu[6] == 0 && lu[7] == 1);
    CHECK(pivots[0] == 2 && pivots[1] == 2 && pivots[2] == 2 && info[0] == 0 && info[1] == 0);
    CHECK_STR(call("lapack_sgetrf", 1, &in, 3, out), "not of LAPACK");
    CHECK_STR(call("lapack_xgetrf_ffi", 1, &in, 3, out), "not of LAPACK");
    CHECK_STR(call("lapack_sheevd_ffi", 1, &in, 3, out), "not of LAPACK");
    const char *wrong = "custom_call @lapack_sgetrf_ffi of f32[2,2,2], at unknown place: takes and "
                        "gives amn > amn ik i";
    CHECK_STR(call("lapack_sgetrf_ffi", 1, &in, 2, out), wrong);
    out[1] = TENSOR(I32, pivots, 2, 1);
    CHECK_STR(call("lapack_sgetrf_ffi", 1, &in, 3, out), wrong);
    out[1] = TENSOR(F32, pivots, 2, 2);
    CHECK_STR(call("lapack_sgetrf_ffi", 1, &in, 3, out), wrong);
}

int main(void)
{
    static const int64_t sizes[] = { 1, 2, 3, 5, 12, 25 };
    arena = arena_new();
    for (int is_real = 0; is_real < 2; is_real++)
        for (int i = 0; i < 6; i++) {
            int64_t n = sizes[i];
            positive(n, is_real);
            hermitian(n, is_real);
            schur(n, is_real);
            eigen(n, is_real);
            for (int64_t rows = n > 2 ? n - 2 : 1; rows <= n + 3; rows += 2) {
                int64_t k = rows < n ? rows : n;
                elimination(rows, n, is_real);
                reflections(rows, n, is_real);
                singular(rows, n, is_real, true, k);
                singular(rows, n, is_real, false, k);
                singular(rows, n, is_real, true, k > 1 ? k - 1 : k);
            }
        }
    diagonals(1);
    diagonals(17);
    no_diagonals();
    known_roots();
    by_name();
    arena_free(arena);
    return check_done();
}
