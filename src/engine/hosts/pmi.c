/* pmi.c - MPICH without a launcher: the wire protocol PMI-1, answered from a store that the processes
 * share (that of jax.distributed).
 *
 *     MPI_Init  --- PMI_FD: "cmd=put key=... value=..." --->  a thread of this process  --->  store
 *
 * A request is a line of words name=value, and so is its answer.  What MPICH asks while it starts is
 * all there is to it: a few words of each process, and barriers.  When MPI ends it asks for one more
 * barrier; by then the store is gone, and it is let through. */
#include "engine/hosts/pmi.h"

#include "base/sync.h"

#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINE_ROOM = 4096,
    VALUE_ROOM = 2048,
    KEY_ROOM = 128,
    HOST_ROOM = 80,
    WAIT_MS = 120000, /* for the others to start */
    PRESENT_MS = 2000 /* for a word that a barrier has made sure of */
};

static struct {
    int process, nprocesses, fd, nbarriers;
    HostsStore store;
    _Atomic bool is_over; /* the store must not be used */
    char *mapping;        /* which processes share a host, as MPICH wants it */
    Thread thread;
} pmi;

/* ---- words ---- */

/* The value of a word of the line, cut to the room; empty: it is not there. */
static void word_in(const char *line, const char *name, char *value, size_t room)
{
    size_t n = strlen(name), at = 0;
    const char *p = line;
    while (p && !(strncmp(p, name, n) == 0 && p[n] == '=')) {
        p = strchr(p, ' ');
        p = p ? p + 1 : NULL;
    }
    for (p = p ? p + n + 1 : ""; *p && *p != ' ' && *p != '\n' && at + 1 < room; p++)
        value[at++] = *p;
    value[at] = 0;
}

/* ---- answers ---- */

static void answer_put(const char *line, char *answer)
{
    char key[KEY_ROOM], value[VALUE_ROOM], name[KEY_ROOM + 8];
    word_in(line, "key", key, sizeof key);
    word_in(line, "value", value, sizeof value);
    snprintf(name, sizeof name, "pmi/%s", key);
    Error *error = pmi.store.put(pmi.store.user, name, value);
    snprintf(answer, LINE_ROOM, "cmd=put_result rc=%d msg=%s\n", error ? -1 : 0,
             error ? "failed" : "success");
    error_free(error);
}

static void answer_get(const char *line, char *answer)
{
    char key[KEY_ROOM], value[VALUE_ROOM], name[KEY_ROOM + 8];
    word_in(line, "key", key, sizeof key);
    snprintf(name, sizeof name, "pmi/%s", key);
    if (!strcmp(key, "PMI_process_mapping")) {
        snprintf(answer, LINE_ROOM, "cmd=get_result rc=0 msg=success value=%s\n", pmi.mapping);
        return;
    }
    bool is_ours = strncmp(key, "PMI_", 4) != 0; /* the others are the launcher's own */
    Error *error = is_ours ? pmi.store.get(pmi.store.user, name, PRESENT_MS, value, sizeof value)
                           : error_new(CODE_NOT_FOUND, "%s", key);
    if (error)
        snprintf(answer, LINE_ROOM, "cmd=get_result rc=-1 msg=not_found value=unknown\n");
    else
        snprintf(answer, LINE_ROOM, "cmd=get_result rc=0 msg=success value=%s\n", value);
    error_free(error);
}

/* Every process leaves a word and waits for those of all. */
static Error *pass_barrier(void)
{
    char name[KEY_ROOM], value[8];
    snprintf(name, sizeof name, "pmi_barrier/%d/%d", pmi.nbarriers, pmi.process);
    TRY(pmi.store.put(pmi.store.user, name, "1"));
    for (int p = 0; p < pmi.nprocesses; p++) {
        snprintf(name, sizeof name, "pmi_barrier/%d/%d", pmi.nbarriers, p);
        if (p != pmi.process)
            TRY(pmi.store.get(pmi.store.user, name, WAIT_MS, value, sizeof value));
    }
    pmi.nbarriers++;
    return NULL;
}

static void answer_barrier(char *answer)
{
    /* acquire: pairs with the release in pmi_end */
    bool is_over = atomic_load_explicit(&pmi.is_over, memory_order_acquire);
    Error *error = is_over ? NULL : pass_barrier();
    snprintf(answer, LINE_ROOM, "cmd=barrier_out rc=%d\n", error ? -1 : 0);
    error_free(error);
}

