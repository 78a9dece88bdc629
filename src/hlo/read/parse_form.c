/* parse_form.c - the short forms that operations print in, but for those with regions.
 *
 * Nearly all are one form: operands, clauses `word = value`, a dictionary, types.
 *
 *   stablehlo.pad %a, %b, low = [1, 0], high = [2, 1], interior = [0, 0] {...} : (T, T) -> T
 *
 * A table says which attribute a clause's word is.  A few operations put something of their
 * own before or behind their operands. */
#include "hlo/read/parse.h"

#include <string.h>

static void set(Parser *p, Draft *d, const char *name, const Attr *value)
{
    attr_set(p->arena, &d->dict, str_of(name), value);
}

/* dims = [0, 1], dim = 0, type = FFT, lower = true, config = "ab->ba" */
static Error *parse_simple_clause(Parser *p, Draft *d, const char *attribute)
{
    if (at_mark(p, '[')) {
        Numbers numbers = { 0 };
        TRY(parse_numbers(p, "before the numbers", &numbers));
        set(p, d, attribute, numbers_attr(p, &numbers));
        return NULL;
    }
    if (p->token.kind == TOKEN_STRING) {
        Str text;
        TRY(need_string(p, "a string", &text));
        set(p, d, attribute, attr_string(p->arena, text));
        return NULL;
    }
    if (p->token.kind == TOKEN_WORD) {
        bool is_true = at_word(p, "true");
        set(p, d, attribute,
            is_true || at_word(p, "false")
                ? attr_bool(p->arena, is_true)
                : attr_word(p->arena, str_copy(p->arena, p->token.text)));
        advance(p);
        return NULL;
    }
    int64_t value;
    TRY(need_integer(p, "a number or a list of them", &value));
    set(p, d, attribute, attr_int(p->arena, value));
    return NULL;
}

/* contracting_dims = [1] x [0] */
static Error *parse_dot_clause(Parser *p, Draft *d, const char *lhs, const char *rhs)
{
    Numbers left = { 0 }, right = { 0 };
    TRY(parse_numbers(p, "before the dimensions of the left", &left));
    TRY(need_word(p, "x", "between left and right"));
    TRY(parse_numbers(p, "before the dimensions of the right", &right));
    set(p, d, lhs, numbers_attr(p, &left));
    set(p, d, rhs, numbers_attr(p, &right));
    return NULL;
}

/* precision = [HIGHEST, DEFAULT] */
static Error *parse_precision(Parser *p, Draft *d)
{
    LIST(const Attr *) words = { 0 };
    TRY(need_mark(p, '[', "before the precisions"));
    if (!take_mark(p, ']')) {
        do {
            if (p->token.kind != TOKEN_WORD)
                return expected(p, "DEFAULT, HIGH or HIGHEST");
            LIST_ADD(p->arena, &words, attr_word(p->arena, str_copy(p->arena, p->token.text)));
            advance(p);
        } while (take_mark(p, ','));
        TRY(need_mark(p, ']', "after the precisions"));
    }
    Attr list = { .kind = ATTR_ARRAY, .n = words.n, .items = words.at };
    set(p, d, "precision_config", arena_copy(p->arena, &list, sizeof list));
    return NULL;
}

/* algorithm = <lhs_precision_type = tf32, ...>: its text, of which ops/attrs.c makes a precision. */
static Error *parse_algorithm(Parser *p, Draft *d)
{
    const char *from = p->token.text.at;
    TRY(skip_balanced(p));
    Str text = { from, (size_t)(p->token.text.at - from) };
    set(p, d, "algorithm", attr_word(p->arena, str_copy(p->arena, text)));
    return NULL;
}

