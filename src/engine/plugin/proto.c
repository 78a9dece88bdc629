/* proto.c - reading and writing protocol buffers by hand.
 *
 * A message is a run of fields: a tag (number << 3 | wire type), then a varint, eight bytes, four
 * bytes, or a length and that many bytes.  Unknown fields are passed over; repeated numbers may
 * come packed (one length and many varints) or one by one.  The reader never looks past the bytes
 * it was given: a field that does not fit is an error that names the message. */
#include "engine/plugin/proto.h"

#include "engine/plugin/xla_flags.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct Wire {
    const unsigned char *at, *end;
    const char *message; /* its name, for complaints */
    bool is_broken;
} Wire;

typedef struct Field {
    int number;
    int wire; /* 0: value; 2: bytes */
    uint64_t value;
    Str bytes;
} Field;

static Wire wire_of(Str bytes, const char *message)
{
    const unsigned char *at = (const unsigned char *)bytes.at;
    return (Wire){ .at = at, .end = at + bytes.n, .message = message };
}

static uint64_t read_varint(Wire *w)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (w->at == w->end)
            break;
        unsigned char byte = *w->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    w->is_broken = true;
    return 0;
}

static bool skip(Wire *w, uint64_t n)
{
    if (n > (uint64_t)(w->end - w->at))
        w->is_broken = true;
    else
        w->at += n;
    return !w->is_broken;
}

/* False at the end, or when it is broken. */
static bool next_field(Wire *w, Field *f)
{
    if (w->at == w->end || w->is_broken)
        return false;
    uint64_t tag = read_varint(w);
    *f = (Field){ .number = (int)(tag >> 3 & INT_MAX), .wire = (int)(tag & 7) };
    switch (f->wire) {
    case 0: f->value = read_varint(w); return !w->is_broken;
    case 1: return skip(w, 8);
    case 5: return skip(w, 4);
    case 2: {
        uint64_t n = read_varint(w);
        f->bytes = (Str){ (const char *)w->at, (size_t)n };
        return !w->is_broken && skip(w, n);
    }
    default: w->is_broken = true; return false;
    }
}

static Error *wire_end(const Wire *w)
{
    if (!w->is_broken)
        return NULL;
    return error_new(CODE_INVALID, "compile options: the %s is cut short or garbled", w->message);
}

/* A list of numbers that grows by one field, packed or not. */
typedef struct Numbers {
    int n, room;
    int64_t *at;
} Numbers;

static void numbers_add(Arena *arena, Numbers *list, int64_t value)
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

static void numbers_read(Arena *arena, Wire *w, const Field *f, Numbers *list)
{
    if (f->wire == 0) {
        numbers_add(arena, list, (int64_t)f->value);
        return;
    }
    Wire packed = wire_of(f->bytes, w->message);
    while (packed.at < packed.end && !packed.is_broken)
        numbers_add(arena, list, (int64_t)read_varint(&packed));
    w->is_broken |= packed.is_broken;
}

static const bool *as_bools(Arena *arena, Numbers list)
{
    bool *at = ARENA_ARRAY(arena, bool, list.n + 1);
    for (int i = 0; i < list.n; i++)
        at[i] = list.at[i] != 0;
    return at;
}

/* The devices come by partition, one message each with its replicas. */
static Error *read_assignment(Arena *arena, Str bytes, BuildOptions *o)
{
    Wire w = wire_of(bytes, "DeviceAssignmentProto");
    Numbers ids = { 0 };
    int64_t nreplicas = 0, npartitions = 0;
    for (Field f; next_field(&w, &f);) {
        if (f.number == 1 && f.wire == 0)
            nreplicas = (int64_t)f.value;
        if (f.number == 2 && f.wire == 0)
            npartitions = (int64_t)f.value;
        if (f.number != 3 || f.wire != 2)
            continue;
        Wire inner = wire_of(f.bytes, w.message);
        for (Field id; next_field(&inner, &id);)
            if (id.number == 1)
                numbers_read(arena, &inner, &id, &ids);
        w.is_broken |= inner.is_broken;
    }
    TRY(wire_end(&w));
    if (nreplicas < 1 || npartitions < 1 || nreplicas > INT_MAX || npartitions > INT_MAX ||
        nreplicas * npartitions != ids.n)
        return error_new(CODE_INVALID,
                         "compile options: a device assignment of %" PRId64 " replicas by %" PRId64
                         " partitions lists %d devices",
                         nreplicas, npartitions, ids.n);
    int *devices = ARENA_ARRAY(arena, int, ids.n);
    for (int64_t r = 0; r < nreplicas; r++)
        for (int64_t p = 0; p < npartitions; p++) {
            int64_t id = ids.at[p * nreplicas + r];
            devices[r * npartitions + p] = id < 0 || id > INT_MAX ? -1 : (int)id;
        }
    o->devices = devices;
    o->ndevices = ids.n;
    return NULL;
}

