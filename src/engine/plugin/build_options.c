/* build_options.c - how a client wants a program compiled: a CompileOptionsProto, as far as it is
 * heeded. */
#include "engine/plugin/build_options.h"

#include "engine/plugin/xla_flags.h"
#include "pjrt/proto.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const bool *as_bools(Arena *arena, ProtoNumbers list)
{
    bool *at = ARENA_ARRAY(arena, bool, list.n + 1);
    for (int i = 0; i < list.n; i++)
        at[i] = list.at[i] != 0;
    return at;
}

/* The devices come by partition, one message each with its replicas. */
static Error *read_assignment(Arena *arena, Str bytes, BuildOptions *o)
{
    ProtoReader w = proto_read(bytes, "DeviceAssignmentProto");
    ProtoNumbers ids = { 0 };
    int64_t nreplicas = 0, npartitions = 0;
    for (ProtoField f; proto_next(&w, &f);) {
        if (f.number == 1 && f.wire == 0)
            nreplicas = (int64_t)f.value;
        if (f.number == 2 && f.wire == 0)
            npartitions = (int64_t)f.value;
        if (f.number != 3 || f.wire != 2)
            continue;
        ProtoReader inner = proto_read(f.bytes, w.message);
        for (ProtoField id; proto_next(&inner, &id);)
            if (id.number == 1)
                proto_numbers(arena, &inner, &id, &ids);
        w.is_broken |= inner.is_broken;
    }
    TRY(proto_end(&w));
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
    ProtoReader w = proto_read(bytes, "ExecutableBuildOptionsProto");
    ProtoNumbers results = { 0 }, args = { 0 };
    for (ProtoField f; proto_next(&w, &f);) {
        switch (f.number) {
        case 4: o->nreplicas = small_count(f.value); break;
        case 5: o->npartitions = small_count(f.value); break;
        case 9:
            if (f.wire == 2)
                TRY(read_assignment(arena, f.bytes, o));
            break;
        case 12: proto_numbers(arena, &w, &f, &results); break;
        case 18: proto_numbers(arena, &w, &f, &args); break;
        default: break;
        }
    }
    o->nfree_args = args.n;
    o->free_args = as_bools(arena, args);
    o->nfree_results = results.n;
    o->free_results = as_bools(arena, results);
    return proto_end(&w);
}

/* OptionOverrideProto as a bool: 1 string, 2 bool, 3 int64, 4 double. */
static Error *read_bool(Str name, Str bytes, bool *out)
{
    ProtoReader w = proto_read(bytes, "OptionOverrideProto");
    for (ProtoField f; proto_next(&w, &f);) {
        if (f.number == 2 && f.wire == 0) {
            *out = f.value != 0;
            return NULL;
        }
        if (f.number == 1 && f.wire == 2 && (str_is(f.bytes, "true") || str_is(f.bytes, "false"))) {
            *out = str_is(f.bytes, "true");
            return NULL;
        }
        if (f.number == 1 && f.wire == 2)
            return error_new(CODE_INVALID, "compile option %.*s: '%.*s' is not a valid bool value.",
                             STR_ARG(name), STR_ARG(f.bytes));
    }
    TRY(proto_end(&w));
    return error_new(CODE_INVALID, "compile option %.*s: a number is not a valid bool value.",
                     STR_ARG(name));
}

static Error *read_string(Arena *arena, Str name, Str bytes, const char **out)
{
    ProtoReader w = proto_read(bytes, "OptionOverrideProto");
    for (ProtoField f; proto_next(&w, &f);)
        if (f.number == 1 && f.wire == 2) {
            char *text = arena_alloc(arena, f.bytes.n + 1);
            memcpy(text, f.bytes.at, f.bytes.n);
            *out = text;
            return NULL;
        }
    TRY(proto_end(&w));
    return error_new(CODE_INVALID, "compile option %.*s: it must be a string", STR_ARG(name));
}

/* OptionOverrideProto as a number, which may come as text. */
static Error *check_number(Arena *arena, Str name, Str bytes)
{
    const char *text = NULL;
    char *end = NULL;
    ProtoReader w = proto_read(bytes, "OptionOverrideProto");
    for (ProtoField f; proto_next(&w, &f);)
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
    ProtoReader w = proto_read(bytes, "env_option_overrides");
    Str key = { 0 }, value = { 0 };
    for (ProtoField f; proto_next(&w, &f);) {
        if (f.number == 1 && f.wire == 2)
            key = f.bytes;
        if (f.number == 2 && f.wire == 2)
            value = f.bytes;
    }
    TRY(proto_end(&w));
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
    ProtoReader w = proto_read(bytes, "CompileOptionsProto");
    for (ProtoField f; proto_next(&w, &f);) {
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
    TRY(proto_end(&w));
    if (o.nreplicas < 0 || o.npartitions < 0)
        return error_new(CODE_INVALID, "compile options: a negative number of devices");
    *out = o;
    return NULL;
}
