/* qr.c - QR factors by reflections, as the custom calls @Qr and
 * @ProductOfElementaryHouseholderReflectors hand them over.
 *
 *     H_k = I - tau_k v_k v_k*        v_k is 0 above k, 1 at k, and stands below the diagonal
 *     H_n* ... H_1* A = R             R stands on and above the diagonal
 *     Q = H_1 ... H_n
 *
 * Plain loops over complex doubles, rounded once at the end. */
#include "engine/eval/rules.h"

#include "base/guard.h"
#include "engine/custom_call.h"

#include <math.h>

/* Column k of a becomes beta and zeros by H_k*; in v its vector, in return tau. */
static Complex reflector(const Complex *a, int64_t rows, int64_t columns, int64_t k, Complex *v)
{
    Complex alpha = a[k * columns + k];
    double below = 0;
    for (int64_t i = 0; i < rows; i++)
        v[i] = i == k;
    for (int64_t i = k + 1; i < rows; i++)
        below = hypot(below, cabs(a[i * columns + k]));
    if (below == 0 && cimag(alpha) == 0)
        return 0;
    double beta = copysign(hypot(below, cabs(alpha)), creal(alpha) < 0 ? 1 : -1);
    for (int64_t i = k + 1; i < rows; i++)
        v[i] = a[i * columns + k] / (alpha - beta);
    return (beta - alpha) / beta;
}

/* a = (I - factor v v*) a */
static void reflect(Complex *a, int64_t rows, int64_t columns, const Complex *v, Complex factor)
{
    for (int64_t j = 0; j < columns; j++) {
        Complex sum = 0;
        for (int64_t i = 0; i < rows; i++)
            sum += conj(v[i]) * a[i * columns + j];
        for (int64_t i = 0; i < rows; i++)
            a[i * columns + j] -= factor * v[i] * sum;
    }
}

static void factor(Tensor in, int64_t matrix, int64_t rows, int64_t columns, Complex *a, Complex *v,
                   Tensor *out)
{
    int64_t n = rows < columns ? rows : columns, first = matrix * rows * columns;
    for (int64_t i = 0; i < rows * columns; i++)
        a[i] = number_at(in, first + i);
    for (int64_t k = 0; k < n; k++) {
        Complex tau = reflector(a, rows, columns, k, v);
        reflect(a, rows, columns, v, conj(tau));
        number_set(out[1], matrix * n + k, tau);
        for (int64_t i = k + 1; i < rows; i++)
            number_set(out[0], first + i * columns + k, v[i]);
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i; j < columns; j++)
            number_set(out[0], first + i * columns + j, a[i * columns + j]);
}

/* Room for so many numbers, or an error. */
static Error *room_new(const Node *n, int64_t count, Complex **out)
{
    *out = heap_try(((size_t)count + 1) * sizeof **out);
    return *out ? NULL
                : error_new(CODE_EXHAUSTED, "no memory for %lld numbers, at %s", (long long)count,
                            loc_name(n->loc));
}

Error *eval_qr(const Node *n, const Tensor *in, Tensor *out)
{
    TRY(custom_qr_fits(n, in, out));
    Type t = in->type;
    int64_t rows = t.dims[t.rank - 2], columns = t.dims[t.rank - 1], each = rows * columns;
    Complex *room;
    TRY(room_new(n, each + rows, &room));
    for (int64_t i = 0; each && i < type_count(t) / each; i++)
        factor(*in, i, rows, columns, room, room + each, out);
    heap_free(room);
    return NULL;
}

/* The first columns of H_1 ... H_n: each reflection applied to those behind it. */
static void multiply_out(const Tensor *in, int64_t matrix, int64_t rows, int64_t columns, int64_t n,
                         Complex *q, Complex *v, Tensor out)
{
    int64_t first = matrix * rows * columns;
    for (int64_t i = 0; i < rows * columns; i++)
        q[i] = i / columns == i % columns;
    for (int64_t k = n - 1; k >= 0; k--) {
        for (int64_t i = 0; i < rows; i++)
            v[i] = i < k ? 0 : i == k ? 1 : number_at(in[0], first + i * columns + k);
        reflect(q, rows, columns, v, number_at(in[1], matrix * n + k));
    }
    for (int64_t i = 0; i < rows * columns; i++)
        number_set(out, first + i, q[i]);
}

Error *eval_householder(const Node *n, const Tensor *in, Tensor *out)
{
    TRY(custom_householder_fits(n, in, out));
    Type t = in->type;
    int64_t rows = t.dims[t.rank - 2], columns = t.dims[t.rank - 1], each = rows * columns;
    int64_t factors = in[1].type.dims[in[1].type.rank - 1];
    Complex *room;
    TRY(room_new(n, each + rows, &room));
    for (int64_t i = 0; each && i < type_count(t) / each; i++)
        multiply_out(in, i, rows, columns, factors, room, room + each, *out);
    heap_free(room);
    return NULL;
}
