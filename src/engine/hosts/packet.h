/* packet.h - what processes write to one another: a head of 64 bytes, and what follows it. */
#ifndef TUTTI_ENGINE_HOSTS_PACKET_H
#define TUTTI_ENGINE_HOSTS_PACKET_H
#include "engine/hosts/wire.h"

enum {
    PACKET_MAGIC = 0x74757474,
    PACKET_BODY = 16 << 10, /* bytes that may follow the head */
    PACKET_ANSWER_BYTES = 184,
    PACKET_CLAIM_BYTES = 184,
};

typedef enum PacketKind {
    PACKET_BYTES = 1, /* what is exchanged follows */
    PACKET_TAG,       /* it comes under `tag` */
    PACKET_FAILED,    /* the run has failed, or has ended: the text that follows says so */
    PACKET_ASK,       /* has it begun?  Its devices follow */
    PACKET_ANSWER,    /* whether it has, and what the process waits in follows (ask.c) */
    PACKET_CLAIM,     /* what another process waits in before it comes there follows (circles.c) */
    PACKET_CIRCLE,    /* it waits in a circle: the text that follows says so */
} PacketKind;

typedef struct Packet {
    uint32_t magic;
    uint16_t kind, tag;
    WirePlace place;
    uint64_t bytes;     /* exchanged, or of the text */
    uint32_t nmessages; /* that come under the tag */
    char reserved[12];
} Packet;
_Static_assert(sizeof(Packet) == 64, "the head of a packet");

/* Is this, which `n` bytes came of, a packet?  The rest may read its body without a further look. */
static inline bool packet_is_sound(const Packet *l, size_t n)
{
    if (n < sizeof *l || l->magic != PACKET_MAGIC || l->kind < PACKET_BYTES ||
        l->kind > PACKET_CIRCLE)
        return false;
    if (l->kind == PACKET_ANSWER && l->bytes != PACKET_ANSWER_BYTES)
        return false;
    if (l->kind == PACKET_CLAIM && l->bytes != PACKET_CLAIM_BYTES)
        return false;
    return n - sizeof *l == (l->kind == PACKET_TAG ? 0 : l->bytes);
}
#endif
