/* shim_mpi.c - messages by MPI: the only file that sees the headers of one.
 *
 * Built as a library that is not linked with MPI, once with the headers of each binary interface;
 * find.c loads an MPI of that interface first, for everybody to see, and then this. */
#define _GNU_SOURCE /* on_exit */
#include "engine/hosts/shim.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Posted messages: the requests lie side by side as MPI wants them, what we know of each beside. */
typedef struct Posted {
    void *user;
    int peer;
    bool is_receive;
} Posted;

static Shim shim;
static MPI_Comm world; /* our own: nobody else's messages are in it */
static bool is_ours;   /* MPI was initialised here, so it is finalised here */
static int nposted, room;
static MPI_Request *requests;
static Posted *posted;
static int *indices;
static MPI_Status *statuses;

static const char *trouble(const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int n = 0;
    MPI_Error_string(code, text, &n);
    snprintf(shim.trouble, sizeof shim.trouble, "%s: %.*s", what, n < 400 ? n : 400, text);
    return shim.trouble;
}

static const char *start(int order, int *process, int *nprocesses)
{
    int is_up = 0, level = 0;
    MPI_Initialized(&is_up);
    if (!is_up) {
        int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
        if (code)
            return trouble("MPI_Init_thread", code);
        is_ours = true;
    }
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
        return "MPI was initialised for one thread: MPI_Init_thread(MPI_THREAD_MULTIPLE) is needed";
    int code = MPI_Comm_split(MPI_COMM_WORLD, 0, order, &world);
    if (code)
        return trouble("MPI_Comm_split", code);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world, process);
    MPI_Comm_size(world, nprocesses);
    return NULL;
}

static const char *gather(const void *mine, int bytes, void *all)
{
    int code = MPI_Allgather((void *)mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, world);
    return code ? trouble("MPI_Allgather", code) : NULL;
}

static bool grow(void)
{
    if (nposted < room)
        return true;
    int more = room ? 2 * room : 64;
    void *r = realloc(requests, sizeof *requests * (size_t)more);
    requests = r ? r : requests;
    void *p = realloc(posted, sizeof *posted * (size_t)more);
    posted = p ? p : posted;
    void *i = realloc(indices, sizeof *indices * (size_t)more);
    indices = i ? i : indices;
    void *s = realloc(statuses, sizeof *statuses * (size_t)more);
    statuses = s ? s : statuses;
    if (!r || !p || !i || !s)
        return false;
    room = more;
    return true;
}

static const char *post(void *at, size_t bytes, int peer, int tag, void *user, bool is_receive)
{
    if (!grow())
        return "no memory for the books of a message";
    MPI_Request *request = &requests[nposted];
    int from = peer == SHIM_ANY ? MPI_ANY_SOURCE : peer;
    int code = is_receive ? MPI_Irecv(at, (int)bytes, MPI_BYTE, from, tag, world, request)
                          : MPI_Isend(at, (int)bytes, MPI_BYTE, peer, tag, world, request);
    if (code)
        return trouble(is_receive ? "MPI_Irecv" : "MPI_Isend", code);
    posted[nposted++] = (Posted){ user, peer, is_receive };
    return NULL;
}

static const char *send_to(const void *at, size_t bytes, int peer, int tag, void *user)
{
    return post((void *)at, bytes, peer, tag, user, false);
}

static const char *receive(void *at, size_t bytes, int peer, int tag, void *user)
{
    return post(at, bytes, peer, tag, user, true);
}

/* Closes the gaps that messages which are over have left. */
static void compact(void)
{
    int n = 0;
    for (int i = 0; i < nposted; i++)
        if (requests[i] != MPI_REQUEST_NULL) {
            requests[n] = requests[i];
            posted[n++] = posted[i];
        }
    nposted = n;
}

/* Message i of those that MPI_Testsome has listed. */
static ShimDone describe(int i, bool has_errors)
{
    const Posted *p = &posted[indices[i]];
    int bytes = 0, is_cancelled = 0;
    bool is_failed = has_errors && statuses[i].MPI_ERROR != MPI_SUCCESS;
    if (is_failed)
        trouble(p->is_receive ? "MPI_Irecv" : "MPI_Isend", statuses[i].MPI_ERROR);
    else if (p->is_receive)
        MPI_Test_cancelled(&statuses[i], &is_cancelled);
    if (is_cancelled)
        snprintf(shim.trouble, sizeof shim.trouble, "nothing came from process %d", p->peer);
    if (p->is_receive && !is_failed && !is_cancelled)
        MPI_Get_count(&statuses[i], MPI_BYTE, &bytes);
    int peer = p->peer == SHIM_ANY && !is_failed ? statuses[i].MPI_SOURCE : p->peer;
    return (ShimDone){ p->user, peer, (size_t)bytes, is_failed || is_cancelled };
}