static void answer_line(const char *line, char *answer)
{
    char command[64];
    word_in(line, "cmd", command, sizeof command);
    if (!strcmp(command, "init"))
        strcpy(answer, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    else if (!strcmp(command, "get_maxes"))
        strcpy(answer, "cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=1024 rc=0\n");
    else if (!strcmp(command, "get_appnum"))
        strcpy(answer, "cmd=appnum appnum=0 rc=0\n");
    else if (!strcmp(command, "get_universe_size"))
        snprintf(answer, LINE_ROOM, "cmd=universe_size size=%d rc=0\n", pmi.nprocesses);
    else if (!strcmp(command, "get_my_kvsname"))
        strcpy(answer, "cmd=my_kvsname kvsname=tutti rc=0\n");
    else if (!strcmp(command, "put"))
        answer_put(line, answer);
    else if (!strcmp(command, "get"))
        answer_get(line, answer);
    else if (!strcmp(command, "barrier_in"))
        answer_barrier(answer);
    else if (!strcmp(command, "finalize"))
        strcpy(answer, "cmd=finalize_ack rc=0\n");
    else
        snprintf(answer, LINE_ROOM, "cmd=%s rc=-1 msg=unknown\n", command);
}

static void serve(void *user)
{
    FILE *in = user;
    char line[LINE_ROOM], answer[LINE_ROOM];
    while (fgets(line, sizeof line, in)) {
        answer_line(line, answer);
        size_t n = strlen(answer);
        if (send(pmi.fd, answer, n, MSG_NOSIGNAL) != (ssize_t)n)
            return;
    }
}

/* ---- the start ---- */

/* "(vector,(0,1,1),(0,1,1),(1,1,1))": the number of each process's host. */
static Error *map_hosts(void)
{
    size_t n = (size_t)pmi.nprocesses, room = 16 + 24 * n;
    char(*hosts)[HOST_ROOM] = calloc(n, sizeof *hosts), name[KEY_ROOM], mine[HOST_ROOM] = "";
    pmi.mapping = malloc(room);
    if (!hosts || !pmi.mapping) {
        free(hosts);
        return error_new(CODE_EXHAUSTED, "no memory for a job of %zu processes", n);
    }
    gethostname(mine, sizeof mine - 1);
    snprintf(name, sizeof name, "pmi_host/%d", pmi.process);
    Error *error = pmi.store.put(pmi.store.user, name, mine);
    int at = snprintf(pmi.mapping, room, "(vector"), nhosts = 0, number = 0;
    for (int p = 0; p < pmi.nprocesses && !error; p++) {
        snprintf(name, sizeof name, "pmi_host/%d", p);
        error = pmi.store.get(pmi.store.user, name, WAIT_MS, mine, sizeof mine);
        for (number = 0; number < nhosts && strcmp(hosts[number], mine); number++)
            ;
        if (number == nhosts)
            memcpy(hosts[nhosts++], mine, sizeof mine);
        at += snprintf(pmi.mapping + at, room - (size_t)at, ",(%d,1,1)", number);
    }
    snprintf(pmi.mapping + at, room - (size_t)at, ")");
    free(hosts);
    return error;
}

static void set_number(const char *variable, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    setenv(variable, text, 1);
}

Error *pmi_begin(int process, int nprocesses, const HostsStore *store)
{
    int pair[2];
    pmi.process = process;
    pmi.nprocesses = nprocesses;
    pmi.store = *store;
    TRY(map_hosts());
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return error_new(CODE_EXHAUSTED, "no socket to start MPI with");
    FILE *in = fdopen(pair[0], "r");
    if (!in)
        return error_new(CODE_EXHAUSTED, "no memory to start MPI with");
    /* One thread reads it, and waits there: fflush(NULL) of another must not wait with it. */
    __fsetlocking(in, FSETLOCKING_BYCALLER);
    pmi.fd = pair[0];
    set_number("PMI_FD", pair[1]);
    set_number("PMI_RANK", process);
    set_number("PMI_SIZE", nprocesses);
    return thread_start(&pmi.thread, "tutti-pmi", serve, in);
}

void pmi_end(void)
{
    /* release: pairs with the acquire in answer_barrier */
    atomic_store_explicit(&pmi.is_over, true, memory_order_release);
    unsetenv("PMI_FD"); /* processes that this one starts have no such connection */
    unsetenv("PMI_RANK");
    unsetenv("PMI_SIZE");
}
