/* print_props.c - the attributes of the generic form, as StableHLO names and groups them.
 *
 * What attrs.def holds flat (offset_dims, channel_id) is grouped again here:
 *
 *   dimension_numbers = #stablehlo.gather<offset_dims = [1], ...>, slice_sizes = array<i64: 4>
 *
 * Values that are the default are left out, as MLIR does. */
#include "hlo/print.h"

#include <inttypes.h>

/* "name = ", with a comma before all but the first; *comma starts as "". */
static void name(Printer *p, const char **comma, const char *text)
{
    text_printf(p->out, "%s%s = ", *comma, text);
    *comma = ", ";
}

static void ints(Printer *p, const char **comma, const char *text, Ints list)
{
    name(p, comma, text);
    text_printf(p->out, "array<i64%s", list.n ? ": " : "");
    text_ints(p->out, list.at, list.n);
    text_printf(p->out, ">");
}

static void some_ints(Printer *p, const char **comma, const char *text, Ints list)
{
    if (list.n)
        ints(p, comma, text, list);
}

static void number(Printer *p, const char **comma, const char *text, int64_t value)
{
    name(p, comma, text);
    text_printf(p->out, "%" PRId64 " : i64", value);
}

static void boolean(Printer *p, const char **comma, const char *text, bool value)
{
    name(p, comma, text);
    text_printf(p->out, value ? "true" : "false");
}

static void matrix(Printer *p, const char **comma, const char *text, Matrix m)
{
    Dense dense = { .type = { I64, 2, (int64_t[]){ m.rows, m.cols } }, .data = m.at };
    name(p, comma, text);
    attr_print(p->out, &(Attr){ .kind = ATTR_DENSE, .dense = dense });
}

static void precisions(Printer *p, const char **comma, Precisions how)
{
    if (!precisions_said(how))
        return;
    name(p, comma, "precision_config");
    precisions_print(p->out, how);
}

/* Within #stablehlo.x<...>: lists in square brackets, left out when empty. */
static void dims(Printer *p, const char **comma, const char *text, Ints list)
{
    if (!list.n)
        return;
    name(p, comma, text);
    print_list(p, list);
}

static void vector_dim(Printer *p, const char **comma, int64_t dim)
{
    if (!dim)
        return;
    name(p, comma, "index_vector_dim");
    text_printf(p->out, "%" PRId64, dim);
}

/* What the two kinds of gather have in common. */
static DynamicGatherAttrs gather_numbers(const GatherAttrs *a)
{
    return (DynamicGatherAttrs){
        .offset_dims = a->offset_dims,
        .collapsed_slice_dims = a->collapsed_slice_dims,
        .operand_batching_dims = a->operand_batching_dims,
        .start_indices_batching_dims = a->start_indices_batching_dims,
        .start_index_map = a->start_index_map,
        .index_vector_dim = a->index_vector_dim,
        .indices_are_sorted = a->indices_are_sorted,
    };
}

/* slice_sizes NULL: they are an operand. */
static void gather(Printer *p, const char **comma, const DynamicGatherAttrs *a,
                   const Ints *slice_sizes)
{
    const char *inner = "";
    name(p, comma, "dimension_numbers");
    text_printf(p->out, "#stablehlo.gather<");
    dims(p, &inner, "offset_dims", a->offset_dims);
    dims(p, &inner, "collapsed_slice_dims", a->collapsed_slice_dims);
    dims(p, &inner, "operand_batching_dims", a->operand_batching_dims);
    dims(p, &inner, "start_indices_batching_dims", a->start_indices_batching_dims);
    dims(p, &inner, "start_index_map", a->start_index_map);
    vector_dim(p, &inner, a->index_vector_dim);
    text_printf(p->out, ">");
    if (a->indices_are_sorted)
        boolean(p, comma, "indices_are_sorted", true);
    if (slice_sizes)
        ints(p, comma, "slice_sizes", *slice_sizes);
}