static int poll_all(const ShimDone **done)
{
    static ShimDone *list;
    static int list_room;
    int n = 0;
    if (list_room < nposted) {
        void *more = realloc(list, sizeof *list * (size_t)room);
        if (!more)
            return 0;
        list = more;
        list_room = room;
    }
    *done = list;
    if (!nposted)
        return 0;
    int code = MPI_Testsome(nposted, requests, &n, indices, statuses);
    if (n == MPI_UNDEFINED || n <= 0)
        return 0;
    for (int i = 0; i < n; i++)
        list[i] = describe(i, code == MPI_ERR_IN_STATUS);
    compact();
    return n;
}

static void give_up(int peer)
{
    for (int i = 0; i < nposted; i++)
        if (posted[i].is_receive && posted[i].peer == peer)
            MPI_Cancel(&requests[i]);
}

static void (*at_the_end)(void);
static int exit_code;

static void end(int code, void *unused)
{
    (void)unused;
    exit_code = code;
    at_the_end();
}

static void at_exit(void (*f)(void))
{
    at_the_end = f;
    on_exit(end, NULL);
}

/* The thread that is in MPI_Finalize stands still from here on. */
static void stand_still(int unused)
{
    (void)unused;
    for (;;)
        pause();
}

/* All processes have come to the end, and MPI_Finalize does not return: in MPICH 4 over TCP one process
 * may wait there for another that waits for it in the launcher's barrier.  The process ends all the
 * same.  It lets its MPI_Finalize go no further first, and waits until the others, which began this wait
 * when it did, have done so too: an MPI_Finalize that saw another process end would go on to the barrier,
 * and the launcher fails if it has an answer for a process that is there no more. */
static void *end_anyhow(void *finalizing)
{
    enum { FOR_FINALIZE_S = 3, FOR_OTHERS_S = 2 };
    nanosleep(&(struct timespec){ FOR_FINALIZE_S, 0 }, NULL);
    fflush(NULL);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    sigaction(SIGRTMAX, &(struct sigaction){ .sa_handler = stand_still }, NULL);
    pthread_kill(*(pthread_t *)finalizing, SIGRTMAX);
    nanosleep(&(struct timespec){ FOR_OTHERS_S, 0 }, NULL);
    _exit(exit_code);
}

static void finalize(void)
{
    pthread_t self = pthread_self(), thread;
    fflush(NULL);
    bool is_watched = pthread_create(&thread, NULL, end_anyhow, &self) == 0;
    MPI_Finalize();
    if (is_watched) {
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
}

/* Nothing is received any more. */
static void cancel_receives(void)
{
    for (int i = 0; i < nposted; i++)
        if (posted[i].is_receive)
            MPI_Cancel(&requests[i]);
}

/* Messages that are posted end; all processes meet; MPI is finalised. */
static bool leave(bool waits)
{
    enum { FOR_SENDS_S = 4 };
    static enum { HERE, SENDING, MEETING } phase;
    static double begun;
    static MPI_Request all;
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (!is_ours || is_over || !waits)
        return true;
    if (phase == HERE) {
        cancel_receives();
        begun = MPI_Wtime();
        phase = SENDING;
    }
    if (phase == SENDING) {
        if (MPI_Testall(nposted, requests, &is_over, statuses) != MPI_SUCCESS)
            return true;
        if (!is_over)
            return MPI_Wtime() > begun + FOR_SENDS_S;
        if (MPI_Ibarrier(world, &all) != MPI_SUCCESS)
            return true;
        phase = MEETING;
    }
    if (MPI_Test(&all, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return true;
    if (is_over)
        finalize();
    return is_over;
}

static Shim shim = { .version = SHIM_VERSION,
                     .start = start,
                     .gather = gather,
                     .send = send_to,
                     .receive = receive,
                     .poll = poll_all,
                     .give_up = give_up,
                     .at_exit = at_exit,
                     .leave = leave };

__attribute__((visibility("default"))) Shim *tutti_shim(void);
Shim *tutti_shim(void)
{
    return &shim;
}
