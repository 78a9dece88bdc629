/* factors.c - factors of matrices, and what is found by them: systems of equations, inverses,
 * determinants, eigenvalues, singular values.
 *
 * The factors are operations that the front records (ops.def, the last rows), with derivatives in
 * transform/rules/factors.c; what a platform has for them is lower/factors.c's matter. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <math.h>
#include <string.h>

static const tt_dims last_axis = { 1, { -1 } };

/* Is it a matrix of f32 or f64, or several, square if that is asked?  False: reported. */
static bool take_matrix(const char *who, const tt *in, bool is_square, tt *a)
{
    Shape s;
    if (!as_floats(who, 1, in, a) || !shapes_of(who, 1, a, &s))
        return false;
    Element e = element_canonical(s.element, s.is_weak);
    bool fits = s.rank >= 2 && (e == F32 || e == F64);
    if (fits)
        fits = s.dims[s.rank - 1] && s.dims[s.rank - 2] &&
               (!is_square || s.dims[s.rank - 1] == s.dims[s.rank - 2]);
    if (!fits)
        return report_broken("%s: %s is no %smatrix of f32 or f64 with elements", who,
                             shape_text(&s), is_square ? "square " : ""),
               false;
    *a = as_weak(as_element(*a, e), false);
    return true;
}

/* The type of a, but with other last axes; columns 0: a vector. */
static Type shaped(tt a, Element e, int64_t rows, int64_t columns)
{
    Type t = type_at(a);
    int64_t dims[TT_MAX_RANK];
    memcpy(dims, t.dims, sizeof *dims * (size_t)t.rank);
    dims[t.rank - 2] = rows;
    dims[t.rank - 1] = columns;
    return type_new(trace_arena(), e, columns ? t.rank : t.rank - 1, dims);
}

static int64_t extent(tt x, int from_end)
{
    Type t = type_at(x);
    return t.dims[t.rank - from_end];
}

static int64_t least_extent(tt a)
{
    return extent(a, 1) < extent(a, 2) ? extent(a, 1) : extent(a, 2);
}

static tt turned(tt x)
{
    return tt_swap_axes(x, -1, -2);
}

static tt eye_of(tt like, int64_t n)
{
    return tt_eye(tt_type(like), n);
}

/* ---- the factors ---- */

/* Both factors in one matrix, and where rows come from. */
static bool record_lu(const char *who, tt a, tt *out)
{
    Type t = type_at(a), types[] = { t, shaped(a, I32, extent(a, 2), 0) };
    return trace_apply(who, OP_LU, 1, &a, NULL, 2, types, out);
}

static void lu_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt a, f[2];
    if (!take_matrix(c->who, in, false, &a) || !record_lu(c->who, a, f))
        return;
    int64_t m = extent(a, 2), k = least_extent(a);
    tt ones = tt_slice(eye_of(a, m), 1, 0, k);
    out[0] = f[1];
    out[1] = tt_add(tt_tril(tt_slice(f[0], -1, 0, k), -1), ones);
    out[2] = tt_triu(tt_slice(f[0], -2, 0, k), 0);
}

tt_lu_factors tt_lu(tt a)
{
    PUBLIC;
    Numbers c = numbers_of("tt_lu", NULL);
    tt out[3];
    call_eager(c.who, lu_body, &c, sizeof c, 1, &a, 3, out);
    return (tt_lu_factors){ out[0], out[1], out[2] };
}

static void qr_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt a;
    if (!take_matrix(c->who, in, false, &a))
        return;
    if (extent(a, 2) < extent(a, 1)) { /* the rest of R follows from Q */
        tt q[2], square = tt_slice(a, -1, 0, extent(a, 2));
        qr_body(&square, q, config);
        out[0] = q[0];
        out[1] = tt_matmul(turned(q[0]), a);
        return;
    }
    int64_t k = least_extent(a);
    Type t = type_at(a),
         types[] = { shaped(a, t.element, extent(a, 2), k), shaped(a, t.element, k, extent(a, 1)) };
    trace_apply(c->who, OP_QR, 1, &a, NULL, 2, types, out);
}

tt_qr_factors tt_qr(tt a)
{
    PUBLIC;
    Numbers c = numbers_of("tt_qr", NULL);
    tt out[2];
    call_eager(c.who, qr_body, &c, sizeof c, 1, &a, 2, out);
    return (tt_qr_factors){ out[0], out[1] };
}

/* Of the mean of the matrix and its transpose, as JAX does. */
static void eigh_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt a;
    if (!take_matrix(c->who, in, true, &a))
        return;
    a = tt_mul(tt_scalar(0.5), tt_add(a, turned(a)));
    Type t = type_at(a), types[] = { shaped(a, t.element, extent(a, 1), 0), t };
    trace_apply(c->who, OP_EIGH, 1, &a, NULL, 2, types, out);
}