static void convolution(Printer *p, const char **comma, const ConvolutionAttrs *a)
{
    number(p, comma, "batch_group_count", a->batch_group_count);
    name(p, comma, "dimension_numbers");
    text_printf(p->out, "#stablehlo.conv<");
    print_conv_numbers(p, a);
    text_printf(p->out, ">");
    number(p, comma, "feature_group_count", a->feature_group_count);
    some_ints(p, comma, "lhs_dilation", a->lhs_dilation);
    if (a->padding.rows)
        matrix(p, comma, "padding", a->padding);
    precisions(p, comma, a->precision_config);
    some_ints(p, comma, "rhs_dilation", a->rhs_dilation);
    if (a->window_reversal.n) {
        name(p, comma, "window_reversal");
        text_printf(p->out, "array<i1: ");
        for (int i = 0; i < a->window_reversal.n; i++)
            text_printf(p->out, "%s%s", i ? ", " : "", a->window_reversal.at[i] ? "true" : "false");
        text_printf(p->out, ">");
    }
    some_ints(p, comma, "window_strides", a->window_strides);
}

static void scatter(Printer *p, const char **comma, const ScatterAttrs *a)
{
    const char *inner = "";
    name(p, comma, "scatter_dimension_numbers");
    text_printf(p->out, "#stablehlo.scatter<");
    dims(p, &inner, "update_window_dims", a->update_window_dims);
    dims(p, &inner, "inserted_window_dims", a->inserted_window_dims);
    dims(p, &inner, "input_batching_dims", a->input_batching_dims);
    dims(p, &inner, "scatter_indices_batching_dims", a->scatter_indices_batching_dims);
    dims(p, &inner, "scatter_dims_to_operand_dims", a->scatter_dims_to_operand_dims);
    vector_dim(p, &inner, a->index_vector_dim);
    text_printf(p->out, ">");
    if (a->indices_are_sorted)
        boolean(p, comma, "indices_are_sorted", true);
    if (a->unique_indices)
        boolean(p, comma, "unique_indices", true);
}

static void window(Printer *p, const char **comma, const WindowAttrs *a)
{
    some_ints(p, comma, "base_dilations", a->base_dilations);
    if (a->padding.rows)
        matrix(p, comma, "padding", a->padding);
    some_ints(p, comma, "window_dilations", a->window_dilations);
    some_ints(p, comma, "window_dimensions", a->window_dimensions);
    some_ints(p, comma, "window_strides", a->window_strides);
}

static void channel(Printer *p, const char **comma, int64_t id)
{
    if (!id)
        return;
    name(p, comma, "channel_handle");
    text_printf(p->out, "#stablehlo.channel_handle<handle = %" PRId64 ", type = 0>", id);
}

/* The three fields that every collective with groups begins with. */
static void groups(Printer *p, const char **comma, const AllReduceAttrs *a)
{
    channel(p, comma, a->channel_id);
    matrix(p, comma, "replica_groups", a->replica_groups);
    if (a->use_global_device_ids) {
        text_printf(p->out, "%suse_global_device_ids", *comma);
        *comma = ", ";
    }
}

static void all_to_all(Printer *p, const char **comma, const AllToAllAttrs *a)
{
    number(p, comma, "concat_dimension", a->concat_dimension);
    number(p, comma, "split_count", a->split_count);
    number(p, comma, "split_dimension", a->split_dimension);
}

static void sort(Printer *p, const char **comma, const SortAttrs *a)
{
    number(p, comma, "dimension", a->dimension);
    if (a->is_stable)
        boolean(p, comma, "is_stable", true);
}

static void send(Printer *p, const char **comma, const SendAttrs *a)
{
    name(p, comma, "channel_handle");
    text_printf(p->out, "#stablehlo.channel_handle<handle = %" PRId64 ", type = %" PRId64 ">",
                a->channel_id, a->channel_type);
    if (a->is_host_transfer)
        boolean(p, comma, "is_host_transfer", true);
    if (a->source_target_pairs.rows)
        matrix(p, comma, "source_target_pairs", a->source_target_pairs);
}

