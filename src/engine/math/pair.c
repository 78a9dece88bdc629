/* pair.c - numbers of twice the digits: a float, and what is too small for it.
 *
 * In: floats in registers.  Out: their sums, products and quotients as pairs, the rounding error of
 * every product caught by an fma and of every sum by differences. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

static V minus(Kernel *k, V x)
{
    return LLVMBuildFNeg(k->b, x, "");
}

Pair pair_of_sum(Kernel *k, V x, V y)
{
    V high = LLVMBuildFAdd(k->b, x, y, "");
    return (Pair){ high, LLVMBuildFAdd(k->b, LLVMBuildFSub(k->b, x, high, ""), y, "") };
}

Pair pair_of_any_sum(Kernel *k, V x, V y)
{
    V high = LLVMBuildFAdd(k->b, x, y, ""), of_y = LLVMBuildFSub(k->b, high, x, "");
    V rest_x = LLVMBuildFSub(k->b, x, LLVMBuildFSub(k->b, high, of_y, ""), "");
    V rest_y = LLVMBuildFSub(k->b, y, of_y, "");
    return (Pair){ high, LLVMBuildFAdd(k->b, rest_x, rest_y, "") };
}

Pair pair_of_product(Kernel *k, V x, V y)
{
    V high = LLVMBuildFMul(k->b, x, y, "");
    return (Pair){ high, float_fma(k, x, y, minus(k, high)) };
}

Pair pair_sum(Kernel *k, V x, Pair y)
{
    Pair sum = pair_of_sum(k, x, y.high);
    return (Pair){ sum.high, LLVMBuildFAdd(k->b, sum.low, y.low, "") };
}

Pair pair_times(Kernel *k, Pair x, Pair y)
{
    Pair product = pair_of_product(k, x.high, y.high);
    V low = float_fma(k, x.high, y.low, product.low);
    return (Pair){ product.high, float_fma(k, x.low, y.high, low) };
}

Pair pair_over(Kernel *k, Pair x, Pair y)
{
    V inverse = float_div(k, const_f(k, LLVMTypeOf(x.high), 1), y.high);
    V high = LLVMBuildFMul(k->b, x.high, inverse, ""), less = minus(k, high);
    V rest = float_fma(k, less, y.high, x.high);
    if (x.low)
        rest = LLVMBuildFAdd(k->b, rest, x.low, "");
    rest = float_fma(k, less, y.low, rest);
    return (Pair){ high, LLVMBuildFMul(k->b, rest, inverse, "") };
}