tt_eigen tt_eigh(tt a)
{
    PUBLIC;
    Numbers c = numbers_of("tt_eigh", NULL);
    tt out[2];
    call_eager(c.who, eigh_body, &c, sizeof c, 1, &a, 2, out);
    return (tt_eigen){ out[0], out[1] };
}

static void svd_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt a;
    if (!take_matrix(c->who, in, false, &a))
        return;
    int64_t k = least_extent(a);
    Element e = type_at(a).element;
    Type types[] = { shaped(a, e, extent(a, 2), k), shaped(a, e, k, 0),
                     shaped(a, e, k, extent(a, 1)) };
    trace_apply(c->who, OP_SVD, 1, &a, NULL, 3, types, out);
}

tt_singular tt_svd(tt a)
{
    PUBLIC;
    Numbers c = numbers_of("tt_svd", NULL);
    tt out[3];
    call_eager(c.who, svd_body, &c, sizeof c, 1, &a, 3, out);
    return (tt_singular){ out[0], out[1], out[2] };
}

static void pinv_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt a;
    if (take_matrix(c->who, in, false, &a))
        *out = build_op(OP_PINV, 1, &a, NULL,
                        shaped(a, type_at(a).element, extent(a, 1), extent(a, 2)));
}

tt tt_pinv(tt a)
{
    PUBLIC;
    return EAGER_BY("tt_pinv", pinv_body, NULL, a);
}

/* ---- systems of equations ---- */

/* a x = b: with P a = L U it is L U x = P b. */
static void solve_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt a, b, f[2];
    Shape s;
    if (!take_matrix(c->who, in, true, &a) || !as_floats(c->who, 1, &in[1], &b) ||
        !shapes_of(c->who, 1, &b, &s))
        return;
    bool is_vector = s.rank == 1;
    int64_t rows = s.rank ? s.dims[is_vector ? 0 : s.rank - 2] : 0;
    if (rows != extent(a, 1)) {
        report_broken("%s: %s by %s: there is a row for each of the matrix", c->who,
                      type_text(type_at(a)), shape_text(&s));
        return;
    }
    if (!record_lu(c->who, a, f))
        return;
    if (is_vector)
        b = tt_expand(b, &last_axis);
    tt order = tt_expand(f[1], &last_axis);
    for (int more = type_at(b).rank - type_at(order).rank; more > 0; more--)
        order = tt_expand(order, DIMS(0));
    for (int more = type_at(order).rank - type_at(b).rank; more > 0; more--)
        b = tt_expand(b, DIMS(0));
    b = tt_take_along(b, order, -2);
    static const tt_triangle_options lower = { .size = sizeof lower, .unit = true },
                                     upper = { .size = sizeof upper, .upper = true };
    tt x = tt_solve_triangular_with(f[0], tt_solve_triangular_with(f[0], b, &lower), &upper);
    *out = is_vector ? tt_squeeze(x, &last_axis) : x;
}

tt tt_solve(tt a, tt b)
{
    PUBLIC;
    return EAGER_BY("tt_solve", solve_body, NULL, a, b);
}

static void inv_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt pair[2];
    if (!take_matrix(c->who, in, true, &pair[0]))
        return;
    pair[1] = eye_of(pair[0], extent(pair[0], 1));
    solve_body(pair, out, config);
}

tt tt_inv(tt a)
{
    PUBLIC;
    return EAGER_BY("tt_inv", inv_body, NULL, a);
}

static void lstsq_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    *out = tt_matmul(tt_pinv(in[0]), in[1]);
}

tt tt_lstsq(tt a, tt b)
{
    PUBLIC;
    return EAGER_BY("tt_lstsq", lstsq_body, NULL, a, b);
}

/* ---- determinants ---- */

/* 1 or -1: whether an order is reached by an even number of exchanges, by counting pairs that stand
 * the wrong way round. */
static tt parity(tt order, tt like)
{
    tt before = tt_expand(order, &last_axis), after = tt_expand(order, DIMS(-2));
    tt wrong = tt_triu(tt_astype(tt_greater(before, after), TT_I32), 1);
    tt count = tt_sum(wrong, DIMS(-1, -2));
    tt odd = tt_astype(tt_and(count, tt_integer(1)), tt_type(like));
    return tt_sub(tt_scalar(1), tt_mul(tt_scalar(2), odd));
}

/* The determinant of the first n rows and the columns that `columns` lists, along row `row`. */
static tt cofactors(tt a, int64_t n, int64_t row, const int64_t *columns)
{
    tt sum = NO_VALUE;
    for (int64_t i = 0; i < n; i++) {
        tt_part at[] = { { .kind = TT_PART_REST },
                         { .kind = TT_PART_AT, .start = row },
                         { .kind = TT_PART_AT, .start = columns[i] } };
        tt x = tt_get_n(a, at, 3);
        int64_t rest[3], k = 0;
        for (int64_t j = 0; j < n; j++)
            if (j != i)
                rest[k++] = columns[j];
        if (n > 1)
            x = tt_mul(x, cofactors(a, n - 1, row + 1, rest));
        sum = !is_value(sum) ? x : i % 2 ? tt_sub(sum, x) : tt_add(sum, x);
    }
    return sum;
}

