/* shape_linear.c - the shape rules of linear algebra, Fourier transforms and random bits: each
 * works on the last dimensions of its operand and leaves those before them as they are. */
#include "ops/shape_util.h"

#include <inttypes.h>
#include <string.h>

static bool is_smooth(Element e)
{
    return element_info[e].kind == FLOAT || element_info[e].kind == COMPLEX;
}

/* A batch of square matrices. */
static bool expect_square(Type a, Text *why)
{
    if (!is_smooth(a.element))
        return say(why, "%s: its elements must be floating-point or complex", type_name(a));
    if (a.rank < 2 || !extent_fits(a.dims[a.rank - 1], a.dims[a.rank - 2]))
        return say(why, "%s: its last two dimensions must be a square matrix", type_name(a));
    return true;
}

bool shape_cholesky(const ShapeQuery *q, Text *why)
{
    return expect_counts(q, 1, 1, why) && expect_square(q->in[0], why) &&
           expect_type(q, 0, q->in[0], why);
}

bool shape_triangular_solve(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 2, 1, why) || !expect_square(q->in[0], why))
        return false;
    const TriangularSolveAttrs *attrs = q->attrs;
    Type a = q->in[0], b = q->in[1];
    bool fits = b.element == a.element && b.rank == a.rank;
    for (int i = 0; fits && i < a.rank - 2; i++)
        fits = extent_fits(a.dims[i], b.dims[i]);
    int along = a.rank - (attrs->left_side ? 2 : 1);
    if (!fits || !extent_fits(b.dims[along], a.dims[along]))
        return say(why,
                   "%s by %s: the second must have %" PRId64 " %s, and all else before them "
                   "as the first",
                   type_name(a), type_name(b), a.dims[along],
                   attrs->left_side ? "rows" : "columns");
    enum { TRANSPOSE_INVALID };
    if (attrs->transpose_a == TRANSPOSE_INVALID)
        return say(why, "transpose_a is TRANSPOSE_INVALID");
    return expect_type(q, 0, b, why);
}

/* The parts and the whole of a transform that is real on one side. */
static Element complex_of(Element e)
{
    return e == F32 ? C64 : e == F64 ? C128 : e;
}

static bool expect_lengths(Type t, Ints length, bool is_half, Text *why)
{
    for (int i = 0; i < length.n; i++) {
        int64_t n = length.at[i], has = t.dims[t.rank - length.n + i];
        if (is_half && i == length.n - 1 && n > 0)
            n = n / 2 + 1;
        if (has != n)
            return say(why, "fft_length asks for %" PRId64 " along dimension %d of %s", n,
                       t.rank - length.n + i, type_name(t));
    }
    return true;
}

bool shape_fft(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    enum { FFT, IFFT, RFFT, IRFFT };
    const FftAttrs *a = q->attrs;
    Type x = q->in[0];
    Ints length = a->fft_length;
    bool is_real_in = a->fft_type == RFFT, is_real_out = a->fft_type == IRFFT;
    if (length.n < 1 || length.n > 3 || length.n > x.rank)
        return say(why,
                   "fft_length has %d entries for %s: 1 to 3 are possible, and no more than "
                   "dimensions",
                   length.n, type_name(x));
    ElementKind needed = is_real_in ? FLOAT : COMPLEX;
    if (element_info[x.element].kind != needed || element_info[x.element].bits < 32)
        return say(why, "%s: its elements must be %s", type_name(x),
                   is_real_in ? "f32 or f64" : "complex");
    if (!all_static(q))
        return true;
    for (int i = 0; i < length.n; i++)
        if (length.at[i] < 0)
            return say(why, "fft_length is negative");
    if (!expect_lengths(x, length, is_real_out, why))
        return false;
    int64_t dims[MAX_RANK];
    memcpy(dims, x.dims, sizeof *dims * (size_t)x.rank);
    int64_t n = length.at[length.n - 1];
    if (is_real_in)
        dims[x.rank - 1] = n ? n / 2 + 1 : 0;
    if (is_real_out)
        dims[x.rank - 1] = n;
    Element e = is_real_in    ? complex_of(x.element)
                : is_real_out ? element_part(x.element)
                              : x.element;
    return expect_result(q, 0, e, x.rank, dims, why);
}

bool shape_rng_bits(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 2, why))
        return false;
    enum { DEFAULT, THREE_FRY, PHILOX };
    int64_t algorithm = ((const RngBitsAttrs *)q->attrs)->rng_algorithm;
    Type state = q->in[0];
    if (!all_static(q))
        return true;
    int64_t words = state.rank == 1 && state.element == U64 ? state.dims[0] : 0;
    if (algorithm != DEFAULT && words != 2 && (algorithm != PHILOX || words != 3))
        return say(why, "state %s: it must be ui64[2]%s", type_name(state),
                   algorithm == PHILOX ? " or ui64[3]" : "");
    ElementKind kind = element_info[q->stated[1].element].kind;
    if (kind != SIGNED && kind != UNSIGNED && kind != FLOAT)
        return say(why, "bits as %s: its elements must be integers or floating-point",
                   type_name(q->stated[1]));
    return expect_type(q, 0, state, why);
}
