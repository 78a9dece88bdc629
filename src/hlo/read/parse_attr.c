/* parse_attr.c - attributes, as trees.
 *
 * What StableHLO groups (dimension numbers, channel handles) becomes a dictionary here;
 * parse_op.c lays it flat.  An attribute of a dialect that is not ours is kept as a word with
 * its text: it is printed again as it was, and a rule that needs it says by name that it cannot be used. */
#include "hlo/read/parse.h"
#include "ops/number.h"

#include <string.h>

static const Attr *make(Parser *p, Attr attr)
{
    return arena_copy(p->arena, &attr, sizeof attr);
}

const Attr *numbers_attr(Parser *p, const Numbers *numbers)
{
    return attr_ints(p->arena, numbers->n, numbers->at);
}

Error *parse_numbers(Parser *p, const char *what, Numbers *out)
{
    int64_t x;
    TRY(need_mark(p, '[', what));
    if (take_mark(p, ']'))
        return NULL;
    do {
        TRY(need_integer(p, "an integer", &x));
        LIST_ADD(p->arena, out, x);
    } while (take_mark(p, ','));
    return need_mark(p, ']', "after the numbers");
}

/* The entry's name; dictionaries allow strings as names too. */
static Error *parse_key(Parser *p, Str *out)
{
    if (p->token.kind == TOKEN_STRING)
        return need_string(p, "the name of an attribute", out);
    if (p->token.kind != TOKEN_WORD)
        return expected(p, "the name of an attribute");
    *out = str_copy(p->arena, p->token.text);
    advance(p);
    return NULL;
}

Error *parse_entries(Parser *p, AttrDict *dict, char end)
{
    enum { MOST = 4096 };
    if (take_mark(p, end))
        return NULL;
    do {
        Str key;
        const char *where = p->token.text.at;
        const Attr *value = make(p, (Attr){ .kind = ATTR_UNIT });
        TRY(parse_key(p, &key));
        if (take_mark(p, '='))
            TRY(parse_attr(p, &value));
        if (dict->n == MOST)
            return wrong(p, where, "more than %d attributes in one dictionary", MOST);
        attr_set(p->arena, dict, key, value);
    } while (take_mark(p, ','));
    char where[] = "at the end of the attributes";
    return need_mark(p, end, where);
}

Error *parse_dict(Parser *p, AttrDict *dict)
{
    TRY(need_mark(p, '{', "before the attributes"));
    return parse_entries(p, dict, '}');
}

static Error *parse_array(Parser *p, const Attr **out)
{
    LIST(const Attr *) items = { 0 };
    advance(p);
    if (!take_mark(p, ']')) {
        do {
            const Attr *item;
            TRY(parse_attr(p, &item));
            LIST_ADD(p->arena, &items, item);
        } while (take_mark(p, ','));
        TRY(need_mark(p, ']', "at the end of the list"));
    }
    *out = make(p, (Attr){ .kind = ATTR_ARRAY, .n = items.n, .items = items.at });
    return NULL;
}

/* array<i64: 1, 2>: kept as the constant it amounts to. */
static Error *parse_packed(Parser *p, const Attr **out)
{
    Type type;
    advance(p);
    TRY(need_mark(p, '<', "after array"));
    const char *where = p->token.text.at;
    TRY(parse_type(p, &type));
    size_t size = (size_t)element_info[type.element].bytes;
    if (type.rank || element_info[type.element].kind > FLOAT)
        return wrong(p, where, "expected an integer or float type of the elements");
    LIST(char) bytes = { 0 };
    int64_t n = 0;
    if (take_mark(p, ':')) {
        do {
            char one[8] = { 0 };
            TRY(parse_number(p, type.element, one));
            for (size_t i = 0; i < size; i++)
                LIST_ADD(p->arena, &bytes, one[i]);
            n++;
        } while (take_mark(p, ','));
    }
    Dense dense = { .type = type_new(p->arena, type.element, 1, &n), .data = bytes.at };
    *out = make(p, (Attr){ .kind = ATTR_DENSE, .dense = dense });
    return need_mark(p, '>', "at the end of the array");
}

