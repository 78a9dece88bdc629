/* lex.c - MLIR text as tokens.
 *
 * Bytes in, one token at a time out; blanks and // comments between them are passed over.
 * A token is a piece of the source, so nothing is allocated; what a string or a number means
 * is the parser's to say.  Shapes (4x2xf32) are no tokens: the parser scans them itself. */
#include "hlo/read/lex.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '$' || c == '.';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static void skip_blanks(Lexer *lex)
{
    while (lex->at < lex->end) {
        char c = *lex->at;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            lex->at++;
        } else if (c == '/' && lex->end - lex->at > 1 && lex->at[1] == '/') {
            const char *line_end = memchr(lex->at, '\n', (size_t)(lex->end - lex->at));
            lex->at = line_end ? line_end : lex->end;
        } else {
            return;
        }
    }
}

/* From the opening quote to behind the closing one; false when there is none. */
static bool skip_string(Lexer *lex)
{
    for (lex->at++; lex->at < lex->end && *lex->at != '\n'; lex->at++) {
        if (*lex->at == '"') {
            lex->at++;
            return true;
        }
        if (*lex->at == '\\' && lex->end - lex->at > 1)
            lex->at++;
    }
    return false;
}

static TokenKind lex_number(Lexer *lex)
{
    if (lex->end - lex->at > 2 && lex->at[0] == '0' && lex->at[1] == 'x' && is_hex(lex->at[2])) {
        for (lex->at += 2; lex->at < lex->end && is_hex(*lex->at);)
            lex->at++;
        return TOKEN_INTEGER;
    }
    while (lex->at < lex->end && is_digit(*lex->at))
        lex->at++;
    if (lex->at == lex->end || *lex->at != '.')
        return TOKEN_INTEGER;
    for (lex->at++; lex->at < lex->end && is_digit(*lex->at);)
        lex->at++;
    const char *exponent = lex->at;
    if (exponent < lex->end && (*exponent == 'e' || *exponent == 'E')) {
        exponent++;
        if (exponent < lex->end && (*exponent == '+' || *exponent == '-'))
            exponent++;
        if (exponent < lex->end && is_digit(*exponent))
            for (lex->at = exponent; lex->at < lex->end && is_digit(*lex->at);)
                lex->at++;
    }
    return TOKEN_FLOAT;
}

/* What follows % @ # ! ^: digits, or a word in which a dash may stand too. */
static TokenKind lex_prefixed(Lexer *lex, TokenKind kind)
{
    const char *first = ++lex->at;
    if (kind == TOKEN_SYMBOL && lex->at < lex->end && *lex->at == '"')
        return skip_string(lex) ? kind : TOKEN_BAD;
    bool dashes = kind == TOKEN_VALUE || kind == TOKEN_CARET;
    if (lex->at < lex->end && is_digit(*lex->at)) {
        while (lex->at < lex->end && is_digit(*lex->at))
            lex->at++;
    } else {
        while (lex->at < lex->end && (is_word(*lex->at) || (dashes && *lex->at == '-')))
            lex->at++;
    }
    return lex->at > first ? kind : TOKEN_BAD;
}

static TokenKind lex_kind(Lexer *lex)
{
    char c = *lex->at;
    if (is_letter(c)) {
        while (lex->at < lex->end && is_word(*lex->at))
            lex->at++;
        return TOKEN_WORD;
    }
    if (is_digit(c))
        return lex_number(lex);
    switch (c) {
    case '"': return skip_string(lex) ? TOKEN_STRING : TOKEN_BAD;
    case '%': return lex_prefixed(lex, TOKEN_VALUE);
    case '@': return lex_prefixed(lex, TOKEN_SYMBOL);
    case '#': return lex_prefixed(lex, TOKEN_HASH);
    case '!': return lex_prefixed(lex, TOKEN_BANG);
    case '^': return lex_prefixed(lex, TOKEN_CARET);
    default: break;
    }
    if (c == '-' && lex->end - lex->at > 1 && lex->at[1] == '>') {
        lex->at += 2;
        return TOKEN_ARROW;
    }
    lex->at++;
    return c && strchr("()[]{}<>,:=-+*?|/&;", c) ? TOKEN_MARK : TOKEN_BAD;
}

Token lex_next(Lexer *lex)
{
    skip_blanks(lex);
    const char *first = lex->at;
    TokenKind kind = first == lex->end ? TOKEN_END : lex_kind(lex);
    return (Token){ kind, { first, (size_t)(lex->at - first) } };
}

void lex_place(Lexer *lex, const char *at, int *line, int *column)
{
    if (!lex->line_start || at < lex->line_start) {
        lex->line_start = lex->start;
        lex->line = 1;
    }
    while (lex->line_start < at) {
        const char *newline = memchr(lex->line_start, '\n', (size_t)(at - lex->line_start));
        if (!newline)
            break;
        lex->line_start = newline + 1;
        lex->line++;
    }
    *line = lex->line;
    *column = (int)(at - lex->line_start) + 1;
}
