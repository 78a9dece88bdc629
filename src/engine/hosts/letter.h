/* letter.h - what processes write to one another: a head of 64 bytes, and what follows it. */
#ifndef TUTTI_ENGINE_HOSTS_LETTER_H
#define TUTTI_ENGINE_HOSTS_LETTER_H
#include "engine/hosts/wire.h"

enum {
    LETTER_MAGIC = 0x74757474,
    LETTER_BODY = 16 << 10, /* bytes that may follow the head */
};

typedef enum LetterKind {
    LETTER_BYTES = 1, /* what is exchanged follows */
    LETTER_TAG,       /* it comes under `tag` */
    LETTER_FAILED,    /* the run has failed, or has ended: the text that follows says so */
} LetterKind;

typedef struct Letter {
    uint32_t magic;
    uint16_t kind, tag;
    WirePlace place;
    uint64_t bytes; /* exchanged, or of the text */
    char reserved[16];
} Letter;
_Static_assert(sizeof(Letter) == 64, "the head of a letter");

/* Is this, which `n` bytes came of, a letter?  The rest may read its body without a further look. */
static inline bool letter_is_sound(const Letter *l, size_t n)
{
    if (n < sizeof *l || l->magic != LETTER_MAGIC || l->kind < LETTER_BYTES ||
        l->kind > LETTER_FAILED)
        return false;
    return n - sizeof *l == (l->kind == LETTER_TAG ? 0 : l->bytes);
}
#endif