/* 3, -3 : i32, 1.5 : f64, 0x7FC00000 : f32.  Without a type it is an i64 or an f64. */
static Error *parse_scalar(Parser *p, const Attr **out)
{
    Bookmark number = { p->lex.at, p->token };
    take_mark(p, '-');
    bool is_float = p->token.kind == TOKEN_FLOAT;
    advance(p);
    Type type = type_scalar(is_float ? F64 : I64);
    const char *where = p->token.text.at;
    if (take_mark(p, ':'))
        TRY(parse_type(p, &type));
    if (type.rank || element_info[type.element].kind > FLOAT)
        return wrong(p, where, "expected an integer or float type");
    Bookmark behind = { p->lex.at, p->token };
    char bytes[8] = { 0 };
    parser_return(p, number);
    TRY(parse_number(p, type.element, bytes));
    parser_return(p, behind);
    if (element_info[type.element].kind == FLOAT)
        *out = make(p, (Attr){ .kind = ATTR_FLOAT,
                               .element = type.element,
                               .number = number_float(type.element, bytes) });
    else
        *out = make(p, (Attr){ .kind = ATTR_INT,
                               .element = type.element,
                               .integer = number_int(type.element, bytes) });
    return NULL;
}

/* One of [b, 0, 1, f]: where the letters and the numbers stand. */
static Error *parse_conv_side(Parser *p, char first, char second, int64_t *at_first,
                              int64_t *at_second, Numbers *spatial)
{
    int64_t position[MAX_RANK], n = 0;
    memset(position, -1, sizeof position);
    *at_first = *at_second = -1;
    TRY(need_mark(p, '[', "before the dimensions"));
    do {
        int64_t which;
        const char *where = p->token.text.at;
        if (p->token.kind == TOKEN_WORD && p->token.text.n == 1 &&
            (p->token.text.at[0] == first || p->token.text.at[0] == second)) {
            *(p->token.text.at[0] == first ? at_first : at_second) = n++;
            advance(p);
            continue;
        }
        TRY(need_integer(p, "a letter or a number", &which));
        if (which < 0 || which >= MAX_RANK || position[which] >= 0)
            return wrong(p, where, "spatial dimension %lld is out of range or written twice",
                         (long long)which);
        position[which] = n++;
    } while (take_mark(p, ','));
    if (*at_first < 0 || *at_second < 0)
        return expected(p, "both letters of the dimensions before the ']'");
    for (int i = 0; i < MAX_RANK && position[i] >= 0; i++)
        LIST_ADD(p->arena, spatial, position[i]);
    if (spatial->n != n - 2)
        return expected(p, "every spatial dimension before the ']'");
    return need_mark(p, ']', "after the dimensions");
}

