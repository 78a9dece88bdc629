/* fake_shim.h - messages between "processes" of one program: queues in memory instead of an MPI.  Messages
 * of one sender and tag come in order; what is sent is copied, and is over at the next poll, unless the
 * receiver is deaf.  The processes never meet at their end: whoever waits for it waits until it is told
 * that the others do not come. */
#ifndef TUTTI_TESTS_FAKE_SHIM_H
#define TUTTI_TESTS_FAKE_SHIM_H
#include "engine/hosts/wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FAKES = 3 };

typedef struct FakeMessage {
    struct FakeMessage *next;
    int peer, tag;
    size_t bytes;
    char *at;   /* of a receive, where to; else its own copy */
    void *user; /* of a post */
    bool is_receive;
} FakeMessage;

typedef struct FakeProcess {
    FakeMessage *come;   /* oldest first */
    FakeMessage *posted; /* the same */
    ShimDone done[4096];
} FakeProcess;

static FakeProcess fake_processes[FAKES];
static bool fake_is_deaf[FAKES]; /* sends to it are never over; under the lock */
static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;

static void fake_append(FakeMessage **list, FakeMessage m)
{
    FakeMessage *copy = malloc(sizeof *copy);
    if (!copy)
        abort();
    *copy = m;
    copy->next = NULL;
    while (*list)
        list = &(*list)->next;
    *list = copy;
}

static const char *fake_send(int me, const void *at, size_t bytes, int peer, int tag, void *user)
{
    char *copy = malloc(bytes + 1);
    if (!copy)
        abort();
    if (bytes)
        memcpy(copy, at, bytes);
    pthread_mutex_lock(&fake_lock);
    fake_append(&fake_processes[peer].come,
                (FakeMessage){ NULL, me, tag, bytes, copy, NULL, false });
    fake_append(&fake_processes[me].posted,
                (FakeMessage){ NULL, peer, tag, bytes, NULL, user, false });
    pthread_mutex_unlock(&fake_lock);
    return NULL;
}

static const char *fake_receive(int me, void *at, size_t bytes, int peer, int tag, void *user)
{
    pthread_mutex_lock(&fake_lock);
    fake_append(&fake_processes[me].posted,
                (FakeMessage){ NULL, peer, tag, bytes, at, user, true });
    pthread_mutex_unlock(&fake_lock);
    return NULL;
}

/* The first message that the posted receive takes; NULL: none has come. */
static FakeMessage *fake_match(FakeProcess *p, const FakeMessage *post)
{
    for (FakeMessage **link = &p->come; *link; link = &(*link)->next) {
        FakeMessage *m = *link;
        if (m->tag != post->tag || (post->peer != SHIM_ANY && m->peer != post->peer))
            continue;
        *link = m->next;
        return m;
    }
    return NULL;
}

static int fake_poll(int me, const ShimDone **done)
{
    FakeProcess *p = &fake_processes[me];
    int n = 0;
    pthread_mutex_lock(&fake_lock);
    for (FakeMessage **link = &p->posted; *link && n < 4096;) {
        FakeMessage *post = *link, *m = post->is_receive ? fake_match(p, post) : NULL;
        if (post->is_receive ? !m : fake_is_deaf[post->peer]) {
            link = &post->next;
            continue;
        }
        if (m && m->bytes)
            memcpy(post->at, m->at, m->bytes < post->bytes ? m->bytes : post->bytes);
        p->done[n++] = (ShimDone){ post->user, m ? m->peer : post->peer, m ? m->bytes : 0, false };
        *link = post->next;
        if (m)
            free(m->at);
        free(m);
        free(post);
    }
    *done = p->done;
    pthread_mutex_unlock(&fake_lock);
    return n;
}

static inline void fake_deafen(int process)
{
    pthread_mutex_lock(&fake_lock);
    fake_is_deaf[process] = true;
    pthread_mutex_unlock(&fake_lock);
}

static void fake_give_up(int peer)
{
    (void)peer;
}

static bool fake_leave(bool waits)
{
    return !waits;
}

/* A table has no place for who it is of, so each process has functions of its own. */
#define FAKE_PROCESS(me)                                                                           \
    static const char *fake_send_##me(const void *at, size_t bytes, int peer, int tag, void *user) \
    {                                                                                              \
        return fake_send(me, at, bytes, peer, tag, user);                                          \
    }                                                                                              \
    static const char *fake_receive_##me(void *at, size_t bytes, int peer, int tag, void *user)    \
    {                                                                                              \
        return fake_receive(me, at, bytes, peer, tag, user);                                       \
    }                                                                                              \
    static int fake_poll_##me(const ShimDone **done)                                               \
    {                                                                                              \
        return fake_poll(me, done);                                                                \
    }
FAKE_PROCESS(0)
FAKE_PROCESS(1)
FAKE_PROCESS(2)

#define FAKE_TABLE(me)                                                                             \
    { .version = SHIM_VERSION,                                                                     \
      .send = fake_send_##me,                                                                      \
      .receive = fake_receive_##me,                                                                \
      .poll = fake_poll_##me,                                                                      \
      .give_up = fake_give_up,                                                                     \
      .leave = fake_leave }
static Shim fake_shims[FAKES] = { FAKE_TABLE(0), FAKE_TABLE(1), FAKE_TABLE(2) };
#endif
