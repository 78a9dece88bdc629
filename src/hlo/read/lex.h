/* lex.h - MLIR text as tokens. */
#ifndef TUTTI_HLO_READ_LEX_H
#define TUTTI_HLO_READ_LEX_H
#include "base/text.h"

typedef enum TokenKind {
    TOKEN_END,     /* of the text */
    TOKEN_BAD,     /* no token starts so, or a string does not end */
    TOKEN_WORD,    /* module, stablehlo.add, f32 */
    TOKEN_INTEGER, /* 12, 0x7F */
    TOKEN_FLOAT,   /* 1.5e+00 */
    TOKEN_STRING,  /* "...", the quotes included */
    TOKEN_VALUE,   /* %name */
    TOKEN_SYMBOL,  /* @name, @"any name" */
    TOKEN_HASH,    /* #name */
    TOKEN_BANG,    /* !name */
    TOKEN_CARET,   /* ^name */
    TOKEN_ARROW,   /* -> */
    TOKEN_MARK     /* one character */
} TokenKind;

typedef struct Token {
    TokenKind kind;
    Str text; /* as written; points into the source */
} Token;

/* Starts with the source in start, at, end and the rest zero. */
typedef struct Lexer {
    const char *start, *at, *end;
    const char *line_start; /* of the last place asked for, */
    int line;               /* and its number, so that places asked in order cost little */
} Lexer;

Token lex_next(Lexer *lex);
/* Where a token stands; both count from 1. */
void lex_place(Lexer *lex, const char *at, int *line, int *column);
#endif
