/* watch.c - a star of connections to process 0, over which every process says four times a second that
 * it is there.
 *
 *     process 1 ---\
 *     process 2 ----+--- process 0 tells all others what it learns of one
 *     process 3 ---/
 *
 * The kernel closes the connections of a process that dies: the others know within milliseconds.  One
 * that is stopped, or whose host cannot be reached, falls silent: they know after SILENT_MS.  One that
 * ends says so before.  Messages are of one size, in the byte order of the machine: all processes run
 * the same program. */
#define _GNU_SOURCE /* accept4 */
#include "engine/hosts/watch.h"

#include "base/sync.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    BEAT_MS = 250,
    SILENT_MS = 4000,
    CONNECT_MS = 2000, /* to one address */
    MOST_ADDRESSES = 8,
};

typedef enum NewsKind {
    NEWS_HELLO = 1, /* the first of a connection: who it is from */
    NEWS_BEAT,
    NEWS_GONE,   /* its connection broke */
    NEWS_SILENT, /* it says nothing */
    NEWS_BROKEN, /* it can send no messages any more */
    NEWS_LEFT,   /* it has ended */
} NewsKind;

typedef struct News {
    int32_t kind, process;
} News;

/* What every process tells of itself at the start. */
typedef struct Self {
    char host[64];
    int32_t pid;
    uint16_t port; /* of process 0, */
    uint16_t naddresses;
    uint32_t addresses[MOST_ADDRESSES]; /* and where it listens; in network order */
} Self;

/* A connection: process 0 has one to each other process, they have one to it. */
typedef struct Link {
    int fd;       /* -1: none */
    int64_t seen; /* when something came last, in ms */
    char part[sizeof(News)];
    size_t npart; /* bytes of a message that is not whole yet */
} Link;

static struct {
    Wire *wire;
    int process, nprocesses, ndevices;
    Self *all;
    Link *links; /* [nprocesses] */
    char *known; /* [nprocesses] of each: 1: it has left, 2: it is lost */
    Thread thread;
} watch;

static int64_t now_ms(void)
{
    return clock_now_ns() / 1000000;
}

/* ---- news ---- */

