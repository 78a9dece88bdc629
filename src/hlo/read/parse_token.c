/* parse_token.c - the parser's hands: tokens, complaints, strings, aliases. */
#include "hlo/read/parse.h"

#include <stdarg.h>
#include <string.h>

static Text place_text(Parser *p, const char *at)
{
    Text text = { 0 };
    int line, column;
    lex_place(&p->lex, at, &line, &column);
    text_printf(&text, "%.*s:%d:%d", STR_ARG(p->file), line, column);
    return text;
}

Error *wrong(Parser *p, const char *at, const char *format, ...)
{
    Text text = place_text(p, at);
    text_printf(&text, ": ");
    va_list args;
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);
    Error *error = error_new(CODE_INVALID, "%s", text_cstr(&text));
    text_free(&text);
    return error;
}

Error *unsupported(Parser *p, const char *at, const char *format, ...)
{
    Text place = place_text(p, at), text = { 0 };
    va_list args;
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);
    Error *error = error_new(CODE_UNIMPLEMENTED, "not supported: %s (%s)", text_cstr(&text),
                             text_cstr(&place));
    text_free(&text);
    text_free(&place);
    return error;
}

Error *expected(Parser *p, const char *what)
{
    enum { LONGEST = 40 };
    Str found = p->token.text;
    if (p->token.kind == TOKEN_END)
        return wrong(p, found.at, "expected %s, found the end of the text", what);
    bool is_long = found.n > LONGEST;
    if (is_long)
        found.n = LONGEST;
    return wrong(p, found.at, "expected %s, found '%.*s%s'", what, STR_ARG(found),
                 is_long ? "..." : "");
}

void advance(Parser *p)
{
    p->token = lex_next(&p->lex);
}

bool at_mark(const Parser *p, char mark)
{
    return p->token.kind == TOKEN_MARK && p->token.text.at[0] == mark;
}

bool at_word(const Parser *p, const char *word)
{
    return p->token.kind == TOKEN_WORD && str_is(p->token.text, word);
}

bool take_mark(Parser *p, char mark)
{
    bool there = at_mark(p, mark);
    if (there)
        advance(p);
    return there;
}

bool take_word(Parser *p, const char *word)
{
    bool there = at_word(p, word);
    if (there)
        advance(p);
    return there;
}

/* "expected ':' before the type" */
static Error *expected_in(Parser *p, const char *what, const char *where)
{
    Text text = { 0 };
    text_printf(&text, "'%s' %s", what, where);
    Error *error = expected(p, text_cstr(&text));
    text_free(&text);
    return error;
}

Error *need_mark(Parser *p, char mark, const char *where)
{
    char what[] = { mark, 0 };
    return take_mark(p, mark) ? NULL : expected_in(p, what, where);
}

Error *need_word(Parser *p, const char *word, const char *where)
{
    return take_word(p, word) ? NULL : expected_in(p, word, where);
}

Error *need_integer(Parser *p, const char *what, int64_t *out)
{
    Bookmark start = { p->lex.at, p->token };
    take_mark(p, '-');
    if (p->token.kind != TOKEN_INTEGER)
        return expected(p, what);
    parser_return(p, start);
    return parse_number(p, I64, out);
}

Str string_text(Parser *p, Str token)
{
    char *to = arena_alloc(p->arena, token.n + 1);
    size_t n = 0;
    const char *end = token.at + token.n - 1; /* the closing quote */
    for (const char *c = token.at + 1; c < end; c++) {
        static const char digits[] = "0123456789abcdef";
        if (*c != '\\' || c + 1 >= end) {
            to[n++] = *c;
            continue;
        }
        c++;
        const char *high = *c ? strchr(digits, *c | 32) : NULL;
        const char *low = c + 1 < end && c[1] ? strchr(digits, c[1] | 32) : NULL;
        if (high && low) {
            to[n++] = (char)((high - digits) * 16 + (low - digits));
            c++;
        } else {
            to[n++] = *c == 'n' ? '\n' : *c == 't' ? '\t' : *c;
        }
    }
    to[n] = 0;
    return (Str){ to, n };
}

Error *need_string(Parser *p, const char *what, Str *out)
{
    if (p->token.kind != TOKEN_STRING)
        return expected(p, what);
    *out = string_text(p, p->token.text);
    advance(p);
    return NULL;
}

Str symbol_text(Parser *p, Str token)
{
    Str name = { token.at + 1, token.n - 1 };
    return name.n && name.at[0] == '"' ? string_text(p, name) : str_copy(p->arena, name);
}

Error *need_symbol(Parser *p, const char *what, Str *out)
{
    if (p->token.kind != TOKEN_SYMBOL)
        return expected(p, what);
    *out = symbol_text(p, p->token.text);
    advance(p);
    return NULL;
}

Error *nest_deeper(Parser *p)
{
    if (p->depth == MAX_DEPTH)
        return wrong(p, p->token.text.at, "nested more than %d deep", MAX_DEPTH);
    p->depth++;
    return NULL;
}

void leave(Parser *p)
{
    p->depth--;
}

Bookmark parser_jump(Parser *p, const char *at)
{
    Bookmark mark = { p->lex.at, p->token };
    p->lex.at = at;
    advance(p);
    return mark;
}

void parser_return(Parser *p, Bookmark mark)
{
    p->lex.at = mark.at;
    p->token = mark.token;
}

/* What closes a bracket; 0 when c opens none. */
static char partner(char c)
{
    return c == '(' ? ')' : c == '<' ? '>' : c == '[' ? ']' : c == '{' ? '}' : 0;
}

Error *skip_balanced(Parser *p)
{
    enum { DEEPEST = 256 };
    char closing[DEEPEST];
    int depth = 0;
    do {
        char c = p->token.kind == TOKEN_MARK ? p->token.text.at[0] : 0;
        if (p->token.kind == TOKEN_END || p->token.kind == TOKEN_BAD)
            return expected(p, "a closing bracket");
        if (partner(c)) {
            if (depth == DEEPEST)
                return wrong(p, p->token.text.at, "brackets nested more than %d deep", DEEPEST);
            closing[depth++] = partner(c);
        } else if (c == ')' || c == '>' || c == ']' || c == '}') {
            char what[] = { '\'', depth ? closing[depth - 1] : '<', '\'', 0 };
            if (depth == 0 || closing[--depth] != c)
                return expected(p, what);
        }
        advance(p);
    } while (depth);
    return NULL;
}

Alias *alias_find(Parser *p, Str token)
{
    uint64_t index;
    return table_get(&p->alias_names, token.at, token.n, &index) ? &p->aliases.at[index] : NULL;
}
