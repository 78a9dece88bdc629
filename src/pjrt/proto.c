/* proto.c - protocol buffers, read and written by hand.
 *
 * A message is a list of fields: a tag (number << 3 | wire type), then a varint, eight bytes, four
 * bytes, or a length and that many bytes.  Unknown fields are passed over; repeated numbers may
 * come packed (one length and many varints) or one by one.  The reader never looks past the bytes
 * it was given: a field that does not fit is an error that names the message. */
#include "pjrt/proto.h"

#include <limits.h>
#include <string.h>

ProtoReader proto_read(Str bytes, const char *message)
{
    const unsigned char *at = (const unsigned char *)bytes.at;
    return (ProtoReader){ .at = at, .end = at + bytes.n, .message = message };
}

static uint64_t read_varint(ProtoReader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (r->at == r->end)
            break;
        unsigned char byte = *r->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    r->is_broken = true;
    return 0;
}

static bool skip(ProtoReader *r, uint64_t n)
{
    if (n > (uint64_t)(r->end - r->at))
        r->is_broken = true;
    else
        r->at += n;
    return !r->is_broken;
}

bool proto_next(ProtoReader *r, ProtoField *f)
{
    if (r->at == r->end || r->is_broken)
        return false;
    uint64_t tag = read_varint(r);
    *f = (ProtoField){ .number = (int)(tag >> 3 & INT_MAX), .wire = (int)(tag & 7) };
    switch (f->wire) {
    case 0: f->value = read_varint(r); return !r->is_broken;
    case 1: return skip(r, 8);
    case 5: return skip(r, 4);
    case 2: {
        uint64_t n = read_varint(r);
        f->bytes = (Str){ (const char *)r->at, (size_t)n };
        return !r->is_broken && skip(r, n);
    }
    default: r->is_broken = true; return false;
    }
}

Error *proto_end(const ProtoReader *r)
{
    if (!r->is_broken)
        return NULL;
    return error_new(CODE_INVALID, "compile options: the %s is cut short or garbled", r->message);
}

static void numbers_add(Arena *arena, ProtoNumbers *list, int64_t value)
{
    if (list->n == list->room) {
        list->room = list->room ? list->room * 2 : 8;
        int64_t *bigger = ARENA_ARRAY(arena, int64_t, list->room);
        if (list->n)
            memcpy(bigger, list->at, sizeof *bigger * (size_t)list->n);
        list->at = bigger;
    }
    list->at[list->n++] = value;
}

void proto_numbers(Arena *arena, ProtoReader *r, const ProtoField *f, ProtoNumbers *list)
{
    if (f->wire == 0) {
        numbers_add(arena, list, (int64_t)f->value);
        return;
    }
    ProtoReader packed = proto_read(f->bytes, r->message);
    while (packed.at < packed.end && !packed.is_broken)
        numbers_add(arena, list, (int64_t)read_varint(&packed));
    r->is_broken |= packed.is_broken;
}

void proto_put_varint(Text *out, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        bytes[n++] = (unsigned char)(value | 128);
    bytes[n++] = (unsigned char)value;
    text_add(out, bytes, n);
}

void proto_put_number(Text *out, int field, uint64_t value)
{
    proto_put_varint(out, (uint64_t)field << 3);
    proto_put_varint(out, value);
}

void proto_put_double(Text *out, int field, double value)
{
    proto_put_varint(out, (uint64_t)field << 3 | 1);
    text_add(out, &value, sizeof value);
}

void proto_put_bytes(Text *out, int field, Str bytes)
{
    proto_put_varint(out, (uint64_t)field << 3 | 2);
    proto_put_varint(out, bytes.n);
    text_add(out, bytes.at, bytes.n);
}

void proto_put_message(Text *out, int field, Text *message)
{
    proto_put_bytes(out, field, (Str){ message->at, message->n });
    text_free(message);
}

void assignment_write(Text *out, int nreplicas, int npartitions, const int *devices)
{
    proto_put_number(out, 1, (uint64_t)nreplicas);
    proto_put_number(out, 2, (uint64_t)npartitions);
    for (int p = 0; p < npartitions; p++) {
        Text ids = { 0 }, computation = { 0 };
        for (int r = 0; r < nreplicas; r++)
            proto_put_varint(&ids, (uint64_t)devices[r * npartitions + p]);
        proto_put_message(&computation, 1, &ids);
        proto_put_message(out, 3, &computation);
    }
}
