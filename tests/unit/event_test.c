/* event_test.c - events between threads: waiting, callbacks, errors.  Links the engine. */
#include "engine/memory/event.h"

#include "base/sync.h"
#include "tests/check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Seen {
    int n, order[8];
    char text[64];
} Seen;

typedef struct Note {
    Seen *seen;
    int number;
} Note;

static void note(Error *error, void *user)
{
    Note *n = user;
    n->seen->order[n->seen->n++] = n->number;
    snprintf(n->seen->text, sizeof n->seen->text, "%s", error ? error_text(error) : "well");
    error_free(error);
}

static void release(Error *error, void *user)
{
    error_free(error);
    event_release(user);
}

static void check_one_thread(void)
{
    Seen seen = { 0 };
    Note notes[4] = { { &seen, 0 }, { &seen, 1 }, { &seen, 2 }, { &seen, 3 } };
    Event *event = event_new();
    CHECK(!event_is_ready(event));
    for (int i = 0; i < 3; i++)
        CHECK(!event_on_ready(event, note, &notes[i]));
    CHECK(seen.n == 0);
    event_set(event, error_new(CODE_INVALID, "broken"));
    CHECK(event_is_ready(event) && seen.n == 3);
    CHECK(seen.order[0] == 0 && seen.order[1] == 1 && seen.order[2] == 2);
    CHECK_STR(seen.text, "broken");
    CHECK(!event_on_ready(event, note, &notes[3]));
    CHECK(seen.n == 4);
    event_await(event);
    Error *error = event_error(event);
    CHECK(error_code(error) == CODE_INVALID);
    error_free(error);
    event_release(event);

    event = event_ready(NULL);
    CHECK(event_is_ready(event) && !event_error(event));
    CHECK(!event_on_ready(event, note, &notes[0]));
    CHECK_STR(seen.text, "well");
    event_release(event);

    event = event_new(); /* the callback lets go of the only other hold */
    event_hold(event);
    CHECK(!event_on_ready(event, release, event));
    event_set(event, NULL);
    event_release(event);

    seen.n = 0;
    event = event_new(); /* let go while pending */
    CHECK(!event_on_ready(event, note, &notes[0]));
    event_release(event);
    CHECK(seen.n == 1);
    CHECK_STR(seen.text, "an event was let go before it happened");
}

/* As a user chains them: each event's callback sets the next. */
static void set_next(Error *error, void *user)
{
    Event *next = user;
    event_set(next, error);
    event_release(next);
}

/* The first link set, or let go of; news goes down a chain longer than any stack. */
static void check_chain(bool is_set)
{
    enum { LINKS = 300000 };
    Event *first = event_new(), *last = first;
    for (int i = 0; i < LINKS; i++) {
        Event *next = event_hold(event_new());
        CHECK(!event_on_ready(last, set_next, next));
        if (last != first)
            event_release(last);
        last = next;
    }
    if (is_set)
        event_set(first, error_new(CODE_INVALID, "from afar"));
    event_release(first);
    CHECK(event_is_ready(last));
    Error *error = event_error(last);
    CHECK_STR(error_text(error), is_set ? "from afar" : "an event was let go before it happened");
    error_free(error);
    event_release(last);
}

typedef struct Waiter {
    Event *near, *far; /* near's callback sets far */
} Waiter;

static void set_and_await(Error *error, void *user)
{
    Waiter *w = user;
    error_free(error);
    event_set(w->near, NULL);
    event_await(w->far);
}

/* A callback may wait for what other callbacks of its own thread are to bring about. */
static void check_await_in_callback(void)
{
    Waiter w = { event_new(), event_new() };
    Event *first = event_new();
    CHECK(!event_on_ready(w.near, set_next, event_hold(w.far)));
    CHECK(!event_on_ready(first, set_and_await, &w));
    event_set(first, NULL);
    CHECK(event_is_ready(w.far));
    event_release(first);
    event_release(w.near);
    event_release(w.far);
}

typedef struct Shared {
    Event *event;
    int payload; /* written before the event, read after it */
    _Atomic int ncalls;
} Shared;

static void count_call(Error *error, void *user)
{
    Shared *s = user;
    CHECK(!error && s->payload == 42);
    atomic_fetch_add_explicit(&s->ncalls, 1, memory_order_relaxed);
}

static void wait_and_look(void *user)
{
    Shared *s = user;
    CHECK(!event_on_ready(s->event, count_call, s));
    event_await(s->event);
    CHECK(s->payload == 42);
    event_release(s->event);
}

