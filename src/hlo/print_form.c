/* print_form.c - one operation in the form that StableHLO itself prints it in.
 *
 *   stablehlo.pad %1, %2, low = [1, 0], high = [2, 1], interior = [0, 0] : (T, T) -> T
 *
 * An operation without such a form, or in a shape that its form cannot say, is printed in
 * MLIR's generic one: "stablehlo.sort"(%1) <{...}> ({...}) : (T) -> T. */
#include "hlo/print.h"

#include <inttypes.h>
#include <string.h>

/* "stablehlo.add", "chlo.top_k". */
static void print_name(Printer *p, OpId op)
{
    text_printf(p->out, "%s%s", strchr(op_name(op), '.') ? "" : "stablehlo.", op_name(op));
}

static void print_extra(Printer *p, const Node *node)
{
    if (!node->extra)
        return;
    text_printf(p->out, " ");
    attr_print(p->out, node->extra);
}

static void print_generic(Printer *p, const Node *node)
{
    text_printf(p->out, "\"");
    print_name(p, node->op);
    text_printf(p->out, "\"(");
    print_values(p, node->nin, node->in);
    text_printf(p->out, ")");
    size_t before = p->out->n;
    text_printf(p->out, " <{");
    size_t start = p->out->n;
    print_props(p, node);
    if (p->out->n == start)
        p->out->n = before;
    else
        text_printf(p->out, "}>");
    for (int i = 0; i < node->nregions; i++) {
        text_printf(p->out, i ? ", " : " (");
        uint32_t nargs = p->nargs;
        name_args(p, node->regions[i]);
        print_region(p, node->regions[i], true);
        p->nargs = nargs;
    }
    text_printf(p->out, node->nregions ? ")" : "");
    print_extra(p, node);
    text_printf(p->out, " : ");
    print_function_type(p, node);
}

/* Extra attributes and the types: one when all are the same, else all. */
static void print_end(Printer *p, const Node *node, bool may_be_one)
{
    Type result = node->nout ? type_of(p->m, node->out) : (Type){ 0 };
    for (int i = 0; i < node->nin && may_be_one; i++)
        may_be_one = node->nout == 1 && type_equal(type_of(p->m, node->in[i]), result);
    print_extra(p, node);
    text_printf(p->out, " : ");
    if (may_be_one && node->nout == 1)
        type_print(p->out, result);
    else
        print_function_type(p, node);
}

/* chlo's operations list operands and results without brackets: T, T -> T */
static void print_chlo(Printer *p, const Node *node)
{
    print_extra(p, node);
    text_printf(p->out, " : ");
    print_types(p, node->nin, node->in);
    text_printf(p->out, " -> ");
    type_print(p->out, type_of(p->m, node->out));
}

static void print_map(Printer *p, const Node *node)
{
    text_printf(p->out, " ");
    print_values(p, node->nin, node->in);
    if (strncmp(op_name(node->op), "chlo.", 5) == 0)
        print_chlo(p, node);
    else
        print_end(p, node, node->op != OP_CONVERT && node->op != OP_IS_FINITE);
}

static void print_select(Printer *p, const Node *node)
{
    text_printf(p->out, " ");
    print_values(p, node->nin, node->in);
    Type result = type_of(p->m, node->out);
    if (node->nin != 3 || !type_equal(type_of(p->m, node->in[1]), result) ||
        !type_equal(type_of(p->m, node->in[2]), result)) {
        print_end(p, node, false);
        return;
    }
    print_extra(p, node);
    text_printf(p->out, " : ");
    type_print(p->out, type_of(p->m, node->in[0]));
    text_printf(p->out, ", ");
    type_print(p->out, result);
}