/* A connection that takes nothing is as good as broken: it shows when nothing comes. */
static void send_news(Link *link, NewsKind kind, int process)
{
    News news = { kind, process };
    if (link->fd >= 0)
        (void)!send(link->fd, &news, sizeof news, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void tell_others(NewsKind kind, int process)
{
    for (int p = 0; p < watch.nprocesses; p++)
        if (p != process)
            send_news(&watch.links[p], kind, process);
}

/* "process 1 (host h1, pid 4711) is gone; devices 4 to 7 were its" */
static Error *describe(NewsKind kind, int p)
{
    const Self *self = &watch.all[p];
    const char *what =
        kind == NEWS_GONE     ? "is gone"
        : kind == NEWS_SILENT ? "does not answer: it was stopped, or its host cannot "
                                "be reached"
        : kind == NEWS_BROKEN ? "can send no messages any more, as it will say itself"
                              : "has ended";
    int first = p * watch.ndevices, last = first + watch.ndevices - 1;
    if (first == last)
        return error_new(CODE_UNAVAILABLE, "process %d (host %s, pid %d) %s; device %d was its", p,
                         self->host, (int)self->pid, what, first);
    return error_new(CODE_UNAVAILABLE, "process %d (host %s, pid %d) %s; devices %d to %d were its",
                     p, self->host, (int)self->pid, what, first, last);
}

static void learn(NewsKind kind, int p)
{
    char known = kind == NEWS_LEFT ? 1 : 2;
    if (p < 0 || p >= watch.nprocesses || p == watch.process || watch.known[p] >= known)
        return;
    watch.known[p] = known;
    if (watch.process == 0)
        tell_others(kind, p);
    wire_lose(watch.wire, p, kind == NEWS_LEFT, describe(kind, p));
}

static void close_link(int p, NewsKind kind)
{
    close(watch.links[p].fd);
    watch.links[p].fd = -1;
    learn(kind, p);
}

/* Reads what has come from process p. */
static void read_link(int p)
{
    Link *link = &watch.links[p];
    News news;
    for (;;) {
        ssize_t n =
            recv(link->fd, link->part + link->npart, sizeof news - link->npart, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            close_link(p, NEWS_GONE);
            return;
        }
        link->seen = now_ms();
        link->npart += (size_t)n;
        if (link->npart < sizeof news)
            continue;
        link->npart = 0;
        memcpy(&news, link->part, sizeof news);
        if (news.kind >= NEWS_GONE && news.kind <= NEWS_LEFT)
            learn((NewsKind)news.kind, news.process);
    }
}

/* ---- the thread ---- */

static void look_at_silence(void)
{
    int64_t now = now_ms();
    for (int p = 0; p < watch.nprocesses; p++)
        if (watch.links[p].fd >= 0 && now - watch.links[p].seen > SILENT_MS)
            learn(NEWS_SILENT, p);
}

static void watch_all(void *user)
{
    struct pollfd *fds = user;
    int64_t last_beat = 0, last_look = now_ms();
    bool is_broken = false;
    for (;;) {
        int n = 0;
        for (int p = 0; p < watch.nprocesses; p++)
            fds[p] = (struct pollfd){ watch.links[p].fd, POLLIN, 0 };
        n = poll(fds, (nfds_t)watch.nprocesses, BEAT_MS);
        int64_t now = now_ms();
        if (now - last_look > SILENT_MS / 2) /* it was we who were stopped: all may have spoken */
            for (int p = 0; p < watch.nprocesses; p++)
                watch.links[p].seen = now;
        last_look = now;
        for (int p = 0; n > 0 && p < watch.nprocesses; p++)
            if (fds[p].fd >= 0 && fds[p].revents)
                read_link(p);
        if (now - last_beat >= BEAT_MS) {
            tell_others(NEWS_BEAT, watch.process);
            if (!wire_beat(watch.wire) && !is_broken) {
                is_broken = true;
                tell_others(NEWS_BROKEN, watch.process);
            }
            last_beat = now;
        }
        look_at_silence();
    }
}

/* ---- the start ---- */

static int listen_anywhere(uint16_t *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 128) ||
        getsockname(fd, (struct sockaddr *)&at, &n)) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *port = at.sin_port;
    return fd;
}

/* The addresses that others may reach this host by; that of the host itself last. */
static void list_addresses(Self *self)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all))
        all = NULL;
    for (int loopback = 0; loopback < 2; loopback++)
        for (struct ifaddrs *i = all; i && self->naddresses < MOST_ADDRESSES; i = i->ifa_next)
            if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && (i->ifa_flags & IFF_UP) &&
                !(i->ifa_flags & IFF_LOOPBACK) == !loopback)
                self->addresses[self->naddresses++] =
                    ((struct sockaddr_in *)i->ifa_addr)->sin_addr.s_addr;
    if (all)
        freeifaddrs(all);
}

static int connect_within(uint32_t address, uint16_t port)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = port };
    to.sin_addr.s_addr = address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int trouble = 0;
    socklen_t n = sizeof trouble;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) && errno != EINPROGRESS)
        trouble = errno;
    struct pollfd wait = { fd, POLLOUT, 0 };
    if (!trouble && poll(&wait, 1, CONNECT_MS) != 1)
        trouble = ETIMEDOUT;
    if (!trouble && getsockopt(fd, SOL_SOCKET, SO_ERROR, &trouble, &n))
        trouble = errno;
    if (trouble) {
        close(fd);
        return -1;
    }
    return fd;
}