/* Small ones are sums of products, which have a slope where the determinant is zero, too. */
static void det_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt a, f[2];
    if (!take_matrix(c->who, in, true, &a))
        return;
    int64_t n = extent(a, 1);
    if (n <= 3)
        *out = cofactors(a, n, 0, (const int64_t[]){ 0, 1, 2 });
    else if (record_lu(c->who, a, f))
        *out = tt_mul(parity(f[1], a), tt_prod(tt_diag(f[0]), &last_axis));
}

tt tt_det(tt a)
{
    PUBLIC;
    return EAGER_BY("tt_det", det_body, NULL, a);
}

static void slogdet_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt a, f[2];
    if (!take_matrix(c->who, in, true, &a) || !record_lu(c->who, a, f))
        return;
    tt diagonal = tt_diag(f[0]);
    out[0] = tt_mul(parity(f[1], a), tt_prod(tt_sign(diagonal), &last_axis));
    out[1] = tt_sum(tt_log(tt_abs(diagonal)), &last_axis);
}

tt_log_det tt_slogdet(tt a)
{
    PUBLIC;
    Numbers c = numbers_of("tt_slogdet", NULL);
    tt out[2];
    call_eager(c.who, slogdet_body, &c, sizeof c, 1, &a, 2, out);
    return (tt_log_det){ out[0], out[1] };
}

/* ---- powers ---- */

static void matrix_power_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt a, product = NO_VALUE;
    if (!take_matrix(c->who, in, true, &a))
        return;
    uint64_t n = c->v[0] < 0 ? -(uint64_t)c->v[0] : (uint64_t)c->v[0];
    tt x = c->v[0] < 0 ? tt_inv(a) : a;
    for (; n; n >>= 1) {
        if (n & 1)
            product = is_value(product) ? tt_matmul(product, x) : x;
        if (n > 1)
            x = tt_matmul(x, x);
    }
    *out = is_value(product) ? product : tt_add(tt_mul(a, tt_scalar(0)), eye_of(a, extent(a, 1)));
}

tt tt_matrix_power(tt a, int64_t n)
{
    PUBLIC;
    return EAGER_BY("tt_matrix_power", matrix_power_body, DIMS(n), a);
}

/* x^6 (b8 x^2 + b10 x^4 + b12 x^6) + b6 x^6 + b4 x^4 + b2 x^2 + b0 */
static tt pade_part(const double *b, tt x2, tt x4, tt x6, tt one)
{
    tt powers[] = { x2, x4, x6 }, low = tt_mul(tt_scalar(b[0]), one), high = NO_VALUE;
    for (int i = 0; i < 3; i++) {
        tt far = tt_mul(tt_scalar(b[8 + 2 * i]), powers[i]);
        low = tt_add(low, tt_mul(tt_scalar(b[2 + 2 * i]), powers[i]));
        high = is_value(high) ? tt_add(high, far) : far;
    }
    return tt_add(tt_matmul(x6, high), low);
}

/* e^A by Pade's fraction of degree 13 of A / 2^s, squared s times, s such that the fraction is exact
 * to the last digits (Higham, 2005). */
static void expm_body(const tt *in, tt *out, const void *config)
{
    static const double b[] = { 64764752532480000,
                                32382376266240000,
                                7771770303897600,
                                1187353796428800,
                                129060195264000,
                                10559470521600,
                                670442572800,
                                33522128640,
                                1323241920,
                                40840800,
                                960960,
                                16380,
                                182,
                                1 };
    enum { MOST_SQUARINGS = 16 };
    const double reach = 5.371920351148152;
    const Numbers *c = config;
    tt a;
    if (!take_matrix(c->who, in, true, &a))
        return;
    tt norm = tt_amax(tt_sum(tt_abs(a), DIMS(-2)), &last_axis);
    tt steps = tt_ceil(tt_log2(tt_div(tt_stop_gradient(norm), tt_scalar(reach))));
    steps = tt_clip(steps, tt_scalar(0), tt_scalar(MOST_SQUARINGS));
    for (int i = 0; i < 2; i++)
        steps = tt_expand(steps, &last_axis);
    tt x = tt_mul(a, tt_exp2(tt_neg(steps))), one = eye_of(a, extent(a, 1));
    tt x2 = tt_matmul(x, x), x4 = tt_matmul(x2, x2), x6 = tt_matmul(x2, x4);
    tt odd = tt_matmul(x, pade_part(b + 1, x2, x4, x6, one)), even = pade_part(b, x2, x4, x6, one);
    tt y = tt_solve(tt_sub(even, odd), tt_add(even, odd));
    for (int i = 0; i < MOST_SQUARINGS; i++)
        y = tt_where(tt_greater(steps, tt_integer(i)), tt_matmul(y, y), y);
    *out = y;
}

tt tt_expm(tt a)
{
    PUBLIC;
    return EAGER_BY("tt_expm", expm_body, NULL, a);
}
