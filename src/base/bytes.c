/* bytes.c - numbers of bytes, as people write them. */
#include "base/bytes.h"

#include <string.h>

bool bytes_parse(const char *text, size_t *out)
{
    static const char units[] = "KMGT";
    size_t value = 0, n = text ? strspn(text, "0123456789") : 0;
    bool is_right = n > 0;
    for (size_t i = 0; i < n && is_right; i++)
        is_right = !__builtin_mul_overflow(value, 10, &value) &&
                   !__builtin_add_overflow(value, (size_t)(text[i] - '0'), &value);
    const char *unit = n && text[n] ? strchr(units, text[n]) : NULL;
    for (const char *u = units; unit && u <= unit && is_right; u++)
        is_right = !__builtin_mul_overflow(value, 1024, &value);
    *out = value;
    return is_right && value && (!text[n] || (unit && !text[n + 1]));
}