static int small_count(uint64_t value)
{
    return value > INT_MAX ? -1 : (int)value;
}

/* ExecutableBuildOptionsProto.  What shapes nothing here (debug options, layouts, levels of
 * effort) is passed over. */
static Error *read_build_options(Arena *arena, Str bytes, BuildOptions *o)
{
    Wire w = wire_of(bytes, "ExecutableBuildOptionsProto");
    Numbers results = { 0 }, args = { 0 };
    for (Field f; next_field(&w, &f);) {
        switch (f.number) {
        case 4: o->nreplicas = small_count(f.value); break;
        case 5: o->npartitions = small_count(f.value); break;
        case 9:
            if (f.wire == 2)
                TRY(read_assignment(arena, f.bytes, o));
            break;
        case 12: numbers_read(arena, &w, &f, &results); break;
        case 18: numbers_read(arena, &w, &f, &args); break;
        default: break;
        }
    }
    o->nfree_args = args.n;
    o->free_args = as_bools(arena, args);
    o->nfree_results = results.n;
    o->free_results = as_bools(arena, results);
    return wire_end(&w);
}

/* OptionOverrideProto as a bool: 1 string, 2 bool, 3 int64, 4 double. */
static Error *read_bool(Str name, Str bytes, bool *out)
{
    Wire w = wire_of(bytes, "OptionOverrideProto");
    for (Field f; next_field(&w, &f);) {
        if (f.number == 2 && f.wire == 0) {
            *out = f.value != 0;
            return NULL;
        }
        if (f.number == 1 && f.wire == 2 &&
            (str_is(f.bytes, "true") || str_is(f.bytes, "false"))) {
            *out = str_is(f.bytes, "true");
            return NULL;
        }
        if (f.number == 1 && f.wire == 2)
            return error_new(CODE_INVALID,
                             "compile option %.*s: '%.*s' is not a valid bool value.",
                             STR_ARG(name), STR_ARG(f.bytes));
    }
    TRY(wire_end(&w));
    return error_new(CODE_INVALID, "compile option %.*s: a number is not a valid bool value.",
                     STR_ARG(name));
}

static Error *read_string(Arena *arena, Str name, Str bytes, const char **out)
{
    Wire w = wire_of(bytes, "OptionOverrideProto");
    for (Field f; next_field(&w, &f);)
        if (f.number == 1 && f.wire == 2) {
            char *text = arena_alloc(arena, f.bytes.n + 1);
            memcpy(text, f.bytes.at, f.bytes.n);
            *out = text;
            return NULL;
        }
    TRY(wire_end(&w));
    return error_new(CODE_INVALID, "compile option %.*s: it must be a string", STR_ARG(name));
}

/* OptionOverrideProto as a number, which may come as text. */
static Error *check_number(Arena *arena, Str name, Str bytes)
{
    const char *text = NULL;
    char *end = NULL;
    Wire w = wire_of(bytes, "OptionOverrideProto");
    for (Field f; next_field(&w, &f);)
        if (f.number == 3 || f.number == 4)
            return NULL;
    TRY(read_string(arena, name, bytes, &text));
    strtod(text, &end);
    if (end == text || *end)
        return error_new(CODE_INVALID, "compile option %.*s: '%s' is not a valid number.",
                         STR_ARG(name), text);
    return NULL;
}

/* A switch of XLA's is checked and means nothing.  The words of the refusal are what clients look
 * for. */
static Error *check_switch(Arena *arena, Str name, Str value)
{
    bool ignored;
    switch (switch_type(name)) {
    case SWITCH_BOOL: return read_bool(name, value, &ignored);
    case SWITCH_NUMBER: return check_number(arena, name, value);
    case SWITCH_ANY: return NULL;
    default: return error_new(CODE_INVALID, "No such compile option: '%.*s'", STR_ARG(name));
    }
}

/* One entry of env_option_overrides: 1 key, 2 value. */
static Error *read_override(Arena *arena, Str bytes, BuildOptions *o)
{
    Wire w = wire_of(bytes, "env_option_overrides");
    Str key = { 0 }, value = { 0 };
    for (Field f; next_field(&w, &f);) {
        if (f.number == 1 && f.wire == 2)
            key = f.bytes;
        if (f.number == 2 && f.wire == 2)
            value = f.bytes;
    }
    TRY(wire_end(&w));
    if (str_is(key, "tutti_evaluate"))
        return read_bool(key, value, &o->evaluate);
    if (str_is(key, "tutti_name"))
        return read_string(arena, key, value, &o->name);
    if (!str_is(key, "tutti_fold"))
        return check_switch(arena, key, value);
    bool folds = true;
    TRY(read_bool(key, value, &folds));
    o->no_fold = !folds;
    return NULL;
}

