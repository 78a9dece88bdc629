/* print_conv.c - convolutions as StableHLO prints them.
 *
 *   (%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]} {...} : T */
#include "hlo/print.h"

#include <inttypes.h>

/* [b, 0, 1, f]: which letter or number stands at each position. */
static void print_conv_side(Printer *p, const char *letters, int64_t first, int64_t second,
                            Ints spatial)
{
    text_printf(p->out, "[");
    for (int i = 0; i < spatial.n + 2; i++) {
        text_printf(p->out, i ? ", " : "");
        if (i == first || i == second)
            text_printf(p->out, "%c", letters[i == second]);
        else
            text_printf(p->out, "%d", ints_find(spatial, i));
    }
    text_printf(p->out, "]");
}

static void print_window_list(Printer *p, const char **comma, const char *word, Ints list)
{
    if (!list.n)
        return;
    text_printf(p->out, "%s%s = ", *comma, word);
    print_list(p, list);
    *comma = ", ";
}

static void print_window(Printer *p, const ConvolutionAttrs *a)
{
    const char *comma = "";
    text_printf(p->out, ", window = {");
    print_window_list(p, &comma, "stride", a->window_strides);
    if (a->padding.rows && a->padding.cols == 2) {
        text_printf(p->out, "%spad = [", comma);
        for (int i = 0; i < a->padding.rows; i++)
            text_printf(p->out, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "", a->padding.at[2 * i],
                        a->padding.at[2 * i + 1]);
        text_printf(p->out, "]");
        comma = ", ";
    }
    print_window_list(p, &comma, "lhs_dilate", a->lhs_dilation);
    print_window_list(p, &comma, "rhs_dilate", a->rhs_dilation);
    if (a->window_reversal.n) {
        text_printf(p->out, "%sreverse = [", comma);
        for (int i = 0; i < a->window_reversal.n; i++)
            text_printf(p->out, "%s%s", i ? ", " : "", a->window_reversal.at[i] ? "true" : "false");
        text_printf(p->out, "]");
    }
    text_printf(p->out, "}");
}

void print_conv_numbers(Printer *p, const ConvolutionAttrs *a)
{
    print_conv_side(p, "bf", a->input_batch_dimension, a->input_feature_dimension,
                    a->input_spatial_dimensions);
    text_printf(p->out, "x");
    print_conv_side(p, "io", a->kernel_input_feature_dimension, a->kernel_output_feature_dimension,
                    a->kernel_spatial_dimensions);
    text_printf(p->out, "->");
    print_conv_side(p, "bf", a->output_batch_dimension, a->output_feature_dimension,
                    a->output_spatial_dimensions);
}

void print_convolution(Printer *p, const Node *node)
{
    const ConvolutionAttrs *a = node->attrs;
    text_printf(p->out, "(");
    print_values(p, node->nin, node->in);
    text_printf(p->out, ") dim_numbers = ");
    print_conv_numbers(p, a);
    print_window(p, a);
    Text own = { 0 };
    text_printf(&own,
                "batch_group_count = %" PRId64 " : i64, feature_group_count = %" PRId64 " : i64",
                a->batch_group_count, a->feature_group_count);
    if (precisions_said(a->precision_config)) {
        text_printf(&own, ", precision_config = ");
        precisions_print(&own, a->precision_config);
    }
    print_with_extra(p, node, &own);
    text_free(&own);
    text_printf(p->out, " : ");
    print_function_type(p, node);
}
