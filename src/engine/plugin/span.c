/* span.c - where the devices of a program are, when other processes have some of them.  A span is made
 * once for a program and its devices, and is the client's for good: its count of launches names runs
 * across processes. */
#include "engine/plugin/plugin.h"

#include "base/table.h"

#include <stdlib.h>

static bool is_elsewhere(const PJRT_Client *client, int n, const int *ids)
{
    for (int d = 0; d < n; d++)
        if (!client->device_list[ids[d]]->engine)
            return true;
    return false;
}

static int count_members(const HostSpan *span, const Group *group)
{
    int n = 0;
    for (int i = 0; i < group->n; i++)
        n += span->task_of[group->members[i]] >= 0;
    return n;
}

static void fill(HostSpan *span, const PJRT_Client *client, const Program *p, const int *ids,
                 int32_t *room)
{
    int n = p->ndevices;
    int32_t *numbers = room, *task_of = numbers + n, *process_of = task_of + n;
    int32_t *names = process_of + n, *nhere_of = names + n;
    for (int d = 0; d < n; d++) {
        const PJRT_Device *device = client->device_list[ids[d]];
        task_of[d] = device->engine ? span->nhere : -1;
        if (device->engine)
            numbers[span->nhere++] = d;
        process_of[d] = device->description.process;
        names[d] = ids[d];
    }
    span->ndevices = n;
    span->numbers = numbers;
    span->task_of = task_of;
    span->process_of = process_of;
    span->ids = names;
    for (int g = 0; g < p->ngroups; g++)
        nhere_of[g] = count_members(span, &p->groups[g]);
    span->nhere_of = nhere_of;
}

Error *span_get(PJRT_Client *client, const Compiled *compiled, const int *ids, HostSpan **out)
{
    const Program *p = compiled->program;
    *out = NULL;
    if (!client->hosts || !is_elsewhere(client, p->ndevices, ids))
        return NULL;
    uint64_t key = hash_bytes(ids, sizeof *ids * (size_t)p->ndevices, compiled->shared->hash);
    *out = wire_find_span(client->hosts->wire, key);
    if (*out)
        return NULL;
    size_t numbers = 4 * (size_t)p->ndevices + (size_t)p->ngroups;
    HostSpan *span = calloc(1, sizeof *span + sizeof(int32_t) * numbers);
    if (!span)
        return error_new(CODE_EXHAUSTED, "no memory to load a program on %d devices", p->ndevices);
    span->wire = client->hosts->wire;
    span->key = key;
    fill(span, client, p, ids, (int32_t *)(span + 1));
    *out = span;
    wire_add_span(span->wire, span);
    return NULL;
}
