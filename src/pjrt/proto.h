/* proto.h - protocol buffers: what PJRT packs compile options, device assignments and shardings in.
 *
 * Both sides of the seam use it: a caller writes its compile options, the engine reads them. */
#ifndef TUTTI_PJRT_PROTO_H
#define TUTTI_PJRT_PROTO_H
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

/* ---- reading ---- */

typedef struct ProtoReader {
    const unsigned char *at, *end;
    const char *message; /* its name, for complaints */
    bool is_broken;
} ProtoReader;

typedef struct ProtoField {
    int number;
    int wire; /* 0: value; 2: bytes */
    uint64_t value;
    Str bytes;
} ProtoField;

/* A list of numbers that grows by one field, packed or not.  Starts as { 0 }. */
typedef struct ProtoNumbers {
    int n, room;
    int64_t *at;
} ProtoNumbers;

/*     ProtoReader r = proto_read(bytes, "CompileOptionsProto");
 *     for (ProtoField f; proto_next(&r, &f);)
 *         ...
 *     TRY(proto_end(&r)); */
ProtoReader proto_read(Str bytes, const char *message);
bool proto_next(ProtoReader *r, ProtoField *f);  /* false: at the end, or broken */
MUST_USE Error *proto_end(const ProtoReader *r); /* NULL: it was read to its end */
void proto_numbers(Arena *arena, ProtoReader *r, const ProtoField *f, ProtoNumbers *list);

/* ---- writing, without memory as text_add does ---- */

void proto_put_varint(Text *out, uint64_t value);
void proto_put_number(Text *out, int field, uint64_t value);
void proto_put_double(Text *out, int field, double value);
void proto_put_bytes(Text *out, int field, Str bytes);
void proto_put_message(Text *out, int field, Text *message); /* frees message */

/* A DeviceAssignmentProto: devices[replica * npartitions + partition]. */
void assignment_write(Text *out, int nreplicas, int npartitions, const int *devices);
#endif
