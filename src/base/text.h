/* text.h - strings: borrowed (Str) and growing (Text). */
#ifndef TUTTI_BASE_TEXT_H
#define TUTTI_BASE_TEXT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Arena;

/* Bytes that another object owns; not NUL-terminated unless said. */
typedef struct Str {
    const char *at;
    size_t n;
} Str;

#define STR(literal) ((Str){ (literal), sizeof(literal) - 1 })
#define STR_ARG(s) (int)(s).n, (s).at /* for "%.*s" */

bool str_equal(Str a, Str b);
bool str_is(Str a, const char *b);
Str str_of(const char *cstr);
bool cstr_ends_with(const char *s, const char *end);
Str str_copy(struct Arena *arena, Str s); /* the copy is NUL-terminated */

/* Starts as { 0 }; the function that declares it frees it by text_free. */
typedef struct Text {
    char *at;
    size_t n, room;
    bool is_message; /* without memory it stays shorter, and no guard is left */
} Text;

void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(Text *text, const char *format, va_list args);
void text_add(Text *text, const void *bytes, size_t n);
/* The folder of a file: that before the last slash, or "." where there is none. */
void text_folder(Text *text, const char *path);
void text_ints(Text *text, const int64_t *at, int n); /* 1, 2, 3 */
const char *text_cstr(const Text *text);              /* NUL-terminated; "" when empty */
void text_free(Text *text);
#endif
