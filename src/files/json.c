/* json.c - JSON from memory: what a header of a few names and numbers needs of it. */
#include "files/json.h"

#include <string.h>

enum { DEEPEST = 64 };

Error *json_wrong(const Json *j, const char *what)
{
    return error_new(CODE_INVALID, "%s: byte %zu of its header: %s", j->path, j->at, what);
}

char json_peek(Json *j)
{
    while (j->at < j->text.n && strchr(" \t\r\n", j->text.at[j->at]) && j->text.at[j->at])
        j->at++;
    return j->at < j->text.n ? j->text.at[j->at] : 0;
}

bool json_passes(Json *j, char c)
{
    bool is = json_peek(j) == c;
    j->at += is;
    return is;
}

Error *json_expect(Json *j, char c)
{
    char what[] = "' ' is expected";
    what[1] = c;
    return json_passes(j, c) ? NULL : json_wrong(j, what);
}

Error *json_next(Json *j, char end, int *n, bool *more)
{
    *more = !json_passes(j, end);
    if (*more && (*n)++)
        TRY(json_expect(j, ','));
    return NULL;
}

/* ---- strings ---- */

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 32) : NULL;
    return at && (c >= '0') ? (int)(at - digits) : -1;
}

/* Four digits from j->at on. */
static Error *code_unit(Json *j, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        int digit = j->at < j->text.n ? hex_digit(j->text.at[j->at]) : -1;
        if (digit < 0)
            return json_wrong(j, "four hexadecimal digits are expected behind \\u");
        *out = *out * 16 + (uint32_t)digit;
        j->at++;
    }
    return NULL;
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80)
        return to[0] = (char)c, 1;
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        return to[1] = (char)(0x80 | (c & 63)), 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 63));
        return to[2] = (char)(0x80 | (c & 63)), 3;
    }
    to[0] = (char)(0xF0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63));
    return to[3] = (char)(0x80 | (c & 63)), 4;
}

/* A character above 0xFFFF is a pair of escapes. */
static Error *unicode(Json *j, char *to, size_t *n)
{
    uint32_t c, low;
    TRY(code_unit(j, &c));
    if (c >= 0xDC00 && c < 0xE000)
        return json_wrong(j, "half a pair of \\u");
    if (c >= 0xD800 && c < 0xDC00) {
        if (j->at + 2 > j->text.n || memcmp(j->text.at + j->at, "\\u", 2) != 0)
            return json_wrong(j, "half a pair of \\u");
        j->at += 2;
        TRY(code_unit(j, &low));
        if (low < 0xDC00 || low >= 0xE000)
            return json_wrong(j, "half a pair of \\u");
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    *n += put_utf8(to + *n, c);
    return NULL;
}

static Error *escape(Json *j, char *to, size_t *n)
{
    static const char from[] = "\"\\/bfnrt", is[] = "\"\\/\b\f\n\r\t";
    char c = ++j->at < j->text.n ? j->text.at[j->at] : 0;
    const char *at = c ? strchr(from, c) : NULL;
    if (!at && c != 'u')
        return json_wrong(j, "no such escape");
    j->at++;
    if (c == 'u')
        return unicode(j, to, n);
    to[(*n)++] = is[at - from];
    return NULL;
}

Error *json_string(Json *j, Str *out)
{
    TRY(json_expect(j, '"'));
    size_t from = j->at, end = from;
    while (end < j->text.n && j->text.at[end] != '"')
        end += j->text.at[end] == '\\' ? 2 : 1;
    if (end >= j->text.n)
        return json_wrong(j, "a string does not end");
    /* An escape is no shorter than what it stands for. */
    char *to = arena_alloc(j->arena, end - from + 1);
    size_t n = 0;
    while (j->at < end) {
        char c = j->text.at[j->at];
        if ((unsigned char)c < 32)
            return json_wrong(j, "a control character in a string");
        if (c == '\\') {
            TRY(escape(j, to, &n));
        } else {
            to[n++] = c;
            j->at++;
        }
    }
    j->at = end + 1;
    *out = (Str){ to, n };
    return NULL;
}

Error *json_key(Json *j, Str *out)
{
    TRY(json_string(j, out));
    return json_expect(j, ':');
}

void json_write_string(Text *out, Str s)
{
    text_add(out, "\"", 1);
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c < 32)
            text_printf(out, "\\u%04x", c);
        else
            text_add(out, &s.at[i], 1);
    }
    text_add(out, "\"", 1);
}

/* ---- numbers and the rest ---- */

Error *json_integer(Json *j, int64_t *out)
{
    char c = json_peek(j);
    if (c < '0' || c > '9')
        return json_wrong(j, "a whole number from 0 on is expected");
    for (*out = 0; j->at < j->text.n && (c = j->text.at[j->at]) >= '0' && c <= '9'; j->at++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, c - '0', out))
            return json_wrong(j, "the number is too large");
    if (j->at < j->text.n && strchr(".eE", c) && c)
        return json_wrong(j, "a whole number is expected");
    return NULL;
}

static Error *skip_in(Json *j, int depth)
{
    Str ignored;
    bool more;
    int n = 0;
    char first = json_peek(j), end = first == '{' ? '}' : ']';
    if (depth == DEEPEST)
        return json_wrong(j, "values in values, too deep");
    if (first == '"')
        return json_string(j, &ignored);
    if (json_passes(j, '{') || json_passes(j, '[')) {
        for (;;) {
            TRY(json_next(j, end, &n, &more));
            if (!more)
                return NULL;
            if (first == '{')
                TRY(json_key(j, &ignored));
            TRY(skip_in(j, depth + 1));
        }
    }
    size_t from = j->at;
    while (j->at < j->text.n && j->text.at[j->at] && !strchr(",]} \t\r\n", j->text.at[j->at]))
        j->at++;
    return j->at > from ? NULL : json_wrong(j, "a value is expected");
}

Error *json_skip(Json *j)
{
    return skip_in(j, 0);
}