static Error *connect_to_first(void)
{
    const Self *first = &watch.all[0];
    bool is_same_host = !strcmp(first->host, watch.all[watch.process].host);
    int fd = is_same_host ? connect_within(htonl(INADDR_LOOPBACK), first->port) : -1;
    for (int i = 0; fd < 0 && i < first->naddresses; i++)
        fd = connect_within(first->addresses[i], first->port);
    if (fd < 0)
        return error_new(CODE_UNAVAILABLE,
                         "process %d cannot connect to process 0 (host %s, port %d), which watches "
                         "over all: is there a firewall between the hosts?",
                         watch.process, first->host, (int)ntohs(first->port));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    watch.links[0] = (Link){ .fd = fd, .seen = now_ms() };
    send_news(&watch.links[0], NEWS_HELLO, watch.process);
    return NULL;
}

/* One connection; who it is from is the first that it says. */
static bool accept_one(int listener)
{
    struct pollfd wait = { listener, POLLIN, 0 };
    News news = { 0 };
    if (poll(&wait, 1, 10 * CONNECT_MS) != 1)
        return false;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    wait = (struct pollfd){ fd, POLLIN, 0 };
    bool is_well = fd >= 0 && poll(&wait, 1, CONNECT_MS) == 1 &&
                   recv(fd, &news, sizeof news, MSG_WAITALL) == (ssize_t)sizeof news &&
                   news.kind == NEWS_HELLO && news.process > 0 && news.process < watch.nprocesses &&
                   watch.links[news.process].fd < 0;
    if (is_well)
        watch.links[news.process] = (Link){ .fd = fd, .seen = now_ms() };
    else if (fd >= 0)
        close(fd); /* a stranger */
    return true;
}

static Error *accept_all(int listener)
{
    int missing = watch.nprocesses - 1;
    while (missing && accept_one(listener)) {
        missing = 0;
        for (int p = 1; p < watch.nprocesses; p++)
            missing += watch.links[p].fd < 0;
    }
    close(listener);
    return missing ? error_new(CODE_UNAVAILABLE,
                               "%d of %d processes have not connected to process 0, which watches "
                               "over all",
                               missing, watch.nprocesses - 1)
                   : NULL;
}

/* For the wire's messages. */
static void name_all(void)
{
    for (int p = 0; p < watch.nprocesses; p++) {
        char name[sizeof watch.all[p].host + 32];
        snprintf(name, sizeof name, " (host %s, pid %d)", watch.all[p].host, (int)watch.all[p].pid);
        wire_name(watch.wire, p, name);
    }
}

Error *watch_start(Wire *w, int ndevices)
{
    int n = watch.nprocesses = wire_processes(w), listener = -1;
    watch.wire = w;
    watch.process = wire_process(w);
    watch.ndevices = ndevices;
    watch.all = calloc((size_t)n, sizeof *watch.all);
    watch.links = calloc((size_t)n, sizeof *watch.links);
    watch.known = calloc((size_t)n, 1);
    struct pollfd *fds = calloc((size_t)n, sizeof *fds);
    if (!watch.all || !watch.links || !watch.known || !fds)
        return error_new(CODE_EXHAUSTED, "no memory to watch %d processes", n);
    Self self = { .pid = (int32_t)getpid() };
    gethostname(self.host, sizeof self.host - 1);
    for (int p = 0; p < n; p++)
        watch.links[p].fd = -1;
    if (watch.process == 0) {
        listener = listen_anywhere(&self.port);
        list_addresses(&self);
    }
    TRY(wire_gather(w, &self, (int)sizeof self, watch.all));
    if (!watch.all[0].port)
        return error_new(CODE_UNAVAILABLE, "process 0 cannot listen for the others' connections");
    name_all();
    TRY(watch.process ? connect_to_first() : accept_all(listener));
    return thread_start(&watch.thread, "tutti-watch", watch_all, fds);
}

/* By the thread that ends the process; the watch's own thread goes on meanwhile. */
void watch_leave(void)
{
    if (watch.links)
        tell_others(NEWS_LEFT, watch.process);
}