/* e5m10 */
static Error *parse_format(Parser *p, Draft *d)
{
    Str text = p->token.text;
    int64_t exponent = 0, mantissa = 0, *to = NULL;
    for (size_t i = 0; p->token.kind == TOKEN_WORD && i < text.n; i++) {
        char c = text.at[i];
        if (c == 'e' && i == 0)
            to = &exponent;
        else if (c == 'm' && to == &exponent && i > 1)
            to = &mantissa;
        else if (to && c >= '0' && c <= '9' && *to < 1000)
            *to = *to * 10 + (c - '0');
        else
            return expected(p, "a format such as e5m10");
    }
    if (to != &mantissa)
        return expected(p, "a format such as e5m10");
    advance(p);
    set(p, d, "exponent_bits", attr_int(p->arena, exponent));
    set(p, d, "mantissa_bits", attr_int(p->arena, mantissa));
    return NULL;
}

static Error *parse_clause(Parser *p, Draft *d)
{
    static const struct {
        OpId op;
        const char *word, *attribute;
    } clauses[] = {
        { OP_IOTA, "dim", "iota_dimension" },
        { OP_CONCATENATE, "dim", "dimension" },
        { OP_DIMENSION_SIZE, "dim", "dimension" },
        { OP_DYNAMIC_IOTA, "dim", "iota_dimension" },
        { OP_DYNAMIC_BROADCAST, "dims", "broadcast_dimensions" },
        { OP_BROADCAST, "dims", "broadcast_dimensions" },
        { OP_TRANSPOSE, "dims", "permutation" },
        { OP_REVERSE, "dims", "dimensions" },
        { OP_DYNAMIC_SLICE, "sizes", "slice_sizes" },
        { OP_PAD, "low", "edge_padding_low" },
        { OP_PAD, "high", "edge_padding_high" },
        { OP_PAD, "interior", "interior_padding" },
        { OP_TOP_K, "k", "k" },
        { OP_FFT, "type", "fft_type" },
        { OP_FFT, "length", "fft_length" },
        { OP_RNG_BITS, "algorithm", "rng_algorithm" },
        { OP_CHOLESKY, "lower", "lower" },
        { OP_BROADCAST_BEFORE, "sizes", "broadcast_sizes" },
        { OP_EINSUM, "config", "einsum_config" },
        { OP_UNARY_EINSUM, "config", "einsum_config" },
        { OP_RNG, "distribution", "rng_distribution" },
    };
    Token word = p->token;
    if (word.kind != TOKEN_WORD)
        return expected(p, "an operand or a clause");
    advance(p);
    TRY(need_mark(p, '=', "after the clause's name"));
    for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++)
        if (clauses[i].op == d->op && str_is(word.text, clauses[i].word))
            return parse_simple_clause(p, d, clauses[i].attribute);
    if (d->op == OP_REDUCE_PRECISION && str_is(word.text, "format"))
        return parse_format(p, d);
    if (d->op == OP_DOT && str_is(word.text, "batching_dims"))
        return parse_dot_clause(p, d, "lhs_batching_dimensions", "rhs_batching_dimensions");
    if (d->op == OP_DOT && str_is(word.text, "contracting_dims"))
        return parse_dot_clause(p, d, "lhs_contracting_dimensions", "rhs_contracting_dimensions");
    if ((d->op == OP_DOT || d->op == OP_PLAIN_DOT) && str_is(word.text, "precision"))
        return parse_precision(p, d);
    if (d->op == OP_DOT && str_is(word.text, "algorithm"))
        return parse_algorithm(p, d);
    return wrong(p, word.text.at, "%s has no clause '%.*s'", op_name(d->op), STR_ARG(word.text));
}

/* %a, %b, word = value, ... */
static Error *parse_list(Parser *p, Draft *d)
{
    if (p->token.kind != TOKEN_VALUE && p->token.kind != TOKEN_WORD)
        return NULL;
    do {
        ValueId value;
        if (p->token.kind == TOKEN_VALUE) {
            TRY(parse_value(p, &value));
            LIST_ADD(p->arena, &d->in, value);
        } else {
            TRY(parse_clause(p, d));
        }
    } while (take_mark(p, ','));
    return NULL;
}

static Error *parse_rest(Parser *p, Draft *d)
{
    if (at_mark(p, '{'))
        TRY(parse_dict(p, &d->dict));
    return parse_signature(p, d);
}

