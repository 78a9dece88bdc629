/* text.c - growing strings and printing of lists. */
#include "base/text.h"

#include "base/arena.h"
#include "base/fail.h"
#include "base/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool str_equal(Str a, Str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

bool str_is(Str a, const char *b)
{
    return str_equal(a, str_of(b));
}

bool cstr_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

Str str_of(const char *cstr)
{
    return (Str){ cstr, strlen(cstr) };
}

Str str_copy(Arena *arena, Str s)
{
    char *at = arena_alloc(arena, s.n + 1);
    if (s.n)
        memcpy(at, s.at, s.n);
    at[s.n] = 0;
    return (Str){ at, s.n };
}

/* Makes room for n more bytes and a NUL; false: there is none, and a message ends here. */
static bool make_room(Text *text, size_t n)
{
    if (text->room - text->n > n)
        return true;
#ifdef TUTTI_HOSTILE /* tests/hostile: a text moves whenever it grows */
    size_t room = text->n + n + 1;
#else
    size_t room = (text->n + n + 1) * 2;
#endif
    char *longer = text->is_message ? heap_try(room) : heap_resize(text->at, room, "a text");
    if (!longer)
        return false;
    if (text->is_message) {
        memcpy(longer, text_cstr(text), text->n + 1);
        heap_free(text->at);
    }
    text->at = longer;
    text->room = room;
    return true;
}

void text_vprintf(Text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    require(n >= 0);
    if (make_room(text, (size_t)n)) {
        vsnprintf(text->at + text->n, (size_t)n + 1, format, again);
        text->n += (size_t)n;
    }
    va_end(again);
}

void text_printf(Text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vprintf(text, format, args);
    va_end(args);
}

void text_add(Text *text, const void *bytes, size_t n)
{
    if (!make_room(text, n))
        return;
    if (n)
        memcpy(text->at + text->n, bytes, n);
    text->n += n;
    text->at[text->n] = 0;
}

void text_folder(Text *text, const char *path)
{
    const char *end = strrchr(path, '/');
    text_printf(text, "%.*s", end ? (int)(end - path) : 1, end ? path : ".");
}

void text_ints(Text *text, const int64_t *at, int n)
{
    for (int i = 0; i < n; i++)
        text_printf(text, "%s%" PRId64, i ? ", " : "", at[i]);
}

const char *text_cstr(const Text *text)
{
    return text->at ? text->at : "";
}

void text_free(Text *text)
{
    heap_free(text->at);
    *text = (Text){ 0 };
}
