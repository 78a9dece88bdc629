/* shim.h - the table of functions between the engine and a library of messages: no type of MPI is in
 * it.  An MPI has one of three binary interfaces, so shim_mpi.c is built once for each of them, and
 * the one that fits is loaded at run time (find.c).  A process that is alone loads none.
 *
 * Nothing here waits, but start, gather and, when all have come to the end, leave: messages are posted, and poll says which are
 * over.  One thread at a time calls them (wire.c has the lock). */
#ifndef TUTTI_ENGINE_HOSTS_SHIM_H
#define TUTTI_ENGINE_HOSTS_SHIM_H
#include <stdbool.h>
#include <stddef.h>

enum {
    SHIM_VERSION = 2,
    SHIM_ANY = -1, /* a receive from whichever process */
};

/* A posted message that is over. */
typedef struct ShimDone {
    void *user;     /* as it was posted */
    int peer;       /* from or to whom */
    size_t bytes;   /* received */
    bool is_failed; /* shim->trouble says why */
} ShimDone;

/* What returns text returns NULL when it is well, else why not. */
typedef struct Shim {
    int version;
    char trouble[512]; /* of the last function that failed */
    /* Joins the others.  The order of processes is that of `order`, which each says of itself. */
    const char *(*start)(int order, int *process, int *nprocesses);
    /* Every process gives so many bytes and gets all of them, in order. */
    const char *(*gather)(const void *mine, int bytes, void *all);
    /* Bytes at most 1 GiB; tag 0 to 32767.  The memory stays the message's until poll says that it
     * is over. */
    const char *(*send)(const void *at, size_t bytes, int peer, int tag, void *user);
    const char *(*receive)(void *at, size_t bytes, int peer, int tag, void *user);
    /* How many are over, and which; the list is good until the next call. */
    int (*poll)(const ShimDone **done);
    /* Receives from a process that will send no more are over, and failed. */
    void (*give_up)(int peer);
    /* f is called when the process exits: the engine's own library leaves nothing to that moment
     * (plugin/statics.c). */
    void (*at_exit)(void (*f)(void));
    /* The process ends: called until it is true.  waits: for the others, which all are there. */
    bool (*leave)(bool waits);
} Shim;

typedef Shim *ShimFn(void);
#define SHIM_SYMBOL "tutti_shim"
#endif