/* The operation with attributes first: constant {...} dense<1> : T, whose type is its own. */
static Error *parse_constant(Parser *p, Draft *d)
{
    Attr attr = { .kind = ATTR_DENSE };
    if (at_mark(p, '{'))
        TRY(parse_dict(p, &d->dict));
    if (at_word(p, "dense")) {
        TRY(parse_dense(p, &attr.dense));
        set(p, d, "value", arena_copy(p->arena, &attr, sizeof attr));
    } else {
        const Attr *value;
        TRY(parse_attr(p, &value)); /* an alias of a constant, or an error */
        set(p, d, "value", value);
        if (value->kind != ATTR_DENSE)
            return expected(p, "a constant");
        attr = *value;
    }
    d->has_arrow = true;
    LIST_ADD(p->arena, &d->results, attr.dense.type);
    return NULL;
}

/* compare LT, %a, %b, FLOAT */
static Error *parse_compare(Parser *p, Draft *d)
{
    if (p->token.kind != TOKEN_WORD)
        return expected(p, "a comparison such as LT");
    set(p, d, "comparison_direction", attr_word(p->arena, str_copy(p->arena, p->token.text)));
    advance(p);
    while (take_mark(p, ',')) {
        ValueId value;
        if (p->token.kind == TOKEN_WORD) {
            set(p, d, "compare_type", attr_word(p->arena, str_copy(p->arena, p->token.text)));
            advance(p);
            return NULL;
        }
        TRY(parse_value(p, &value));
        LIST_ADD(p->arena, &d->in, value);
    }
    return NULL;
}

/* slice %a [0:4, 1:8:2] */
static Error *parse_slice(Parser *p, Draft *d)
{
    Numbers starts = { 0 }, limits = { 0 }, strides = { 0 };
    TRY(parse_operands(p, d));
    TRY(need_mark(p, '[', "before the ranges"));
    while (!take_mark(p, ']')) {
        int64_t start, limit, stride = 1;
        if (starts.n)
            TRY(need_mark(p, ',', "between the ranges"));
        TRY(need_integer(p, "the start of a range", &start));
        TRY(need_mark(p, ':', "between start and limit"));
        TRY(need_integer(p, "the limit of a range", &limit));
        if (take_mark(p, ':'))
            TRY(need_integer(p, "the stride of a range", &stride));
        LIST_ADD(p->arena, &starts, start);
        LIST_ADD(p->arena, &limits, limit);
        LIST_ADD(p->arena, &strides, stride);
    }
    set(p, d, "start_indices", numbers_attr(p, &starts));
    set(p, d, "limit_indices", numbers_attr(p, &limits));
    set(p, d, "strides", numbers_attr(p, &strides));
    return NULL;
}

static Error *parse_bracketed(Parser *p, Draft *d)
{
    TRY(need_mark(p, '(', "before the operands"));
    TRY(parse_list(p, d));
    return need_mark(p, ')', "after the operands");
}

/* get_tuple_element %t[0] */
static Error *parse_tuple_element(Parser *p, Draft *d)
{
    int64_t index;
    TRY(parse_operands(p, d));
    TRY(need_mark(p, '[', "before the number of the element"));
    TRY(need_integer(p, "the number of the element", &index));
    set(p, d, "index", attr_int(p->arena, index));
    return need_mark(p, ']', "after the number of the element");
}

/* call @f(%a, %b), custom_call @target(%a) */
static Error *parse_call(Parser *p, Draft *d)
{
    Str symbol;
    TRY(need_symbol(p, "the name of what is called", &symbol));
    set(p, d, d->op == OP_CALL ? "callee" : "call_target_name", attr_string(p->arena, symbol));
    return parse_bracketed(p, d);
}

/* composite "name" %a, %b */
static Error *parse_composite(Parser *p, Draft *d)
{
    Str name;
    TRY(need_string(p, "the composite's name", &name));
    set(p, d, "name", attr_string(p->arena, name));
    return parse_operands(p, d);
}

