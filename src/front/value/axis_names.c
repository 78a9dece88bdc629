/* axis_names.c - lists of axis names: "x, y" is read as x and y. */
#include "front/value/axis_names.h"

#include <string.h>

static Str trimmed(Str s)
{
    while (s.n && s.at[0] == ' ')
        s = (Str){ s.at + 1, s.n - 1 };
    while (s.n && s.at[s.n - 1] == ' ')
        s.n--;
    return s;
}

bool axis_names_next(Str *list, Str *name)
{
    if (!list->at)
        return false;
    const char *comma = list->n ? memchr(list->at, ',', list->n) : NULL;
    size_t n = comma ? (size_t)(comma - list->at) : list->n;
    *name = trimmed((Str){ list->at, n });
    *list = comma ? (Str){ comma + 1, list->n - n - 1 } : (Str){ 0 };
    return true;
}

bool axis_names_has(Str list, Str name)
{
    Str one;
    while (axis_names_next(&list, &one))
        if (str_equal(one, name))
            return true;
    return false;
}

Str axis_names_join(Arena *arena, Str list, Str more)
{
    if (!list.at)
        return more;
    Text text = { 0 };
    text_printf(&text, "%.*s,%.*s", STR_ARG(list), STR_ARG(more));
    Str joined = str_copy(arena, (Str){ text.at, text.n });
    text_free(&text);
    return joined;
}

Str axis_names_without(Arena *arena, Str list, Str name)
{
    Str left = { 0 }, one;
    while (axis_names_next(&list, &one))
        if (!str_equal(one, name))
            left = axis_names_join(arena, left, one);
    return left;
}
