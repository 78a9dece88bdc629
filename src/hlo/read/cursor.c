/* cursor.c - the primitives of MLIR bytecode.
 *
 * A varint's first byte says how long it is by its trailing zeros:
 *
 *   xxxxxxx1                      7 bits
 *   xxxxxx10 xxxxxxxx            14 bits, and so on to
 *   10000000 and 7 bytes         56 bits
 *   00000000 and 8 bytes         64 bits */
#include "hlo/read/cursor.h"

#include <limits.h>

Error *cursor_error(const Cursor *c, const char *expected, ...)
{
    Text text = { 0 };
    va_list args;
    va_start(args, expected);
    text_vprintf(&text, expected, args);
    va_end(args);
    Error *error = error_new(CODE_INVALID, "%s: byte %zu: expected %s", c->name, cursor_offset(c),
                             text_cstr(&text));
    text_free(&text);
    return error;
}

Error *take_byte(Cursor *c, uint8_t *out)
{
    if (c->at == c->end)
        return cursor_error(c, "a byte, but there is no more");
    *out = *c->at++;
    return NULL;
}

Error *take_varint(Cursor *c, uint64_t *out)
{
    if (c->at == c->end)
        return cursor_error(c, "a number, but there is no more");
    unsigned first = *c->at;
    size_t more = first ? (size_t)__builtin_ctz(first) : 8;
    if (cursor_left(c) < more + 1)
        return cursor_error(c, "a number of %zu bytes, but there are %zu", more + 1,
                            cursor_left(c));
    uint64_t value = 0;
    for (size_t i = more; i > 0; i--)
        value = value << 8 | c->at[i];
    /* The bits of the first byte above its lowest set bit come first. */
    *out = more == 8 ? value : value << (7 - more) | first >> (more + 1);
    c->at += more + 1;
    return NULL;
}

Error *take_signed(Cursor *c, int64_t *out)
{
    uint64_t u;
    TRY(take_varint(c, &u));
    *out = (int64_t)(u >> 1 ^ -(u & 1));
    return NULL;
}

Error *take_flagged(Cursor *c, uint64_t *value, bool *flag)
{
    uint64_t u;
    TRY(take_varint(c, &u));
    *value = u >> 1;
    *flag = u & 1;
    return NULL;
}

Error *take_index(Cursor *c, const char *what, uint32_t limit, uint32_t *out)
{
    Cursor before = *c;
    uint64_t u;
    TRY(take_varint(c, &u));
    if (u >= limit)
        return cursor_error(&before, "the number of %s below %u, got %llu", what, limit,
                            (unsigned long long)u);
    *out = (uint32_t)u;
    return NULL;
}

Error *take_count(Cursor *c, const char *what, int *out)
{
    Cursor before = *c;
    uint64_t u;
    TRY(take_varint(c, &u));
    if (u > cursor_left(c) || u > INT_MAX)
        return cursor_error(&before, "a count of %s that fits the %zu bytes left, got %llu", what,
                            cursor_left(c), (unsigned long long)u);
    *out = (int)u;
    return NULL;
}

Error *take_span(Cursor *c, const char *what, uint64_t n, Cursor *out)
{
    if (n > cursor_left(c))
        return cursor_error(c, "%llu bytes of %s, but there are %zu", (unsigned long long)n, what,
                            cursor_left(c));
    *out = *c;
    out->end = c->at + n;
    c->at += n;
    return NULL;
}

Error *take_blob(Cursor *c, const char *what, Cursor *out)
{
    uint64_t n;
    TRY(take_varint(c, &n));
    return take_span(c, what, n, out);
}

Error *take_end(const Cursor *c, const char *what)
{
    return c->at == c->end
               ? NULL
               : cursor_error(c, "the end of %s, but %zu bytes follow", what, cursor_left(c));
}
