/* no_recorder.c - in the place of profile/record.c: nothing is ever recorded here. */
#include "engine/profile/record.h"

_Atomic int recorder_is_on;

void record_add(const Record *record)
{
    (void)record;
}

uint32_t record_new_run(void)
{
    return 0;
}

uint32_t record_program(const Program *p, const LocTable *locs)
{
    (void)p, (void)locs;
    return 0;
}

int32_t record_name(Str name)
{
    (void)name;
    return 0;
}

void record_end(uint64_t begin, RecordKind kind, Str name, int device, size_t bytes)
{
    (void)begin, (void)kind, (void)name, (void)device, (void)bytes;
}

void record_memory(int device, size_t bytes)
{
    (void)device, (void)bytes;
}
