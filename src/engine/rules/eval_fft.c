/* eval_fft.c - Fourier transforms over the last one to three dimensions.
 *
 * One line at a time, in double: a line of even length is two transforms of half the length
 * (even and odd places) put together; a line of odd length is summed up as the definition says.
 *
 *     FFT, IFFT   every dimension in turn
 *     RFFT        real in; along the last dimension only n / 2 + 1 results are kept
 *     IRFFT       the other dimensions first; then the last, whose missing half is the
 *                 conjugate of the half that is there */
#include "engine/rules.h"
#include "engine/rules/eval_number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FFT, IFFT, RFFT, IRFFT };

/* to[k] = sum over j of from[j * step] * e^(sign * 2 pi i j k / n); room is n long. */
static void transform(const Complex *from, int64_t step, int64_t n, double sign, Complex *to,
                      Complex *room)
{
    if (n % 2 == 0 && n > 0) {
        int64_t half = n / 2;
        transform(from, 2 * step, half, sign, room, to);
        transform(from + step, 2 * step, half, sign, room + half, to + half);
        for (int64_t k = 0; k < half; k++) {
            Complex turned =
                room[half + k] * cexp(CMPLX(0, sign * 2 * M_PI * (double)k / (double)n));
            to[k] = room[k] + turned;
            to[half + k] = room[k] - turned;
        }
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        to[k] = 0;
        for (int64_t j = 0; j < n; j++) {
            double turn = (double)(j * k % n) / (double)n;
            to[k] += from[j * step] * cexp(CMPLX(0, sign * 2 * M_PI * turn));
        }
    }
}

/* An array of complex numbers, and room for two lines of it and the transform's own. */
typedef struct Work {
    int rank;
    int64_t dims[MAX_RANK];
    Complex *data, *line;
    int64_t longest;
} Work;

/* All lines along dimension d; inverse transforms are divided by their length. */
static void transform_lines(Work *w, int d, bool is_inverse)
{
    int64_t n = w->dims[d], after = 1, count = 1;
    Complex *from = w->line, *to = from + w->longest, *room = to + w->longest;
    for (int i = 0; i < w->rank; i++)
        count *= w->dims[i];
    for (int i = d + 1; i < w->rank; i++)
        after *= w->dims[i];
    for (int64_t line = 0; count && line < count / n; line++) {
        Complex *first = w->data + line / after * n * after + line % after;
        for (int64_t i = 0; i < n; i++)
            from[i] = first[i * after];
        transform(from, 1, n, is_inverse ? 1 : -1, to, room);
        for (int64_t i = 0; i < n; i++)
            first[i * after] = is_inverse ? to[i] / (double)n : to[i];
    }
}

/* The last dimension of a real result, from its first half. */
static void finish_real(Work *w, Tensor out)
{
    int64_t half = w->dims[w->rank - 1], n = out.type.dims[w->rank - 1];
    int64_t lines = n ? type_count(out.type) / n : 0;
    Complex *from = w->line, *to = from + w->longest, *room = to + w->longest;
    for (int64_t line = 0; line < lines; line++) {
        const Complex *first = w->data + line * half;
        for (int64_t k = 0; k < n; k++)
            from[k] = k < half ? first[k] : conj(first[n - k]);
        transform(from, 1, n, 1, to, room);
        for (int64_t k = 0; k < n; k++)
            float_set(out, line * n + k, creal(to[k]) / (double)n);
    }
}

/* Results; of an RFFT the first half of every line. */
static void store(const Work *w, Tensor out)
{
    int64_t n = w->dims[w->rank - 1], kept = out.type.dims[w->rank - 1];
    int64_t count = type_count(out.type);
    for (int64_t i = 0; i < count; i++)
        complex_set(out, i, w->data[i / kept * n + i % kept]);
}

static bool types_fit(const FftAttrs *a, Type in, Type out)
{
    Ints lengths = a->fft_length;
    bool is_real_in = a->fft_type == RFFT, is_real_out = a->fft_type == IRFFT;
    if (lengths.n < 1 || lengths.n > 3 || lengths.n > in.rank || in.rank != out.rank ||
        (element_carrier(in.element) == CARRY_FLOAT) != is_real_in ||
        (element_carrier(out.element) == CARRY_FLOAT) != is_real_out ||
        element_carrier(in.element) == CARRY_INT || element_carrier(out.element) == CARRY_INT)
        return false;
    for (int i = 0; i < in.rank; i++) {
        int k = i - (in.rank - lengths.n);
        int64_t n = k < 0 ? in.dims[i] : lengths.at[k];
        int64_t half = i == in.rank - 1 ? n / 2 + 1 : n;
        if (in.dims[i] != (is_real_out ? half : n) || out.dims[i] != (is_real_in ? half : n))
            return false;
    }
    return true;
}

static Error *work_new(Tensor in, Tensor out, Work *w)
{
    int64_t count = type_count(in.type);
    *w = (Work){ .rank = in.type.rank };
    memcpy(w->dims, in.type.dims, sizeof *w->dims * (size_t)w->rank);
    for (int i = 0; i < w->rank; i++) {
        int64_t longer = w->dims[i] > out.type.dims[i] ? w->dims[i] : out.type.dims[i];
        w->longest = w->longest > longer ? w->longest : longer;
    }
    w->data = calloc((size_t)(count + 1), sizeof *w->data);
    w->line = calloc((size_t)(3 * w->longest + 1), sizeof *w->line);
    if (!w->data || !w->line)
        return error_new(CODE_EXHAUSTED, "fft of %s: no memory", type_name(in.type));
    for (int64_t i = 0; i < count; i++)
        w->data[i] =
            element_carrier(in.type.element) == CARRY_FLOAT ? float_at(in, i) : complex_at(in, i);
    return NULL;
}

Error *eval_fft(__attribute__((unused)) const Module *m, const Node *n, const Tensor *in,
                Tensor *out)
{
    const FftAttrs *a = n->attrs;
    if (!types_fit(a, in->type, out->type))
        return error_new(CODE_INVALID, "fft of %s to %s, at %s: the types do not fit its lengths",
                         type_name(in->type), type_name(out->type), loc_name(n->loc));
    Work w;
    Error *error = work_new(*in, *out, &w);
    if (!error) {
        int last = w.rank - 1, first = w.rank - a->fft_length.n;
        bool is_inverse = a->fft_type == IFFT || a->fft_type == IRFFT;
        for (int d = first; d < last; d++)
            transform_lines(&w, d, is_inverse);
        if (a->fft_type == IRFFT) {
            finish_real(&w, *out);
        } else {
            transform_lines(&w, last, is_inverse);
            store(&w, *out);
        }
    }
    free(w.data);
    free(w.line);
    return error;
}
