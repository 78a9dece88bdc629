/* cursor.h - reading MLIR bytecode's numbers from bytes that may lie. */
#ifndef TUTTI_HLO_READ_CURSOR_H
#define TUTTI_HLO_READ_CURSOR_H
#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* A span of a file, read from the front.  Nothing reads past the end. */
typedef struct Cursor {
    const char *name;     /* of the program, for messages */
    const uint8_t *start; /* of the file: places in messages count from here */
    const uint8_t *at, *end;
} Cursor;

static inline size_t cursor_left(const Cursor *c)
{
    return (size_t)(c->end - c->at);
}
static inline size_t cursor_offset(const Cursor *c)
{
    return (size_t)(c->at - c->start);
}

/* "jit_f: byte 120: expected <what>". */
MUST_USE Error *cursor_error(const Cursor *c, const char *expected, ...)
    __attribute__((format(printf, 2, 3)));

MUST_USE Error *take_byte(Cursor *c, uint8_t *out);
MUST_USE Error *take_varint(Cursor *c, uint64_t *out);
MUST_USE Error *take_signed(Cursor *c, int64_t *out);                 /* zig-zag */
MUST_USE Error *take_flagged(Cursor *c, uint64_t *value, bool *flag); /* flag in the low bit */
MUST_USE Error *take_index(Cursor *c, const char *what, uint32_t limit, uint32_t *out);
/* How many things of at least one byte each follow; never more than there are bytes. */
MUST_USE Error *take_count(Cursor *c, const char *what, int *out);
MUST_USE Error *take_span(Cursor *c, const char *what, uint64_t n, Cursor *out);
MUST_USE Error *take_blob(Cursor *c, const char *what, Cursor *out); /* size, then bytes */
MUST_USE Error *take_end(const Cursor *c, const char *what);         /* everything has been read */
#endif