/* pad = [[1, 1], [0, 2]] */
static Error *parse_padding(Parser *p, Draft *d)
{
    Numbers all = { 0 };
    TRY(need_mark(p, '[', "before the padding"));
    while (!take_mark(p, ']')) {
        if (all.n)
            TRY(need_mark(p, ',', "between the pairs"));
        const char *where = p->token.text.at;
        int before = all.n;
        TRY(parse_numbers(p, "before a pair", &all));
        if (all.n - before != 2)
            return wrong(p, where, "expected two numbers, low and high");
    }
    set(p, d, "padding", attr_matrix(p->arena, all.n / 2, 2, all.at));
    return NULL;
}

static Error *parse_window_entry(Parser *p, Draft *d)
{
    static const char *const entries[][2] = { { "stride", "window_strides" },
                                              { "lhs_dilate", "lhs_dilation" },
                                              { "rhs_dilate", "rhs_dilation" } };
    Token word = p->token;
    advance(p);
    TRY(need_mark(p, '=', "in the window"));
    if (str_is(word.text, "pad"))
        return parse_padding(p, d);
    if (str_is(word.text, "reverse")) {
        const Attr *list;
        TRY(parse_attr(p, &list));
        set(p, d, "window_reversal", list);
        return NULL;
    }
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (str_is(word.text, entries[i][0]))
            return parse_simple_clause(p, d, entries[i][1]);
    return wrong(p, word.text.at, "a window has no '%.*s'", STR_ARG(word.text));
}

/* convolution(%a, %b) dim_numbers = [..]x[..]->[..], window = {stride = [2, 2], ...} */
static Error *parse_convolution(Parser *p, Draft *d)
{
    TRY(parse_bracketed(p, d));
    TRY(need_word(p, "dim_numbers", "after the operands"));
    TRY(need_mark(p, '=', "after dim_numbers"));
    TRY(parse_conv_numbers(p, &d->dict));
    if (!take_mark(p, ','))
        return NULL;
    TRY(need_word(p, "window", "after the dimension numbers"));
    TRY(need_mark(p, '=', "after window"));
    TRY(need_mark(p, '{', "before the window"));
    if (take_mark(p, '}'))
        return NULL;
    do
        TRY(parse_window_entry(p, d));
    while (take_mark(p, ','));
    return need_mark(p, '}', "after the window");
}

static Error *parse_constraint(Parser *p, Draft *d)
{
    Attr attr = { .kind = ATTR_SHARDING };
    TRY(parse_operands(p, d));
    TRY(parse_sharding(p, &attr.sharding));
    set(p, d, "sharding", arena_copy(p->arena, &attr, sizeof attr));
    return NULL;
}

/* return %a, %b : T, T; with nothing to return there are no types either. */
static Error *parse_return(Parser *p, Draft *d)
{
    TRY(parse_operands(p, d));
    if (at_mark(p, '{'))
        TRY(parse_dict(p, &d->dict));
    return at_mark(p, ':') ? parse_signature(p, d) : NULL;
}

Error *parse_form(Parser *p, Draft *d)
{
    switch (d->op) {
    case OP_CONSTANT: return parse_constant(p, d);
    case OP_REDUCE: return parse_reduce(p, d);
    case OP_WHILE: return parse_while(p, d);
    case OP_MANUAL: return parse_manual(p, d);
    case OP_SCAN: return parse_scan(p, d);
    case OP_RETURN: return parse_return(p, d);
    case OP_COMPARE: TRY(parse_compare(p, d)); break;
    case OP_SLICE: TRY(parse_slice(p, d)); break;
    case OP_CALL:
    case OP_CUSTOM_CALL: TRY(parse_call(p, d)); break;
    case OP_COMPOSITE: TRY(parse_composite(p, d)); break;
    case OP_CONVOLUTION: TRY(parse_convolution(p, d)); break;
    case OP_TUPLE_ELEMENT: TRY(parse_tuple_element(p, d)); break;
    case OP_CONSTRAINT: TRY(parse_constraint(p, d)); break;
    case OP_CONSTANT_LIKE:
    case OP_TOP_K: TRY(parse_bracketed(p, d)); break;
    default: TRY(parse_list(p, d)); break;
    }
    return parse_rest(p, d);
}
