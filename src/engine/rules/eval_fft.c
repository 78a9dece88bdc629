/* eval_fft.c - Fourier transforms over the last one to three dimensions.
 *
 * The transform itself is the runtime's (run/fft.c), since users compare the last bits of it and
 * those depend on the order of its additions; tests/unit/fft_test.c holds it to the definition.
 * Here its types are proven. */
#include "engine/rules.h"
#include "engine/rules/eval_number.h"
#include "engine/run/fft.h"

enum { FFT, IFFT, RFFT, IRFFT };

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

Error *eval_fft(__attribute__((unused)) const Module *m, const Node *n, const Tensor *in,
                Tensor *out)
{
    const FftAttrs *a = n->attrs;
    Element e = element_part(in->type.element);
    if (!types_fit(a, in->type, out->type) || (e != F32 && e != F64))
        return error_new(CODE_INVALID, "fft of %s to %s, at %s: the types do not fit its lengths",
                         type_name(in->type), type_name(out->type), loc_name(n->loc));
    fft_transform(in->type, out->type, a->fft_type, a->fft_length.n, in->data, out->data);
    return NULL;
}
