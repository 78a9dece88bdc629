/* op_cost.c - what one element of an operation costs.
 *
 * Measured on a Zen 4 core with arrays of 1 MB, rounded; only ratios matter. */
#include "engine/analysis/analysis.h"

#include "ops/op.h"

static const float nanoseconds[OP_COUNT] = {
    [OP_DIV] = 0.2f,       [OP_SQRT] = 0.2f,     [OP_RSQRT] = 0.3f,   [OP_EXP] = 0.4f,
    [OP_LOG] = 0.4f,       [OP_LOGISTIC] = 0.4f, [OP_ERF] = 0.4f,     [OP_TANH] = 0.5f,
    [OP_COSH] = 0.6f,      [OP_LOG1P] = 0.7f,    [OP_EXPM1] = 0.8f,   [OP_ERFC] = 1,
    [OP_SIN] = 1,          [OP_COS] = 1,         [OP_TAN] = 1,        [OP_CHLO_TAN] = 1,
    [OP_CBRT] = 0.8f,      [OP_REM] = 0.8f,      [OP_ATAN] = 1.5f,    [OP_ATAN2] = 1.5f,
    [OP_BESSEL_I1E] = 1.5f, [OP_ERF_INV] = 1.5f, [OP_ASINH] = 1.5f,   [OP_ACOSH] = 1.5f,
    [OP_ATANH] = 1.5f,     [OP_ASIN] = 2,        [OP_ACOS] = 2,       [OP_SINH] = 2,
    [OP_POW] = 3,          [OP_DIGAMMA] = 4,     [OP_LGAMMA] = 4,     [OP_GATHER] = 0.7f,
    [OP_TRANSPOSE] = 0.7f,
};

double element_nanoseconds(OpId op)
{
    if (nanoseconds[op] > 0)
        return (double)nanoseconds[op];
    return op_info[op].kind == KIND_MAP ? 0.04 : 0.02;
}

bool is_costly(OpId op)
{
    return op_info[op].kind == KIND_MAP && element_nanoseconds(op) >= 0.15;
}

bool is_transcendental(OpId op)
{
    return is_costly(op) && op != OP_DIV && op != OP_REM;
}
