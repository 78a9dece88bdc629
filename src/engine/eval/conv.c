/* conv.c - convolution with every option the operation has.
 *
 * Along one spatial dimension, kernel position k of result position i meets
 *
 *     at = i * stride + k * rhs_dilation - padding     in the dilated input;
 *     at / lhs_dilation                                in the input, if that divides and is inside.
 *
 * Features: the result's feature f belongs to group f / (features / feature_group_count), whose
 * input features it sums over.  Batch groups cut the input's batch instead: the result's feature
 * f reads batches of group f / (features / batch_group_count). */
#include "engine/eval/rules.h"
#include "engine/tensor.h"

typedef struct Convolution {
    const ConvolutionAttrs *a;
    Tensor input, kernel;
    Type result;
    int64_t input_strides[MAX_RANK], kernel_strides[MAX_RANK];
    int nspatial;
    int64_t window[MAX_RANK]; /* kernel extents along spatial dimensions */
    int64_t positions;        /* their product */
    int64_t features;         /* of the input that one element sums over */
} Convolution;

/* Where in input and kernel position `inside` looks for the result at `index`, apart from
 * features; false: padding. */
static bool look(const Convolution *c, const int64_t *index, const int64_t *inside, int64_t *input,
                 int64_t *kernel)
{
    const ConvolutionAttrs *a = c->a;
    for (int i = 0; i < c->nspatial; i++) {
        int64_t d = a->input_spatial_dimensions.at[i], k = a->kernel_spatial_dimensions.at[i];
        int64_t at = index[a->output_spatial_dimensions.at[i]] * ints_or(a->window_strides, i, 1) +
                     inside[i] * ints_or(a->rhs_dilation, i, 1) -
                     (i < a->padding.rows ? a->padding.at[2 * i] : 0);
        int64_t apart = ints_or(a->lhs_dilation, i, 1);
        if (at < 0 || at % apart != 0 || at / apart >= c->input.type.dims[d])
            return false;
        bool is_reversed = ints_or(a->window_reversal, i, 0) != 0;
        *input += at / apart * c->input_strides[d];
        *kernel += (is_reversed ? c->window[i] - 1 - inside[i] : inside[i]) * c->kernel_strides[k];
    }
    return true;
}

/* The first input and kernel elements that the result at `index` reads, apart from space. */
static void begin(const Convolution *c, const int64_t *index, int64_t *input, int64_t *kernel)
{
    const ConvolutionAttrs *a = c->a;
    int64_t feature = index[a->output_feature_dimension], batch = index[a->output_batch_dimension];
    int64_t nfeatures = c->result.dims[a->output_feature_dimension];
    int64_t group = feature / (nfeatures / a->feature_group_count);
    int64_t batch_group = feature / (nfeatures / a->batch_group_count);
    int64_t batches = c->result.dims[a->output_batch_dimension];
    *input = (batch_group * batches + batch) * c->input_strides[a->input_batch_dimension] +
             group * c->features * c->input_strides[a->input_feature_dimension];
    *kernel = feature * c->kernel_strides[a->kernel_output_feature_dimension];
}

/* The sum of one element, in the carrier of the result. */
typedef struct Sum {
    uint64_t whole;
    double real;
    Complex complex;
} Sum;

static double as_double(Tensor t, int64_t i)
{
    if (element_carrier(t.type.element) == CARRY_FLOAT)
        return float_at(t, i);
    return int_to_double(int_at(t, i), element_info[t.type.element].kind != SIGNED);
}

/* In the result's numbers: integers that give floats are floats before they are multiplied. */
static void add_product(const Convolution *c, int64_t p, int64_t q, Sum *sum)
{
    Element e = c->result.element;
    int64_t terms = c->positions * c->features;
    switch (element_carrier(e)) {
    case CARRY_INT:
        sum->whole += (uint64_t)int_at(c->input, p) * (uint64_t)int_at(c->kernel, q);
        break;
    case CARRY_FLOAT:
        sum->real = sum_float(e, terms, sum->real, as_double(c->input, p), as_double(c->kernel, q));
        break;
    default:
        sum->complex =
            sum_complex(e, terms, sum->complex, complex_at(c->input, p), complex_at(c->kernel, q));
    }
}

static Sum element(const Convolution *c, const int64_t *index)
{
    Sum sum = { 0 };
    int64_t first_input, first_kernel, inside[MAX_RANK] = { 0 };
    begin(c, index, &first_input, &first_kernel);
    for (int64_t i = 0; i < c->positions; i++) {
        int64_t p = first_input, q = first_kernel;
        bool is_inside = look(c, index, inside, &p, &q);
        for (int64_t f = 0; is_inside && f < c->features; f++)
            add_product(c, p + f * c->input_strides[c->a->input_feature_dimension],
                        q + f * c->kernel_strides[c->a->kernel_input_feature_dimension], &sum);
        index_next(c->nspatial, c->window, inside);
    }
    return sum;
}