Error *build_options_read(Arena *arena, Str bytes, BuildOptions *out)
{
    BuildOptions o = { 0 };
    Wire w = wire_of(bytes, "CompileOptionsProto");
    for (Field f; next_field(&w, &f);) {
        if (f.number == 2 && f.value)
            return error_new(CODE_UNIMPLEMENTED,
                             "not supported: compile option parameter_is_tupled_arguments");
        if (f.number == 3 && f.wire == 2)
            TRY(read_build_options(arena, f.bytes, &o));
        if (f.number == 4)
            o.is_portable = f.value != 0;
        if (f.number == 7 && f.wire == 2)
            TRY(read_override(arena, f.bytes, &o));
    }
    TRY(wire_end(&w));
    if (o.nreplicas < 0 || o.npartitions < 0)
        return error_new(CODE_INVALID, "compile options: a negative number of devices");
    *out = o;
    return NULL;
}

static void put_varint(Text *out, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        bytes[n++] = (unsigned char)(value | 128);
    bytes[n++] = (unsigned char)value;
    text_add(out, bytes, n);
}

static void put_number(Text *out, int field, uint64_t value)
{
    put_varint(out, (uint64_t)field << 3);
    put_varint(out, value);
}

static void put_bytes(Text *out, int field, const Text *bytes)
{
    put_varint(out, (uint64_t)field << 3 | 2);
    put_varint(out, bytes->n);
    text_add(out, bytes->at, bytes->n);
}

/* The types of shardings, and of the dimensions behind the array's own. */
enum { REPLICATED = 0, OTHER = 3, UNREDUCED = 6 };

/* Where device d stands among the tiles, and within a tile among its parts. */
static int64_t rank_in(Tiling t, int d)
{
    int64_t at = 0;
    for (int i = 0; i < t.rank; i++)
        at = at * t.tiles[i] + t.tile_of[d * t.rank + i];
    return t.nparts ? at * t.nparts + t.part_of[d] : at;
}

/* How many are behind the array's dimensions: parts, then copies. */
static void put_trailing(Text *out, Tiling t, int64_t copies)
{
    Text types = { 0 };
    if (t.nparts)
        put_varint(&types, UNREDUCED);
    if (t.nparts && copies > 1)
        put_varint(&types, REPLICATED);
    if (t.nparts)
        put_bytes(out, 8, &types);
    else if (copies > 1)
        put_number(out, 6, true);
    text_free(&types);
}

/* The tiles in row-major order, and within a tile the devices that hold it: the list of devices
 * that OpSharding calls the tile assignment.  With more than one device to a tile, a last
 * dimension counts them.
 *
 *   tiles 2x1, devices 0..3 with tiles 0 1 0 1   ->   dimensions [2,1,2]  devices 0 2 1 3 */
void sharding_write(Text *out, Tiling t)
{
    if (tiling_is_replicated(t))
        return;
    int64_t ntiles = t.nparts ? t.nparts : 1;
    for (int i = 0; i < t.rank; i++)
        ntiles *= t.tiles[i];
    int64_t copies = t.ndevices / ntiles;
    if (t.nparts == t.ndevices) {
        put_number(out, 1, UNREDUCED);
        return;
    }
    Text dims = { 0 }, devices = { 0 };
    for (int i = 0; i < t.rank; i++)
        put_varint(&dims, (uint64_t)t.tiles[i]);
    if (t.nparts)
        put_varint(&dims, (uint64_t)t.nparts);
    if (copies > 1)
        put_varint(&dims, (uint64_t)copies);
    for (int64_t tile = 0; tile < ntiles; tile++)
        for (int d = 0; d < t.ndevices; d++)
            if (rank_in(t, d) == tile)
                put_varint(&devices, (uint64_t)d);
    put_number(out, 1, OTHER);
    put_bytes(out, 3, &dims);
    put_bytes(out, 4, &devices);
    put_trailing(out, t, copies);
    text_free(&dims);
    text_free(&devices);
}

void assignment_write(Text *out, int nreplicas, int npartitions, const int *devices)
{
    put_number(out, 1, (uint64_t)nreplicas);
    put_number(out, 2, (uint64_t)npartitions);
    for (int p = 0; p < npartitions; p++) {
        Text ids = { 0 }, computation = { 0 };
        for (int r = 0; r < nreplicas; r++)
            put_varint(&ids, (uint64_t)devices[r * npartitions + p]);
        put_bytes(&computation, 1, &ids);
        put_bytes(out, 3, &computation);
        text_free(&ids);
        text_free(&computation);
    }
}
