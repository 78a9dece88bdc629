/* parse_type.c - types: tensor<4x2xf32>, !stablehlo.token, aliases, and lists of them.
 *
 * The extents of a shape run together with the element type (4x2xf32), so what stands in the
 * brackets is scanned by characters.  The bytes of a type must stay below 2^62: nothing after
 * the reader asks again. */
#include "hlo/read/parse.h"

#include <string.h>

bool at_type(const Parser *p)
{
    if (p->token.kind == TOKEN_BANG)
        return true;
    static const char *const words[] = { "tensor",  "tuple",  "none",  "index",
                                         "complex", "vector", "memref" };
    Element e;
    if (p->token.kind != TOKEN_WORD)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(p->token.text, words[i]))
            return true;
    return element_find(p->token.text, &e);
}

static Error *element_named(Parser *p, Str name, Element *out)
{
    if (str_is(name, "index")) { /* of attributes only; as wide as i64 */
        *out = I64;
        return NULL;
    }
    if (element_find(name, out))
        return NULL;
    return unsupported(p, name.at, "element type %.*s", STR_ARG(name));
}

/* f32, complex<f32>, !quant.uniform<...>: what the token is the start of. */
static Error *parse_element(Parser *p, Element *out)
{
    if (p->token.kind == TOKEN_BANG)
        return unsupported(p, p->token.text.at, "element type %.*s", STR_ARG(p->token.text));
    if (p->token.kind != TOKEN_WORD)
        return expected(p, "an element type");
    Str name = p->token.text;
    advance(p);
    if (!str_is(name, "complex"))
        return element_named(p, name, out);
    TRY(need_mark(p, '<', "after complex"));
    Str part = p->token.text;
    *out = str_is(part, "f32") ? C64 : C128;
    if (!str_is(part, "f32") && !str_is(part, "f64"))
        return unsupported(p, name.at, "complex<%.*s>", STR_ARG(part));
    advance(p);
    return need_mark(p, '>', "after the type of the parts");
}

/* One extent and its x, from the characters at the lexer; false: there is none. */
static bool scan_extent(const char **at, const char *end, int64_t *extent, bool *too_big)
{
    const char *c = *at;
    *extent = DYNAMIC;
    if (c < end && *c == '?') {
        c++;
    } else {
        int64_t n = 0;
        const char *first = c;
        for (; c < end && *c >= '0' && *c <= '9'; c++)
            if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *c - '0', &n))
                *too_big = true;
        if (c == first)
            return false;
        *extent = n;
    }
    if (c == end || *c != 'x')
        return false;
    *at = c + 1;
    return true;
}

static Error *check_size(Parser *p, const char *where, Type t)
{
    if (type_is_possible(t))
        return NULL;
    return wrong(p, where, "the type %s is too large to have a size", type_name(t));
}

static Error *parse_tensor(Parser *p, const char *where, Type *out)
{
    int64_t dims[MAX_RANK];
    int rank = 0;
    if (!at_mark(p, '<'))
        return expected(p, "'<' after tensor");
    /* The token < is the last thing lexed: the characters behind it are untouched. */
    bool too_big = false;
    int64_t extent;
    if (p->lex.at < p->lex.end && *p->lex.at == '*')
        return unsupported(p, where, "tensors without a rank");
    while (scan_extent(&p->lex.at, p->lex.end, &extent, &too_big)) {
        if (rank == MAX_RANK)
            return unsupported(p, where, "a tensor of more than %d dimensions", MAX_RANK);
        if (too_big)
            return wrong(p, where, "an extent of this tensor is too large");
        dims[rank++] = extent;
    }
    advance(p);
    Element element;
    TRY(parse_element(p, &element));
    if (at_mark(p, ','))
        return unsupported(p, p->token.text.at, "an encoding in a tensor type");
    TRY(need_mark(p, '>', "at the end of the tensor type"));
    *out = type_new(p->arena, element, rank, dims);
    return check_size(p, where, *out);
}