Error *parse_conv_numbers(Parser *p, AttrDict *dict)
{
    static const struct {
        char letters[2];
        const char *first, *second, *spatial;
    } sides[3] = {
        { "bf", "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions" },
        { "io", "kernel_input_feature_dimension", "kernel_output_feature_dimension",
          "kernel_spatial_dimensions" },
        { "bf", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions" },
    };
    for (int i = 0; i < 3; i++) {
        int64_t first, second;
        Numbers spatial = { 0 };
        if (i == 1)
            TRY(need_word(p, "x", "between input and kernel"));
        if (i == 2 && p->token.kind != TOKEN_ARROW)
            return expected(p, "'->' before the output");
        if (i == 2)
            advance(p);
        TRY(parse_conv_side(p, sides[i].letters[0], sides[i].letters[1], &first, &second,
                            &spatial));
        attr_set(p->arena, dict, str_of(sides[i].first), attr_int(p->arena, first));
        attr_set(p->arena, dict, str_of(sides[i].second), attr_int(p->arena, second));
        attr_set(p->arena, dict, str_of(sides[i].spatial), numbers_attr(p, &spatial));
    }
    return NULL;
}

/* #stablehlo.dot<...> and its like, as a dictionary of VHLO's names. */
static Error *parse_group(Parser *p, Str name, const Attr **out)
{
    AttrDict dict = { 0 };
    TRY(need_mark(p, '<', "after the attribute's name"));
    if (str_is(name, "#stablehlo.conv")) {
        TRY(parse_conv_numbers(p, &dict));
        TRY(need_mark(p, '>', "after the dimension numbers"));
    } else {
        TRY(parse_entries(p, &dict, '>'));
    }
    for (int i = 0; str_is(name, "#stablehlo.channel_handle") && i < dict.n; i++)
        dict.keys[i] = str_is(dict.keys[i], "handle") ? STR("channel_id")
                       : str_is(dict.keys[i], "type") ? STR("channel_type")
                                                      : dict.keys[i];
    *out = attr_dict(p->arena, &dict);
    return NULL;
}

/* #stablehlo<comparison_direction LT> */
static Error *parse_enum(Parser *p, const Attr **out)
{
    TRY(need_mark(p, '<', "after the attribute's dialect"));
    advance(p);
    if (p->token.kind != TOKEN_WORD)
        return expected(p, "a word");
    *out = attr_word(p->arena, str_copy(p->arena, p->token.text));
    advance(p);
    return need_mark(p, '>', "after the word");
}

/* An attribute that is not ours: its text. */
static Error *parse_foreign(Parser *p, const char *from, const Attr **out)
{
    if (at_mark(p, '<'))
        TRY(skip_balanced(p));
    else
        return wrong(p, from, "an attribute of this name is not defined");
    const char *to = p->token.text.at;
    while (to > from && strchr(" \t\r\n", to[-1]))
        to--;
    *out = attr_word(p->arena, str_copy(p->arena, (Str){ from, (size_t)(to - from) }));
    return NULL;
}

static Error *parse_attr_alias(Parser *p, Token token, Alias *alias, const Attr **out)
{
    if (!alias->attr) {
        if (alias->is_open)
            return wrong(p, token.text.at, "%.*s is defined by itself", STR_ARG(token.text));
        alias->is_open = true;
        Bookmark mark = parser_jump(p, alias->at);
        Error *error = parse_attr(p, &alias->attr);
        parser_return(p, mark);
        alias->is_open = false;
        TRY(error);
    }
    *out = alias->attr;
    return NULL;
}

static Error *parse_sdy_attr(Parser *p, Str name, const Attr **out)
{
    if (str_is(name, "#sdy.sharding")) {
        const Sharding *sharding;
        TRY(parse_sharding(p, &sharding));
        *out = make(p, (Attr){ .kind = ATTR_SHARDING, .sharding = sharding });
        return NULL;
    }
    TRY(need_mark(p, '<', "after the attribute's name"));
    if (str_is(name, "#sdy.sharding_per_value")) {
        TRY(parse_shardings(p, out));
    } else {
        TRY(need_word(p, "manual_axes", "in the attribute"));
        TRY(parse_manual_axes(p, out));
    }
    return need_mark(p, '>', "at the end of the attribute");
}

static Error *parse_hash(Parser *p, const Attr **out)
{
    static const char *const groups[] = {
        "#stablehlo.dot",  "#stablehlo.gather",         "#stablehlo.scatter",
        "#stablehlo.conv", "#stablehlo.channel_handle", "#chlo.ragged_dot"
    };
    static const char *const sdy[] = { "#sdy.sharding", "#sdy.sharding_per_value", "#sdy" };
    Token token = p->token;
    Alias *alias = alias_find(p, token.text);
    advance(p);
    if (alias)
        return parse_attr_alias(p, token, alias, out);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (str_is(token.text, groups[i]))
            return parse_group(p, token.text, out);
    for (size_t i = 0; i < sizeof sdy / sizeof *sdy; i++)
        if (str_is(token.text, sdy[i]))
            return parse_sdy_attr(p, token.text, out);
    if (str_is(token.text, "#stablehlo") || str_is(token.text, "#chlo"))
        return parse_enum(p, out);
    return parse_foreign(p, token.text.at, out);
}

static Error *parse_word_attr(Parser *p, const Attr **out)
{
    const char *where = p->token.text.at;
    if (at_word(p, "dense")) {
        Dense dense;
        TRY(parse_dense(p, &dense));
        *out = make(p, (Attr){ .kind = ATTR_DENSE, .dense = dense });
        return NULL;
    }
    if (at_word(p, "array"))
        return parse_packed(p, out);
    if (at_word(p, "loc")) {
        const Loc *ignored;
        *out = make(p, (Attr){ .kind = ATTR_UNIT });
        return parse_loc(p, &ignored);
    }
    if (take_word(p, "unit")) {
        *out = make(p, (Attr){ .kind = ATTR_UNIT });
        return NULL;
    }
    if (at_word(p, "true") || at_word(p, "false")) {
        *out = attr_bool(p->arena, at_word(p, "true"));
        advance(p);
        return NULL;
    }
    if (at_word(p, "dense_resource") || at_word(p, "sparse") || at_word(p, "opaque"))
        return unsupported(p, where, "attribute %.*s", STR_ARG(p->token.text));
    if (!at_type(p))
        return expected(p, "an attribute");
    Type type;
    TRY(parse_type(p, &type));
    *out = make(p, (Attr){ .kind = ATTR_TYPE, .type = type });
    return NULL;
}

static Error *parse_string_attr(Parser *p, const Attr **out)
{
    Str string;
    Type ignored;
    TRY(need_string(p, "a string", &string));
    *out = attr_string(p->arena, string);
    return take_mark(p, ':') ? parse_type(p, &ignored) : NULL;
}

static Error *parse_symbol_attr(Parser *p, const Attr **out)
{
    Str symbol;
    TRY(need_symbol(p, "a symbol", &symbol));
    *out = attr_string(p->arena, symbol);
    if (at_mark(p, ':'))
        return unsupported(p, p->token.text.at, "a symbol within a symbol");
    return NULL;
}

/* (T, T) -> T, the type of a function: kept as the list of what comes out. */
static Error *parse_function_type(Parser *p, const Attr **out)
{
    Types ignored = { 0 }, results = { 0 };
    LIST(const Attr *) items = { 0 };
    TRY(parse_types(p, &ignored));
    if (p->token.kind != TOKEN_ARROW)
        return expected(p, "'->' before the results");
    advance(p);
    TRY(parse_types(p, &results));
    for (int i = 0; i < results.n; i++)
        LIST_ADD(p->arena, &items, make(p, (Attr){ .kind = ATTR_TYPE, .type = results.at[i] }));
    *out = make(p, (Attr){ .kind = ATTR_ARRAY, .n = items.n, .items = items.at });
    return NULL;
}

static Error *parse_any(Parser *p, const Attr **out)
{
    switch (p->token.kind) {
    case TOKEN_STRING: return parse_string_attr(p, out);
    case TOKEN_SYMBOL: return parse_symbol_attr(p, out);
    case TOKEN_INTEGER:
    case TOKEN_FLOAT: return parse_scalar(p, out);
    case TOKEN_HASH: return parse_hash(p, out);
    case TOKEN_WORD:
    case TOKEN_BANG: return parse_word_attr(p, out);
    default: break;
    }
    if (at_mark(p, '-'))
        return parse_scalar(p, out);
    if (at_mark(p, '['))
        return parse_array(p, out);
    if (at_mark(p, '('))
        return parse_function_type(p, out);
    if (at_mark(p, '{')) {
        AttrDict dict = { 0 };
        TRY(parse_dict(p, &dict));
        *out = attr_dict(p->arena, &dict);
        return NULL;
    }
    return expected(p, "an attribute");
}

Error *parse_attr(Parser *p, const Attr **out)
{
    TRY(nest_deeper(p));
    Error *error = parse_any(p, out);
    leave(p);
    return error;
}