static void print_compare(Printer *p, const Node *node)
{
    static const char *const directions[] = { "EQ", "NE", "GE", "GT", "LE", "LT" };
    static const char *const types[] = { "", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED" };
    const CompareAttrs *a = node->attrs;
    text_printf(p->out, " %s, ", directions[a->comparison_direction]);
    print_values(p, node->nin, node->in);
    if (a->compare_type != COMPARE_NOTYPE)
        text_printf(p->out, ", %s", types[a->compare_type]);
    print_end(p, node, false);
}

static void print_constant(Printer *p, const Node *node)
{
    Dense value = ((const ConstantAttrs *)node->attrs)->value;
    print_extra(p, node);
    text_printf(p->out, " ");
    dense_print(p->out, value);
    text_printf(p->out, " : ");
    type_print(p->out, value.type);
}

/* operands, then `, word = [...]` */
static void print_clause(Printer *p, const char *word, Ints list)
{
    text_printf(p->out, ", %s = ", word);
    print_list(p, list);
}

static void print_slice(Printer *p, const SliceAttrs *a)
{
    text_printf(p->out, " [");
    for (int i = 0; i < a->start_indices.n; i++) {
        text_printf(p->out, "%s%" PRId64 ":%" PRId64, i ? ", " : "", a->start_indices.at[i],
                    i < a->limit_indices.n ? a->limit_indices.at[i] : 0);
        if (i < a->strides.n && a->strides.at[i] != 1)
            text_printf(p->out, ":%" PRId64, a->strides.at[i]);
    }
    text_printf(p->out, "]");
}

static void print_dot(Printer *p, const DotAttrs *a)
{
    if (a->lhs_batching_dimensions.n) {
        print_clause(p, "batching_dims", a->lhs_batching_dimensions);
        text_printf(p->out, " x ");
        print_list(p, a->rhs_batching_dimensions);
    }
    /* MLIR's parser wants this one, empty or not. */
    print_clause(p, "contracting_dims", a->lhs_contracting_dimensions);
    text_printf(p->out, " x ");
    print_list(p, a->rhs_contracting_dimensions);
    Precisions how = a->precision_config;
    if (precisions_said(how))
        text_printf(p->out, ", precision = [%s, %s]", precision_word(how.lhs),
                    precision_word(how.rhs));
}

/* Operations that move elements: operands, their own clauses, types. */
static void print_moving(Printer *p, const Node *node)
{
    const void *a = node->attrs;
    text_printf(p->out, node->nin ? " " : "");
    print_values(p, node->nin, node->in);
    switch (node->op) {
    case OP_BROADCAST:
    case OP_DYNAMIC_BROADCAST:
        print_clause(p, "dims", ((const BroadcastAttrs *)a)->broadcast_dimensions);
        break;
    case OP_TRANSPOSE: print_clause(p, "dims", ((const TransposeAttrs *)a)->permutation); break;
    case OP_REVERSE: print_clause(p, "dims", ((const DimensionsAttrs *)a)->dimensions); break;
    case OP_DYNAMIC_SLICE:
        print_clause(p, "sizes", ((const DynamicSliceAttrs *)a)->slice_sizes);
        break;
    case OP_PAD:
        print_clause(p, "low", ((const PadAttrs *)a)->edge_padding_low);
        print_clause(p, "high", ((const PadAttrs *)a)->edge_padding_high);
        print_clause(p, "interior", ((const PadAttrs *)a)->interior_padding);
        break;
    case OP_CONCATENATE:
    case OP_DIMENSION_SIZE:
        text_printf(p->out, ", dim = %" PRId64, ((const DimensionAttrs *)a)->dimension);
        break;
    case OP_IOTA:
        text_printf(p->out, " dim = %" PRId64, ((const IotaAttrs *)a)->iota_dimension);
        break;
    case OP_DYNAMIC_IOTA:
        text_printf(p->out, ", dim = %" PRId64, ((const IotaAttrs *)a)->iota_dimension);
        break;
    case OP_SLICE: print_slice(p, a); break;
    case OP_DOT: print_dot(p, a); break;
    case OP_REDUCE_PRECISION: {
        const ReducePrecisionAttrs *format = a;
        text_printf(p->out, ", format = e%" PRId64 "m%" PRId64, format->exponent_bits,
                    format->mantissa_bits);
        break;
    }
    default: break;
    }
    print_end(p, node,
              node->op == OP_IOTA || node->op == OP_REVERSE || node->op == OP_REDUCE_PRECISION ||
                  node->nin == 0);
}

/* ---- reduce ---- */

/* The operation that `applies` can name: the region is that one on its two arguments. */
static bool applied_op(Printer *p, const Node *node, OpId *out)
{
    if (node->nin != 2 || node->nregions != 1)
        return false;
    const Region *r = region_at(p->m, node->regions[0]);
    if (r->nargs != 2 || r->nnodes != 2)
        return false;
    const Node *op = node_at(p->m, r->nodes[0]), *ret = node_at(p->m, r->nodes[1]);
    Type start = type_of(p->m, node->in[1]);
    *out = op->op;
    return op_info[op->op].kind == KIND_MAP && op_info[op->op].attrs == ATTRS_NONE &&
           !strchr(op_name(op->op), '.') && op->nin == 2 && op->nout == 1 && !op->extra &&
           op->in[0] == r->args && op->in[1] == r->args + 1 && ret->nin == 1 &&
           ret->in[0] == op->out && type_equal(start, type_of(p->m, op->out)) &&
           type_equal(start, type_of(p->m, r->args)) &&
           type_equal(start, type_of(p->m, r->args + 1));
}

static void print_reduce(Printer *p, const Node *node, OpId op)
{
    print_name(p, node->op);
    text_printf(p->out, "(");
    print_value(p, node->in[0]);
    text_printf(p->out, " init: ");
    print_value(p, node->in[1]);
    text_printf(p->out, ") applies ");
    print_name(p, op);
    text_printf(p->out, " across dimensions = ");
    print_list(p, ((const DimensionsAttrs *)node->attrs)->dimensions);
    print_end(p, node, false);
}

/* ---- control flow and calls ---- */

static void print_while(Printer *p, const Node *node)
{
    uint32_t nargs = p->nargs;
    ValueId first = region_at(p->m, node->regions[0])->args;
    name_args(p, node->regions[0]);
    text_printf(p->out, "(");
    for (int i = 0; i < node->nin; i++) {
        text_printf(p->out, i ? ", " : "");
        print_value(p, first + (ValueId)i);
        text_printf(p->out, " = ");
        print_value(p, node->in[i]);
    }
    text_printf(p->out, ") : ");
    print_types(p, node->nin, node->in);
    if (node->extra) {
        text_printf(p->out, " attributes ");
        attr_print(p->out, node->extra);
    }
    text_printf(p->out, " cond ");
    print_region(p, node->regions[0], false);
    p->nargs = nargs; /* both regions call the loop's values the same */
    name_args(p, node->regions[1]);
    text_printf(p->out, " do ");
    print_region(p, node->regions[1], false);
    p->nargs = nargs;
}

static bool is_plain_while(Printer *p, const Node *node)
{
    if (node->nin == 0 || node->nin != node->nout || node->nregions != 2)
        return false;
    for (int i = 0; i < 2; i++)
        if (region_at(p->m, node->regions[i])->nargs != node->nin)
            return false;
    return true;
}

static void print_shardings(Printer *p, const char *word, Shardings list)
{
    text_printf(p->out, " %s=[", word);
    for (int i = 0; i < list.n; i++) {
        text_printf(p->out, i ? ", " : "");
        sharding_print(p->out, list.at[i]);
    }
    text_printf(p->out, "]");
}

static void print_manual(Printer *p, const Node *node)
{
    const ManualAttrs *a = node->attrs;
    uint32_t nargs = p->nargs;
    text_printf(p->out, "(");
    print_values(p, node->nin, node->in);
    text_printf(p->out, ")");
    print_shardings(p, "in_shardings", a->in_shardings);
    print_shardings(p, "out_shardings", a->out_shardings);
    text_printf(p->out, " manual_axes={");
    for (int i = 0; a->manual_axes->kind == ATTR_ARRAY && i < a->manual_axes->n; i++) {
        text_printf(p->out, i ? ", " : "");
        attr_print(p->out, a->manual_axes->items[i]);
    }
    text_printf(p->out, "} ");
    name_args(p, node->regions[0]);
    print_args(p, node->regions[0]);
    text_printf(p->out, " ");
    print_region(p, node->regions[0], false);
    p->nargs = nargs;
    print_end(p, node, false);
}

/* A dictionary in which some entries are made up here and the rest is the node's extra. */
void print_with_extra(Printer *p, const Node *node, Text *own)
{
    if (!own->n && !node->extra)
        return;
    text_printf(p->out, " {%s", text_cstr(own));
    if (node->extra) {
        Text rest = { 0 };
        attr_print(&rest, node->extra); /* { ... } */
        text_printf(p->out, "%s%.*s", own->n ? ", " : "", (int)rest.n - 2, rest.at + 1);
        text_free(&rest);
    }
    text_printf(p->out, "}");
}

static void print_custom_call(Printer *p, const Node *node)
{
    const CustomCallAttrs *a = node->attrs;
    text_printf(p->out, " ");
    print_symbol(p, a->call_target_name);
    text_printf(p->out, "(");
    print_values(p, node->nin, node->in);
    text_printf(p->out, ")");
    Text own = { 0 };
    Printer inner = *p;
    inner.out = &own;
    if (a->api_version != 1)
        text_printf(&own, "api_version = %d : i32", a->api_version);
    if (a->backend_config) {
        text_printf(&own, "%sbackend_config = ", own.n ? ", " : "");
        attr_print(&own, a->backend_config);
    }
    const Attr *called = a->called_computations;
    if (called && called->kind == ATTR_ARRAY && called->n) {
        text_printf(&own, "%scalled_computations = [", own.n ? ", " : "");
        for (int i = 0; i < called->n; i++) {
            text_printf(&own, i ? ", " : "");
            if (called->items[i]->kind == ATTR_STRING)
                print_symbol(&inner, called->items[i]->string);
        }
        text_printf(&own, "]");
    }
    if (a->error_message.n) {
        text_printf(&own, "%serror_message = ", own.n ? ", " : "");
        string_print(&own, a->error_message);
    }
    if (a->indices_of_shape_operands.n) {
        text_printf(&own, "%sindices_of_shape_operands = dense<[", own.n ? ", " : "");
        text_ints(&own, a->indices_of_shape_operands.at, a->indices_of_shape_operands.n);
        text_printf(&own, "]> : tensor<%dxi64>", a->indices_of_shape_operands.n);
    }
    if (a->has_side_effect)
        text_printf(&own, "%shas_side_effect = true", own.n ? ", " : "");
    print_with_extra(p, node, &own);
    text_free(&own);
    text_printf(p->out, " : ");
    print_function_type(p, node);
}

static void print_composite(Printer *p, const Node *node)
{
    const CompositeAttrs *a = node->attrs;
    text_printf(p->out, " ");
    string_print(p->out, a->name);
    text_printf(p->out, " ");
    print_values(p, node->nin, node->in);
    Text own = { 0 };
    Printer inner = *p;
    inner.out = &own;
    if (a->composite_attributes && a->composite_attributes->n) {
        text_printf(&own, "composite_attributes = ");
        attr_print(&own, a->composite_attributes);
        text_printf(&own, ", ");
    }
    text_printf(&own, "decomposition = ");
    print_symbol(&inner, a->decomposition);
    if (a->version)
        text_printf(&own, ", version = %" PRId64 " : i32", a->version);
    print_with_extra(p, node, &own);
    text_free(&own);
    text_printf(p->out, " : ");
    print_function_type(p, node);
}

/* Who takes the values back decides what the return is called. */
static void print_return(Printer *p, const Node *node)
{
    NodeId parent = region_at(p->m, node->region)->parent;
    const char *name = !parent                                  ? "return"
                       : node_at(p->m, parent)->op == OP_MANUAL ? "sdy.return"
                                                                : "stablehlo.return";
    text_printf(p->out, node->nin ? "%s " : "%s", name);
    print_values(p, node->nin, node->in);
    print_extra(p, node);
    text_printf(p->out, node->nin ? " : " : "");
    print_types(p, node->nin, node->in);
}

static void print_call(Printer *p, const Node *node)
{
    text_printf(p->out, " ");
    print_symbol(p, ((const CallAttrs *)node->attrs)->callee);
    text_printf(p->out, "(");
    print_values(p, node->nin, node->in);
    text_printf(p->out, ")");
    print_end(p, node, false);
}

static void print_top_k(Printer *p, const Node *node)
{
    text_printf(p->out, "(");
    print_values(p, node->nin, node->in);
    text_printf(p->out, ", k = %" PRId64 ")", ((const TopKAttrs *)node->attrs)->k);
    print_extra(p, node);
    text_printf(p->out, " : ");
    print_types(p, node->nin, node->in);
    text_printf(p->out, " -> (");
    print_types(p, node->nout, (ValueId[]){ node->out, node->out + 1 });
    text_printf(p->out, ")");
}

static void print_constraint(Printer *p, const Node *node)
{
    text_printf(p->out, " ");
    print_values(p, node->nin, node->in);
    text_printf(p->out, " ");
    sharding_print(p->out, ((const ConstraintAttrs *)node->attrs)->sharding);
    print_end(p, node, true);
}

static void print_barrier(Printer *p, const Node *node)
{
    text_printf(p->out, " ");
    print_values(p, node->nin, node->in);
    print_extra(p, node);
    text_printf(p->out, " : ");
    print_types(p, node->nin, node->in);
}

static void print_tuple(Printer *p, const Node *node)
{
    text_printf(p->out, node->nin ? " " : "");
    print_values(p, node->nin, node->in);
    print_extra(p, node);
    text_printf(p->out, " : ");
    type_print(p->out, type_of(p->m, node->out));
}

static void print_tuple_element(Printer *p, const Node *node)
{
    text_printf(p->out, " ");
    print_values(p, node->nin, node->in);
    text_printf(p->out, "[%" PRId64 "]", ((const TupleElementAttrs *)node->attrs)->index);
    print_end(p, node, false);
}

typedef void FormPrinter(Printer *p, const Node *node);

static FormPrinter *form_of(Printer *p, const Node *node)
{
    switch (node->op) {
    case OP_SELECT: return print_select;
    case OP_COMPARE: return print_compare;
    case OP_CONSTANT: return print_constant;
    case OP_WHILE: return is_plain_while(p, node) ? print_while : NULL;
    case OP_MANUAL: return node->nregions == 1 ? print_manual : NULL;
    case OP_CONSTRAINT: return print_constraint;
    case OP_TUPLE: return print_tuple;
    case OP_TUPLE_ELEMENT: return print_tuple_element;
    case OP_CUSTOM_CALL: return print_custom_call;
    case OP_COMPOSITE: return print_composite;
    case OP_CALL: return print_call;
    case OP_CONVOLUTION: return print_convolution;
    case OP_TOP_K: return node->nout == 2 ? print_top_k : NULL;
    case OP_BARRIER: return node->nin ? print_barrier : NULL;
    case OP_BROADCAST:
    case OP_TRANSPOSE:
    case OP_REVERSE:
    case OP_DYNAMIC_SLICE:
    case OP_DYNAMIC_UPDATE:
    case OP_PAD:
    case OP_CONCATENATE:
    case OP_IOTA:
    case OP_SLICE:
    case OP_DOT:
    case OP_RESHAPE:
    case OP_DIMENSION_SIZE:
    case OP_DYNAMIC_BROADCAST:
    case OP_DYNAMIC_RESHAPE:
    case OP_DYNAMIC_IOTA:
    case OP_DYNAMIC_PAD:
    case OP_REAL_SLICE:
    case OP_BITCAST:
    case OP_PARTITION_ID:
    case OP_REPLICA_ID:
    case OP_REDUCE_PRECISION: return print_moving;
    default: break;
    }
    const OpInfo *info = &op_info[node->op];
    return info->kind == KIND_MAP && info->attrs == ATTRS_NONE ? print_map : NULL;
}

/* What the compiler makes of every token's beginning: a constant without a value. */
static bool is_new_token(const Node *node)
{
    return node->op == OP_CONSTANT &&
           ((const ConstantAttrs *)node->attrs)->value.type.element == TOKEN;
}

void print_form(Printer *p, NodeId n)
{
    const Node *node = node_at(p->m, n);
    OpId op;
    FormPrinter *form = form_of(p, node);
    if (node->op == OP_RETURN) {
        print_return(p, node);
    } else if (is_new_token(node)) {
        print_name(p, OP_CREATE_TOKEN);
        text_printf(p->out, " : !stablehlo.token");
    } else if (node->op == OP_REDUCE && applied_op(p, node, &op)) {
        print_reduce(p, node, op);
    } else if (!form) {
        print_generic(p, node);
    } else {
        print_name(p, node->op);
        form(p, node);
    }
}
