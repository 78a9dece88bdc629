/* json.c - strings as JSON has them. */
#include "base/json.h"

/* How many bytes the character at s[0] has in UTF-8; 0: it is none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    static const struct {
        unsigned char mask, is, least; /* of the first byte; of the second, where it must be more */
    } forms[] = { { 0x80, 0, 0 }, { 0xe0, 0xc0, 0 }, { 0xf0, 0xe0, 0xa0 }, { 0xf8, 0xf0, 0x90 } };
    for (size_t k = 0; k < 4; k++) {
        if ((s[0] & forms[k].mask) != forms[k].is)
            continue;
        if (k + 1 > n || (k == 1 && s[0] < 0xc2) || s[0] > 0xf4)
            return 0;
        for (size_t i = 1; i <= k; i++)
            if ((s[i] & 0xc0) != 0x80)
                return 0;
        bool is_overlong = (s[0] == 0xe0 || s[0] == 0xf0) && s[1] < forms[k].least;
        bool is_surrogate = s[0] == 0xed && s[1] >= 0xa0;
        bool is_beyond = s[0] == 0xf4 && s[1] >= 0x90;
        return is_overlong || is_surrogate || is_beyond ? 0 : k + 1;
    }
    return 0;
}

void json_put_string(Text *out, Str s)
{
    text_add(out, "\"", 1);
    for (size_t i = 0; i < s.n;) {
        const unsigned char *at = (const unsigned char *)s.at + i;
        size_t n = utf8_length(at, s.n - i);
        if (n == 0)
            text_add(out, "\\ufffd", 6);
        else if (*at == '"' || *at == '\\')
            text_printf(out, "\\%c", *at);
        else if (*at < 0x20 || *at == '<' || *at == 0x7f)
            text_printf(out, "\\u%04x", *at);
        else
            text_add(out, at, n);
        i += n ? n : 1;
    }
    text_add(out, "\"", 1);
}
