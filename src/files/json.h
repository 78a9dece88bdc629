/* json.h - JSON read from memory, piece by piece, as the caller expects it. */
#ifndef TUTTI_FILES_JSON_H
#define TUTTI_FILES_JSON_H
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

/* Where a reader is.  Strings that have escapes are made in the arena. */
typedef struct Json {
    Str text;
    size_t at;
    const char *path; /* for messages */
    Arena *arena;
} Json;

/* The next character that is no space; 0: the end. */
char json_peek(Json *j);
/* Is it this one?  Then it is passed. */
bool json_passes(Json *j, char c);
/* It must be this one. */
MUST_USE Error *json_expect(Json *j, char c);
/* In an object or an array behind its first brace: is there a further member?  *n counts them. */
MUST_USE Error *json_next(Json *j, char end, int *n, bool *more);
MUST_USE Error *json_string(Json *j, Str *out);
MUST_USE Error *json_integer(Json *j, int64_t *out); /* from 0 on */
MUST_USE Error *json_key(Json *j, Str *out);         /* a string and a colon */
MUST_USE Error *json_skip(Json *j);                  /* any value */
MUST_USE Error *json_wrong(const Json *j, const char *what);

void json_write_string(Text *out, Str s);
#endif