static void store(Sum sum, Tensor out, int64_t i)
{
    switch (element_carrier(out.type.element)) {
    case CARRY_INT:
        int_set(out, i, (int64_t)(out.type.element == I1 ? sum.whole != 0 : sum.whole));
        break;
    case CARRY_FLOAT: float_set(out, i, sum.real); break;
    default: complex_set(out, i, sum.complex);
    }
}

/* 0..rank-1, each once. */
static bool is_permutation(int64_t first, int64_t second, Ints rest, int rank)
{
    uint64_t seen = 0;
    for (int i = 0; i < rest.n + 2; i++) {
        int64_t d = i == 0 ? first : i == 1 ? second : rest.at[i - 2];
        if (d < 0 || d >= rank || seen >> d & 1)
            return false;
        seen |= UINT64_C(1) << d;
    }
    return rest.n + 2 == rank;
}

static bool dimensions_fit(const ConvolutionAttrs *a, Type input, Type kernel, Type result)
{
    return input.rank == kernel.rank && input.rank == result.rank &&
           is_permutation(a->input_batch_dimension, a->input_feature_dimension,
                          a->input_spatial_dimensions, input.rank) &&
           is_permutation(a->kernel_input_feature_dimension, a->kernel_output_feature_dimension,
                          a->kernel_spatial_dimensions, input.rank) &&
           is_permutation(a->output_batch_dimension, a->output_feature_dimension,
                          a->output_spatial_dimensions, input.rank);
}

static bool groups_fit(const ConvolutionAttrs *a, Type input, Type kernel, Type result)
{
    int64_t features = result.dims[a->output_feature_dimension];
    int64_t batches = result.dims[a->output_batch_dimension];
    int64_t groups = a->feature_group_count, batch_groups = a->batch_group_count;
    return groups > 0 && batch_groups > 0 && features % groups == 0 &&
           features % batch_groups == 0 &&
           features == kernel.dims[a->kernel_output_feature_dimension] &&
           input.dims[a->input_batch_dimension] == batches * batch_groups &&
           input.dims[a->input_feature_dimension] ==
               kernel.dims[a->kernel_input_feature_dimension] * groups;
}

/* Every element that a convolution reads must be there: the numbers come from a file. */
static Error *check(const Node *n, Type input, Type kernel, Type result)
{
    const ConvolutionAttrs *a = n->attrs;
    bool is_right =
        dimensions_fit(a, input, kernel, result) && groups_fit(a, input, kernel, result);
    for (int i = 0; is_right && i < input.rank - 2; i++)
        is_right = ints_or(a->lhs_dilation, i, 1) > 0 && ints_or(a->rhs_dilation, i, 1) > 0;
    if (is_right)
        return NULL;
    return error_new(CODE_INVALID,
                     "convolution of %s by %s to %s, at %s: its dimension numbers, groups or "
                     "dilations do not fit these types",
                     type_name(input), type_name(kernel), type_name(result), loc_name(n->loc));
}

Error *eval_convolution(__attribute__((unused)) const Module *m, const Node *n, const Tensor *in,
                        Tensor *out)
{
    const ConvolutionAttrs *a = n->attrs;
    Convolution c = { .a = a, .input = in[0], .kernel = in[1], .result = out->type };
    Carrier from = element_carrier(in[0].type.element), to = element_carrier(out->type.element);
    if (from == CARRY_NOTHING || from != element_carrier(in[1].type.element) ||
        (from != to && (from != CARRY_INT || to != CARRY_FLOAT)))
        return eval_refuse(n, from != to ? out->type : in[0].type);
    TRY(check(n, in[0].type, in[1].type, out->type));
    type_strides(in[0].type, c.input_strides);
    type_strides(in[1].type, c.kernel_strides);
    c.nspatial = a->input_spatial_dimensions.n;
    c.positions = 1;
    for (int i = 0; i < c.nspatial; i++)
        c.positions *= c.window[i] = in[1].type.dims[a->kernel_spatial_dimensions.at[i]];
    c.features = in[1].type.dims[a->kernel_input_feature_dimension];
    int64_t index[MAX_RANK] = { 0 }, count = type_count(out->type);
    for (int64_t i = 0; i < count; i++) {
        store(element(&c, index), *out, i);
        index_next(out->type.rank, out->type.dims, index);
    }
    return NULL;
}
