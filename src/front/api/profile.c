/* profile.c - public functions to see what a program does: recordings, and ranges that a caller
 * names. */
#include "front/client/client.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include "tutti.h"

#include <stdio.h>
#include <stdlib.h>

/* Ranges of this thread that have not ended, the innermost last.  More are not recorded. */
enum { MOST_RANGES = 64 };
static _Thread_local struct {
    uint64_t begin;
    const char *name;
} ranges[MOST_RANGES];
static _Thread_local int nranges;

void tt_trace_begin(void)
{
    PUBLIC;
    Error *error = client_need();
    const TuttiExtension *engine = NULL;
    if (!error)
        error = client_recorder("tt_trace_begin", &engine);
    if (!error)
        error = client_error(engine->record());
    if (error)
        report_error(error);
}

void tt_trace_end(const char *path)
{
    PUBLIC;
    char *table = NULL;
    const TuttiExtension *engine = NULL;
    Error *error = client_need();
    if (!error)
        error = client_recorder("tt_trace_end", &engine);
    if (!error)
        error = client_error(engine->record_end(path, &table));
    if (table) {
        fputs(table, stderr);
        engine->release(table);
    }
    if (error)
        report_error(error);
}

void tt_range_begin(const char *name)
{
    const TuttiExtension *engine = client_recorder_if_there();
    int i = nranges++;
    if (i >= MOST_RANGES)
        return;
    ranges[i].begin = engine ? engine->range_begin() : 0;
    ranges[i].name = name;
}

void tt_range_end(void)
{
    const TuttiExtension *engine = client_recorder_if_there();
    if (nranges == 0 || --nranges >= MOST_RANGES)
        return;
    if (engine && ranges[nranges].begin)
        engine->range_end(ranges[nranges].begin, ranges[nranges].name);
}

void tt_debug_nans(bool on)
{
    if (on)
        setenv("TUTTI_CHECK", "nans", 1);
    else
        unsetenv("TUTTI_CHECK");
}