static void check_threads(void)
{
    enum { ROUNDS = 200, WAITERS = 3 };
    for (int round = 0; round < ROUNDS; round++) {
        Shared s = { .event = event_new() };
        Thread threads[WAITERS];
        for (int i = 0; i < WAITERS; i++) {
            event_hold(s.event);
            CHECK(!thread_start(&threads[i], "waiter", wait_and_look, &s));
        }
        if (round % 2)
            usleep(50);
        s.payload = 42;
        event_set(s.event, NULL);
        event_release(s.event);
        for (int i = 0; i < WAITERS; i++)
            thread_join(&threads[i]);
        CHECK(atomic_load_explicit(&s.ncalls, memory_order_relaxed) == WAITERS);
    }
}

static void ignore(Error *error, void *user)
{
    (void)user;
    error_free(error);
}

typedef struct Listener {
    Event *event;
    _Atomic int is_enough;
} Listener;

/* Has the event's lock most of the time, until memory might run short.  It must not end before
 * the last child is made: a thread that ended and was not joined counts as lost there. */
static void listen(void *user)
{
    enum { MANY = 1000000 };
    Listener *l = user;
    for (int i = 0; !atomic_load_explicit(&l->is_enough, memory_order_relaxed); i++)
        if (i < MANY)
            CHECK(!event_on_ready(l->event, ignore, NULL));
        else
            usleep(100);
}

/* A child made while another thread is at the event: waiting there is an error, not a hang. */
static void check_fork(void)
{
    enum { CHILDREN = 60 };
    Listener l = { .event = event_new() };
    Thread thread;
    CHECK(!thread_start(&thread, "listener", listen, &l));
    fflush(stdout);
    for (int i = 0; i < CHILDREN; i++) {
        usleep(100);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            event_await(l.event);
            Error *error = event_error(l.event);
            _exit(error && strstr(error_text(error), "forked") ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    atomic_store_explicit(&l.is_enough, 1, memory_order_relaxed);
    thread_join(&thread);
    event_set(l.event, NULL);
    event_release(l.event);
}

typedef struct Counter {
    Lock lock;
    int n;
} Counter;

static void count_up(void *user)
{
    Counter *c = user;
    for (int i = 0; i < 20000; i++) {
        lock_take(&c->lock);
        c->n++;
        lock_give(&c->lock);
    }
}

static void check_lock(void)
{
    Counter c = { 0 };
    Thread threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(!thread_start(&threads[i], "counter", count_up, &c));
    for (int i = 0; i < 4; i++)
        thread_join(&threads[i]);
    CHECK(c.n == 80000);
}

static void mask_note(void *user)
{
    pthread_sigmask(SIG_SETMASK, NULL, user);
}

/* A thread of ours takes no signal meant for the caller's, but its own faults are heard. */
static void check_signals(void)
{
    Thread thread;
    sigset_t held;
    CHECK(!thread_start(&thread, "signals", mask_note, &held));
    thread_join(&thread);
    CHECK(sigismember(&held, SIGINT) == 1 && sigismember(&held, SIGTERM) == 1);
    CHECK(sigismember(&held, SIGSEGV) == 0 && sigismember(&held, SIGTRAP) == 0);
}

/* Uses `frames` MiB of stack. */
static int descend(int frames)
{
    volatile char frame[1 << 20];
    frame[0] = (char)frames;
    return frames > 0 ? descend(frames - 1) + frame[0] - (char)frames : (int)pthread_self();
}

static void go_deep(void *user)
{
    *(int *)user = descend(200);
}

static void go_deeper(void *user)
{
    int inner = 0;
    CHECK(!thread_run_deep("inner", go_deep, &inner));
    CHECK(inner == (int)pthread_self());
    *(int *)user = inner;
}

/* A deep stack is as deep as it says, and one is enough. */
static void check_deep(void)
{
    int inner = 0;
    CHECK(!thread_run_deep("outer", go_deeper, &inner));
    CHECK(inner != (int)pthread_self());
}

/* A caller that lets go twice does not let go of the engine's hold. */
static void check_given(void)
{
    Event *event = event_give(event_new());
    event_hold(event);
    CHECK(event_take_back(event));
    CHECK(!event_take_back(event));
    event_set(event, NULL);
    CHECK(event_is_ready(event));
    event_release(event);
    Event *well = event_give(event_ready(NULL));
    CHECK(event_take_back(well) && event_take_back(well));
}

int main(void)
{
    check_given();
    check_one_thread();
    check_chain(true);
    check_chain(false);
    check_await_in_callback();
    check_threads();
    check_lock();
    check_fork();
    check_signals();
    check_deep();
    CHECK(cores_allowed() >= 1);
    return check_done();
}
