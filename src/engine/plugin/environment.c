/* environment.c - TUTTI_TRACE=FILE and TUTTI_PROFILE=1: the whole process is recorded, and shown at its
 * end, whatever program it is. */
#include "engine/plugin/plugin.h"
#include "engine/plugin/statics.h"
#include "engine/profile/views.h"

#include "base/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic bool is_asked;  /* the first client asks */
static const char *trace_file; /* constant once the process records, as are the next two */
static bool has_table;
static pid_t owner; /* 0: nothing is to be shown */
static int process, nprocesses = 1;

static void say(Error *error)
{
    if (error)
        fprintf(stderr, "tutti: %s\n", error_text(error));
    error_free(error);
}

/* Each of several processes has a file of its own: trace.json becomes trace.1.json. */
static void write_trace(void)
{
    char path[4096];
    const char *end = strrchr(trace_file, '.');
    if (nprocesses > 1 && end &&
        (size_t)snprintf(path, sizeof path, "%.*s.%d%s", (int)(end - trace_file), trace_file,
                         process, end) < sizeof path)
        say(profile_write(path));
    else
        say(profile_write(trace_file));
}

static void write_table(void)
{
    if (nprocesses > 1)
        fprintf(stderr, "process %d of %d, with its own devices\n", process, nprocesses);
    char *text = NULL;
    say(profile_table(&text));
    if (text)
        fprintf(stderr, "%s", text);
    heap_free(text);
}

/* A child that was forked leaves the file to its parent. */
void environment_show(void)
{
    if (getpid() != owner)
        return;
    owner = 0;
    record_stop();
    if (trace_file)
        write_trace();
    if (has_table)
        write_table();
}

Error *environment_record(void)
{
    const char *file = getenv("TUTTI_TRACE"), *table = getenv("TUTTI_PROFILE");
    bool wants_table = table && *table && strcmp(table, "0") != 0;
    bool wants_file = file && *file;
    if (!wants_file && !wants_table)
        return NULL;
    if (wants_file) {
        Error *error = profile_check(file);
        if (error)
            return error_in(error, "TUTTI_TRACE");
    }
    /* relaxed: one of those that ask at once goes on */
    if (atomic_exchange_explicit(&is_asked, true, memory_order_relaxed))
        return NULL;
    trace_file = wants_file ? file : NULL;
    has_table = wants_table;
    owner = getpid();
    if (!at_exit(environment_show))
        return error_new(CODE_EXHAUSTED, "no memory to record");
    return record_begin();
}

void environment_joins(int own, int all)
{
    process = own;
    nprocesses = all;
}