static Error *parse_named_type(Parser *p, Type *out)
{
    Token token = p->token;
    Alias *alias = alias_find(p, token.text);
    advance(p);
    if (str_is(token.text, "!stablehlo.token")) {
        *out = type_scalar(TOKEN);
        return NULL;
    }
    if (str_is(token.text, "!stablehlo.future")) { /* it has the type of what it will be */
        TRY(need_mark(p, '<', "after future"));
        if (p->token.kind == TOKEN_BANG)
            return unsupported(p, token.text.at, "a future of what is no array");
        TRY(parse_type(p, out));
        if (at_mark(p, ','))
            return unsupported(p, token.text.at, "a future of several arrays");
        return need_mark(p, '>', "after the type of the future");
    }
    if (!alias)
        return unsupported(p, token.text.at, "type %.*s", STR_ARG(token.text));
    if (!alias->is_known) {
        if (alias->is_open)
            return wrong(p, token.text.at, "%.*s is defined by itself", STR_ARG(token.text));
        alias->is_open = true;
        Bookmark mark = parser_jump(p, alias->at);
        Error *error = parse_type(p, &alias->type);
        parser_return(p, mark);
        alias->is_open = false;
        TRY(error);
        alias->is_known = true;
    }
    *out = alias->type;
    return NULL;
}

/* tuple<T, U> */
static Error *parse_tuple(Parser *p, Type *out)
{
    Types fields = { 0 };
    int types = 0;
    const char *where = p->token.text.at;
    TRY(nest_deeper(p));
    TRY(need_mark(p, '<', "after tuple"));
    while (!take_mark(p, '>')) {
        Type type;
        if (fields.n)
            TRY(need_mark(p, ',', "between the types of the tuple"));
        TRY(parse_type(p, &type));
        LIST_ADD(p->arena, &fields, type);
        if ((types += type_types(type)) > MOST_TYPES)
            return unsupported(p, where, "a tuple of more than %d types", MOST_TYPES);
    }
    leave(p);
    *out = type_tuple(p->arena, fields.n, fields.at);
    return NULL;
}

Error *parse_type(Parser *p, Type *out)
{
    const char *where = p->token.text.at;
    if (p->token.kind == TOKEN_BANG)
        return parse_named_type(p, out);
    if (take_word(p, "tensor"))
        return parse_tensor(p, where, out);
    if (!at_type(p))
        return expected(p, "a type");
    if (take_word(p, "tuple"))
        return parse_tuple(p, out);
    if (at_word(p, "none") || at_word(p, "vector") || at_word(p, "memref"))
        return unsupported(p, where, "type %.*s", STR_ARG(p->token.text));
    Element element;
    TRY(parse_element(p, &element));
    *out = type_scalar(element);
    return NULL;
}

Error *parse_types(Parser *p, Types *out)
{
    Type type;
    if (!take_mark(p, '(')) {
        TRY(parse_type(p, &type));
        LIST_ADD(p->arena, out, type);
        return NULL;
    }
    if (take_mark(p, ')'))
        return NULL;
    do {
        TRY(parse_type(p, &type));
        LIST_ADD(p->arena, out, type);
    } while (take_mark(p, ','));
    return need_mark(p, ')', "after the types");
}

/*   T, T        T, T -> T        (T, T) -> T        (T, T) -> (T, T)        () -> () */
Error *parse_signature(Parser *p, Draft *d)
{
    if (p->token.kind == TOKEN_VALUE)
        return expected(p, "',' between operands or ':' before the type");
    TRY(need_mark(p, ':', "before the type"));
    TRY(parse_types(p, &d->listed));
    while (take_mark(p, ','))
        TRY(parse_types(p, &d->listed));
    d->has_arrow = p->token.kind == TOKEN_ARROW;
    if (!d->has_arrow)
        return NULL;
    advance(p);
    return parse_types(p, &d->results);
}