static void ragged_dot(Printer *p, const char **comma, const RaggedDotAttrs *a)
{
    const struct {
        const char *name;
        Ints list;
    } lists[] = { { "lhs_batching_dimensions", a->lhs_batching_dimensions },
                  { "rhs_batching_dimensions", a->rhs_batching_dimensions },
                  { "lhs_contracting_dimensions", a->lhs_contracting_dimensions },
                  { "rhs_contracting_dimensions", a->rhs_contracting_dimensions },
                  { "lhs_ragged_dimensions", a->lhs_ragged_dimensions },
                  { "rhs_group_dimensions", a->rhs_group_dimensions } };
    const char *inner = "";
    precisions(p, comma, a->precision_config);
    name(p, comma, "ragged_dot_dimension_numbers");
    text_printf(p->out, "#chlo.ragged_dot<");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) { /* empty ones too */
        name(p, &inner, lists[i].name);
        print_list(p, lists[i].list);
    }
    text_printf(p->out, ">");
}

static void segments(Printer *p, const char **comma, const char *text, Ints list)
{
    name(p, comma, text);
    text_printf(p->out, "array<i32: ");
    text_ints(p->out, list.at, list.n);
    text_printf(p->out, ">");
}

static void scan(Printer *p, const char **comma, const ScanAttrs *a, int nout)
{
    int64_t carried = a->operandSegmentSizes.n == 2 ? a->operandSegmentSizes.at[1] : 0;
    int64_t results[] = { nout - carried, carried };
    number(p, comma, "dimension", a->dimension);
    if (a->is_associative)
        boolean(p, comma, "is_associative", true);
    if (a->is_reverse)
        boolean(p, comma, "is_reverse", true);
    segments(p, comma, "operandSegmentSizes", a->operandSegmentSizes);
    segments(p, comma, "resultSegmentSizes", (Ints){ 2, results });
    if (a->scan_dim_size >= 0)
        number(p, comma, "scan_dim_size", a->scan_dim_size);
}

void print_props(Printer *p, const Node *node)
{
    const char *comma = "";
    const void *a = node->attrs;
    switch (op_info[node->op].attrs) {
    case ATTRS_GATHER: {
        const GatherAttrs *g = a;
        DynamicGatherAttrs numbers = gather_numbers(g);
        gather(p, &comma, &numbers, &g->slice_sizes);
        break;
    }
    case ATTRS_DYNAMIC_GATHER: gather(p, &comma, a, NULL); break;
    case ATTRS_CONVOLUTION: convolution(p, &comma, a); break;
    case ATTRS_SCATTER: scatter(p, &comma, a); break;
    case ATTRS_WINDOW: window(p, &comma, a); break;
    case ATTRS_SORT: sort(p, &comma, a); break;
    case ATTRS_ALL_REDUCE: groups(p, &comma, a); break;
    case ATTRS_ALL_GATHER:
        number(p, &comma, "all_gather_dim", ((const AllGatherAttrs *)a)->all_gather_dim);
        groups(p, &comma, a);
        break;
    case ATTRS_REDUCE_SCATTER:
        groups(p, &comma, a);
        number(p, &comma, "scatter_dimension", ((const ReduceScatterAttrs *)a)->scatter_dimension);
        break;
    case ATTRS_ALL_TO_ALL:
        groups(p, &comma, a);
        all_to_all(p, &comma, a);
        break;
    case ATTRS_COLLECTIVE_BROADCAST:
        groups(p, &comma, a);
        if (((const CollectiveBroadcastAttrs *)a)->has_dynamic_root)
            boolean(p, &comma, "has_dynamic_root", true);
        break;
    case ATTRS_COLLECTIVE_REDUCE:
        groups(p, &comma, a);
        if (((const CollectiveReduceAttrs *)a)->has_dynamic_root)
            boolean(p, &comma, "has_dynamic_root", true);
        break;
    case ATTRS_RAGGED_DOT: ragged_dot(p, &comma, a); break;
    case ATTRS_SCAN: scan(p, &comma, a, node->nout); break;
    case ATTRS_SEND: send(p, &comma, a); break;
    case ATTRS_PERMUTE:
        channel(p, &comma, ((const PermuteAttrs *)a)->channel_id);
        matrix(p, &comma, "source_target_pairs", ((const PermuteAttrs *)a)->source_target_pairs);
        break;
    default: attrs_print(p->out, op_info[node->op].attrs, a); break;
    }
}
