/* parse_dense.c - constants: dense<1.5>, dense<[[1, 2], [3, 4]]>, dense<"0x0000803F">.
 *
 * The type stands behind the numbers but says how to read them, so the reader first passes
 * over the brackets, reads the type, and comes back. */
#include "hlo/read/parse.h"

#include "base/guard.h"
#include "ops/number.h"

#include <stdlib.h>
#include <string.h>

/* Decimal or hexadecimal digits as 64 bits; false when there are more. */
static bool read_digits(Str digits, uint64_t *out)
{
    bool is_hex = digits.n > 2 && digits.at[1] == 'x';
    uint64_t value = 0, base = is_hex ? 16 : 10;
    for (size_t i = is_hex ? 2 : 0; i < digits.n; i++) {
        char c = digits.at[i];
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

static Error *set_integer(Parser *p, Element e, bool negative, uint64_t value, void *to)
{
    int bits = element_info[e].bits;
    uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t least = e == I1 ? 1 : element_info[e].kind == UNSIGNED ? 0 : (uint64_t)1 << (bits - 1);
    if (negative ? value > least : value > most)
        return wrong(p, p->token.text.at, "%s%llu does not fit in %s", negative ? "-" : "",
                     (unsigned long long)value, element_info[e].name);
    number_set_int(e, (int64_t)(negative ? 0 - value : value), to);
    return NULL;
}

static Error *set_float(Parser *p, Element e, bool negative, Str text, void *to)
{
    char digits[512];
    if (text.n >= sizeof digits)
        return wrong(p, text.at, "a number of more than %zu digits", sizeof digits - 1);
    memcpy(digits, text.at, text.n);
    digits[text.n] = 0;
    double x = strtod(digits, NULL);
    number_set_float(e, negative ? -x : x, to);
    return NULL;
}

/* Hexadecimal digits where a float is wanted are its bits. */
static Error *set_bits(Parser *p, Element e, Str text, void *to)
{
    uint64_t bits;
    int width = element_info[e].bits;
    if (!read_digits(text, &bits) || (width < 64 && bits >> width))
        return wrong(p, text.at, "%.*s has more bits than %s", STR_ARG(text), element_info[e].name);
    memcpy(to, &bits, (size_t)element_info[e].bytes); /* little endian */
    return NULL;
}

Error *parse_number(Parser *p, Element e, void *to)
{
    bool is_float = element_info[e].kind == FLOAT;
    bool negative = take_mark(p, '-');
    Str text = p->token.text;
    uint64_t value;
    if (!negative && (at_word(p, "true") || at_word(p, "false"))) {
        if (e != I1)
            return expected(p, "a number");
        number_set_int(e, at_word(p, "true"), to);
    } else if (p->token.kind == TOKEN_FLOAT && is_float) {
        TRY(set_float(p, e, negative, text, to));
    } else if (p->token.kind != TOKEN_INTEGER) {
        return expected(p, is_float ? "a number" : "an integer");
    } else if (is_float && text.n > 2 && text.at[1] == 'x') {
        if (negative)
            return expected(p, "a number without hexadecimal digits after the '-'");
        TRY(set_bits(p, e, text, to));
    } else if (is_float) {
        TRY(set_float(p, e, negative, text, to));
    } else {
        if (!read_digits(text, &value))
            return wrong(p, text.at, "an integer of more than 64 bits");
        TRY(set_integer(p, e, negative, value, to));
    }
    advance(p);
    return NULL;
}

static Error *parse_element_value(Parser *p, Element e, char *to)
{
    if (element_info[e].kind != COMPLEX)
        return parse_number(p, e, to);
    Element part = element_part(e);
    TRY(need_mark(p, '(', "before a complex number"));
    TRY(parse_number(p, part, to));
    TRY(need_mark(p, ',', "between the parts of a complex number"));
    TRY(parse_number(p, part, to + element_info[part].bytes));
    return need_mark(p, ')', "after a complex number");
}

/* The list for the dimensions from `axis` on; *to moves over what is filled. */
static Error *parse_nest(Parser *p, Type t, int axis, char **to)
{
    if (axis == t.rank) {
        TRY(parse_element_value(p, t.element, *to));
        *to += element_info[t.element].bytes;
        return NULL;
    }
    const char *where = p->token.text.at;
    TRY(need_mark(p, '[', "before the elements of a dimension"));
    int64_t n = 0;
    if (!take_mark(p, ']')) {
        do {
            if (n == t.dims[axis])
                break;
            TRY(parse_nest(p, t, axis + 1, to));
            n++;
        } while (take_mark(p, ','));
        if (n == t.dims[axis] && !at_mark(p, ']'))
            return wrong(p, where, "more than %lld elements in dimension %d of %s", (long long)n,
                         axis, type_name(t));
        TRY(need_mark(p, ']', "after the elements of a dimension"));
    }
    if (n != t.dims[axis])
        return wrong(p, where, "%lld elements in dimension %d of %s", (long long)n, axis,
                     type_name(t));
    return NULL;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Bytes that were given as hexadecimal digits: one element, or all of them.  Booleans come as
 * bytes, or packed as bits from the lowest up; any byte but 0 is true. */
static bool place_bytes(Parser *p, const char *bytes, size_t n, Dense *out)
{
    Type t = out->type;
    size_t one = (size_t)element_info[t.element].bytes;
    int64_t count = type_count(t);
    bool is_packed = t.element == I1 && n != (size_t)count && n == (size_t)(count + 7) / 8;
    out->is_splat = n == one && count != 0 && !(is_packed && count > 1 && n > 1);
    if (!out->is_splat && n != type_bytes(t) && !is_packed)
        return false;
    char *data = arena_alloc(p->arena, (out->is_splat ? one : type_bytes(t)) + 16);
    out->data = data;
    if (is_packed && !out->is_splat)
        for (int64_t i = 0; i < count; i++)
            data[i] = (bytes[i / 8] >> (i % 8)) & 1;
    else
        memcpy(data, bytes, n);
    for (size_t i = 0; element_info[t.element].bits < 8 && !is_packed && i < n; i++)
        element_info[t.element].kind == FLOAT
            ? number_set_float(t.element, number_float(t.element, data + i), data + i)
            : number_set_int(t.element, data[i], data + i);
    return true;
}

static Error *parse_hex(Parser *p, Dense *out)
{
    Str text = p->token.text; /* "0x...", quotes included */
    if (text.n < 4 || memcmp(text.at, "\"0x", 3) != 0 || text.n % 2 != 0)
        return wrong(p, text.at, "expected \"0x\" and pairs of hexadecimal digits");
    size_t n = (text.n - 4) / 2;
    char *bytes = heap_new(n, "a constant");
    bool is_hex = true;
    for (size_t i = 0; i < n && is_hex; i++) {
        int high = hex_value(text.at[3 + 2 * i]), low = hex_value(text.at[4 + 2 * i]);
        is_hex = high >= 0 && low >= 0;
        bytes[i] = (char)(high * 16 + low);
    }
    bool placed = is_hex && place_bytes(p, bytes, n, out);
    heap_free(bytes);
    if (!is_hex)
        return wrong(p, text.at, "expected \"0x\" and pairs of hexadecimal digits");
    if (!placed)
        return wrong(p, text.at, "%zu bytes for a constant of type %s, which has %zu", n,
                     type_name(out->type), type_bytes(out->type));
    advance(p);
    return NULL;
}

static Error *parse_contents(Parser *p, Dense *out)
{
    Type t = out->type;
    int64_t count = type_count(t);
    if (at_mark(p, '>')) {
        if (count != 0)
            return wrong(p, p->token.text.at, "no elements for a constant of type %s",
                         type_name(t));
        out->data = arena_alloc(p->arena, 16);
        return NULL;
    }
    if (p->token.kind == TOKEN_STRING)
        return parse_hex(p, out);
    out->is_splat = !at_mark(p, '[');
    /* A list of more elements than there is text left is wrong, and no memory is spent. */
    size_t left = (size_t)(p->lex.end - p->lex.at) + 1;
    if (!out->is_splat && (size_t)count > left)
        return wrong(p, p->token.text.at, "not enough elements for a constant of type %s",
                     type_name(t));
    size_t bytes = out->is_splat ? (size_t)element_info[t.element].bytes : type_bytes(t);
    char *data = arena_try(p->arena, bytes + 16);
    if (!data)
        return error_new(CODE_EXHAUSTED, "no memory for a constant of %zu bytes", bytes);
    out->data = data;
    if (out->is_splat)
        return parse_element_value(p, t.element, data);
    return parse_nest(p, t, 0, &data);
}

Error *parse_dense(Parser *p, Dense *out)
{
    advance(p);
    if (!at_mark(p, '<'))
        return expected(p, "'<' after dense");
    Bookmark inside = { p->lex.at, p->token };
    Type type;
    TRY(skip_balanced(p));
    TRY(need_mark(p, ':', "before the type of the constant"));
    const char *where = p->token.text.at;
    TRY(parse_type(p, &type));
    if (!type_is_static(type) || type.element == TOKEN)
        return wrong(p, where, "a constant needs a type with known extents, not %s",
                     type_name(type));
    Bookmark behind = { p->lex.at, p->token };
    parser_return(p, inside);
    advance(p);
    *out = (Dense){ .type = type };
    TRY(parse_contents(p, out));
    TRY(need_mark(p, '>', "at the end of the constant"));
    parser_return(p, behind);
    return NULL;
}
