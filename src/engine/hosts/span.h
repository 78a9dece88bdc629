/* span.h - where the devices of a program are, when some of them are in other processes. */
#ifndef TUTTI_ENGINE_HOSTS_SPAN_H
#define TUTTI_ENGINE_HOSTS_SPAN_H
#include "engine/program.h"

struct Wire;

/* Of a program on certain devices; constant, but for the count.  It lives as long as its client. */
typedef struct HostSpan {
    struct HostSpan *next;
    struct Wire *wire;
    uint64_t key;              /* of the program and its devices: the same in every process */
    int ndevices;              /* of the program, in all processes */
    int nhere;                 /* devices in this process, */
    const int32_t *numbers;    /* and their flat numbers in the program, rising */
    const int32_t *task_of;    /* [ndevices] place in `numbers`; -1: in another process */
    const int32_t *process_of; /* [ndevices] */
    const int32_t *ids;        /* [ndevices] of the devices, for messages */
    const int32_t *nhere_of;   /* [ngroups] members that are here */
    /* Under the wire's lock: */
    int64_t nlaunched; /* in this process: the n-th launch is the same run everywhere */
    bool has_spoken;   /* of a process that takes long (ask.c) */
} HostSpan;

static inline bool span_crosses(const HostSpan *span, const Program *program, int group)
{
    return span && span->nhere_of[group] < program->groups[group].n;
}
#endif
