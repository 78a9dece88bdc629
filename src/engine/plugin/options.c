/* options.c - how many devices a client has: the option num_devices, else TUTTI_DEVICES, else
 * XLA_FLAGS --xla_force_host_platform_device_count=N, else 1; and how much memory each of them may
 * use: the option device_memory, else TUTTI_DEVICE_MEMORY, in bytes or with K, M, G or T behind the
 * number, else no limit; and how long a run may take: the option run_seconds, else TUTTI_RUN_SECONDS, else
 * as long as it does; and what its platform is called: the option platform_name, else "tutti". */
#include "base/bytes.h"
#include "engine/plugin/plugin.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

/* A whole number and nothing after it (or a blank, inside XLA_FLAGS). */
static bool parse_count(const char *text, size_t n, int64_t *out)
{
    int64_t value = 0;
    size_t i = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9' && value < 1000000; i++)
        value = value * 10 + (text[i] - '0');
    *out = value;
    return i > 0 && i == n;
}

static Error *set_count(const char *source, int64_t value, int *ndevices)
{
    if (value < 1 || value > POSSIBLE_DEVICES)
        return error_new(CODE_INVALID, "%s asks for %lld devices; 1 to %d are possible", source,
                         (long long)value, POSSIBLE_DEVICES);
    *ndevices = (int)value;
    return NULL;
}

static Error *count_from_text(const char *source, const char *text, size_t n, int *ndevices)
{
    int64_t value;
    if (!parse_count(text, n, &value))
        return error_new(CODE_INVALID, "%s: '%.*s' is not a number of devices", source, (int)n,
                         text);
    return set_count(source, value, ndevices);
}

static Error *count_from_environment(int *ndevices)
{
    const char *own = getenv("TUTTI_DEVICES");
    if (own && *own)
        return count_from_text("TUTTI_DEVICES", own, strlen(own), ndevices);
    static const char flag[] = "--xla_force_host_platform_device_count=";
    const char *flags = getenv("XLA_FLAGS"), *found = NULL;
    for (const char *at = flags; at && (at = strstr(at, flag)); at += strlen(flag))
        found = at + strlen(flag); /* the last one wins */
    if (found)
        return count_from_text("XLA_FLAGS", found, strcspn(found, " \t\n"), ndevices);
    *ndevices = 1;
    return NULL;
}

static bool is_named(const PJRT_NamedValue *option, const char *name)
{
    return option->name_size == strlen(name) && memcmp(option->name, name, option->name_size) == 0;
}

/* Users type options as text too, so a number may come as a string. */
static Error *count_from_option(const PJRT_NamedValue *option, int *ndevices)
{
    if (option->type == PJRT_NamedValue_kInt64)
        return set_count("num_devices", option->int64_value, ndevices);
    if (option->type == PJRT_NamedValue_kString)
        return count_from_text("num_devices", option->string_value, option->value_size, ndevices);
    return error_new(CODE_INVALID, "num_devices must be a whole number");
}

/* The options of a client that is one of several: JAX says which, our own front leaves it to the
 * launcher.  False: it is none of these. */
static bool read_hosts_option(const PJRT_NamedValue *o, HostsOptions *hosts)
{
    bool is_number = o->type == PJRT_NamedValue_kInt64;
    if (is_named(o, "num_nodes"))
        hosts->nprocesses = is_number ? (int)o->int64_value : 0;
    else if (is_named(o, "node_id"))
        hosts->process = is_number ? (int)o->int64_value : 0;
    else if (is_named(o, "launcher"))
        hosts->uses_launcher = o->type == PJRT_NamedValue_kBool && o->bool_value;
    else
        return is_named(o, "partition_index");
    return true;
}

/* What a run and a device may take.  *is_one: the option is one of these. */
static Error *read_limit(const PJRT_NamedValue *o, Limits *limits, bool *is_one)
{
    bool is_memory = is_named(o, "device_memory"), is_seconds = is_named(o, "run_seconds");
    *is_one = is_memory || is_seconds;
    if (is_memory && (o->type != PJRT_NamedValue_kInt64 || o->int64_value < 1))
        return error_new(CODE_INVALID, "device_memory must be a number of bytes from 1 on");
    if (is_seconds && (o->type != PJRT_NamedValue_kFloat || !(o->float_value > 0)))
        return error_new(CODE_INVALID, "run_seconds must be a number above 0");
    if (is_memory)
        limits->memory = (size_t)o->int64_value;
    if (is_seconds)
        limits->seconds = (double)o->float_value;
    return NULL;
}

static Error *read_platform(const PJRT_NamedValue *o, const char **platform)
{
    static const char *const names[] = { PLATFORM, PLATFORM_CPU };
    for (size_t i = 0; o->type == PJRT_NamedValue_kString && i < 2; i++)
        if (o->value_size == strlen(names[i]) &&
            !memcmp(o->string_value, names[i], o->value_size)) {
            *platform = names[i];
            return NULL;
        }
    return error_new(CODE_INVALID,
                     "platform_name must be \"" PLATFORM "\" or \"" PLATFORM_CPU "\"");
}

static Error *memory_from_environment(size_t *bytes)
{
    const char *text = getenv("TUTTI_DEVICE_MEMORY");
    if (!text || !*text || *bytes)
        return NULL;
    if (!bytes_parse(text, bytes))
        return error_new(CODE_INVALID,
                         "TUTTI_DEVICE_MEMORY: '%s' is not a number of bytes, such as "
                         "1000000 or 512M",
                         text);
    return NULL;
}

static Error *seconds_from_environment(double *seconds)
{
    const char *text = getenv("TUTTI_RUN_SECONDS");
    if (!text || !*text || *seconds)
        return NULL;
    char *end;
    *seconds = strtod(text, &end);
    if (*end || !(*seconds > 0))
        return error_new(CODE_INVALID, "TUTTI_RUN_SECONDS: '%s' is not a number above 0", text);
    return NULL;
}

Error *options_read(const PJRT_NamedValue *options, size_t n, ClientOptions *out)
{
    bool given = false, is_limit;
    HostsOptions *hosts = &out->hosts;
    *out = (ClientOptions){ .ndevices = 1, .platform = PLATFORM };
    for (size_t i = 0; i < n; i++) {
        const PJRT_NamedValue *option = &options[i];
        if (!option->name || (option->type == PJRT_NamedValue_kString && !option->string_value))
            return error_new(CODE_INVALID, "client option %zu: its name or value is NULL", i);
        TRY(read_limit(option, &out->limits, &is_limit));
        if (is_named(option, "num_devices")) {
            TRY(count_from_option(option, &out->ndevices));
            given = true;
        } else if (is_named(option, "platform_name")) {
            TRY(read_platform(option, &out->platform));
        } else if (!is_limit && !read_hosts_option(option, hosts)) {
            return error_new(CODE_INVALID,
                             "unknown client option '%.*s'; there are num_devices, device_memory, "
                             "run_seconds and platform_name",
                             (int)option->name_size, option->name);
        }
    }
    if (hosts->nprocesses < 0 || hosts->nprocesses > POSSIBLE_DEVICES || hosts->process < 0 ||
        (hosts->nprocesses && hosts->process >= hosts->nprocesses))
        return error_new(CODE_INVALID, "client options: node_id is %d, and num_nodes %d",
                         hosts->process, hosts->nprocesses);
    TRY(memory_from_environment(&out->limits.memory));
    TRY(seconds_from_environment(&out->limits.seconds));
    return given ? NULL : count_from_environment(&out->ndevices);
}
