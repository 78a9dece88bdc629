/* packets_fuzz.c - whatever packets and messages come, in whatever order, the wire does not touch memory
 * that is not its own, and every exchange ends once.
 *
 * The input is a list of events: a packet from a process, of given bytes; or a posted message is over,
 * with so many bytes. */
#include "engine/hosts/wire_inside.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { PROCESSES = 3, PIECES = 5, PIECE_BYTES = 8, PARTS = 4, MOST_POSTS = 4096 };

/* ---- messages that are posted ---- */

typedef struct Posted {
    void *user;
    int peer;
    size_t bytes;
    bool is_receive;
} Posted;

static Posted posted[MOST_POSTS];
static int nposted;

static const char *post(int peer, size_t bytes, void *user, bool is_receive)
{
    if (nposted == MOST_POSTS)
        return "there are too many";
    posted[nposted++] = (Posted){ user, peer, bytes, is_receive };
    return NULL;
}

static const char *fake_send(const void *at, size_t bytes, int peer, int tag, void *user)
{
    (void)at, (void)tag;
    return post(peer, bytes, user, false);
}

static const char *fake_receive(void *at, size_t bytes, int peer, int tag, void *user)
{
    (void)tag;
    if (bytes)
        memset(at, 1, 1);
    return post(peer, bytes, user, true);
}

static void fake_give_up(int peer)
{
    (void)peer;
}

static void end_message(Wire *w, int i, size_t bytes, bool is_failed)
{
    Posted p = posted[i];
    memmove(&posted[i], &posted[i + 1], sizeof p * (size_t)(--nposted - i));
    size_t come = !p.is_receive ? 0 : bytes < p.bytes ? bytes : p.bytes;
    wire_message_over(w, &(ShimDone){ p.user, p.peer, come, is_failed });
}

/* ---- exchanges ---- */

static int nover;

static void count_over(Exchange *x, Error *error)
{
    (void)x;
    error_free(error);
    nover++;
}

static void no_news(Exchange *x)
{
    (void)x;
}

static char memory[2 * PIECES * PIECE_BYTES];

static void *piece_at(Exchange *x, int k, bool is_sent, size_t *bytes)
{
    (void)x;
    *bytes = PIECE_BYTES;
    return memory + (is_sent ? PIECES : 0) * PIECE_BYTES + k * PIECE_BYTES;
}

static void collect(Wire *w)
{
    Finished finished = { 0 };
    w->nbeats++;
    wire_find_circles(w);
    wire_collect(w, &finished);
    wire_tell(w, &finished);
}

/* ---- events ---- */

/* A packet of the input's bytes; the first say what it is, so that most of them are sound. */
static void deliver(Wire *w, const uint8_t *bytes, size_t n)
{
    size_t body = n > 8 ? n - 8 : 0;
    Packet *l = calloc(1, sizeof *l + body + 1);
    if (!l)
        abort();
    uint8_t word[8] = { 0 };
    memcpy(word, bytes, n < 8 ? n : 8);
    *l = (Packet){
        .magic = PACKET_MAGIC,
        .kind = word[0] % 9,
        .tag = word[1],
        .place = { .program = word[2] % 4, .count = word[3] % 4, .collective = word[4] % 2 },
        .bytes = word[5] % 4 ? body : word[6],
        .nmessages = word[6]
    };
    memcpy(l + 1, bytes + (n - body), body);
    if (l->kind == PACKET_TAG) {
        l->bytes = word[5];
        body = 0;
    }
    packet_comes(w, l, sizeof *l + body, 1 + word[7] % 2);
    free(l);
}

static void play(Wire *w, const uint8_t *bytes, size_t n)
{
    while (n >= 2) {
        size_t length = bytes[1] < n - 2 ? bytes[1] : n - 2;
        if (bytes[0] % 3 && nposted)
            end_message(w, bytes[0] % nposted, bytes[1], false);
        else
            deliver(w, bytes + 2, length);
        collect(w);
        bytes += 2 + length;
        n -= 2 + length;
    }
}

static void free_all(Wire *w)
{
    w->nbeats += 1000; /* what was claimed is forgotten */
    wire_find_circles(w);
    for (Waiting *l = w->waiting, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    free(w->broken);
    for (int p = 0; p < PROCESSES; p++)
        free(w->lost[p].why);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Shim shim = { .send = fake_send, .receive = fake_receive, .give_up = fake_give_up };
    Lost lost[PROCESSES] = { 0 };
    char *names[PROCESSES] = { 0 }, in[PARTS][64], large[40000];
    Wire w = { .shim = &shim, .nprocesses = PROCESSES, .lost = lost, .names = names };
    w.waiting_end = &w.waiting;
    pthread_mutex_init(&w.lock, NULL);
    nposted = nover = 0;
    WirePart parts[] = { { 1, false, in[0], 16 },
                         { 2, false, in[1], 40 },
                         { 1, true, in[2], 8 },
                         { 2, true, large, 40000 },
                         { 1, false, in[3], 24 } };
    Stream stream = { .from = 1,
                      .to = 2,
                      .npieces = PIECES,
                      .bytes = PIECES * PIECE_BYTES,
                      .piece = piece_at,
                      .news = no_news };
    Exchange exchanges[] = { { .place = { .program = 1 }, .nparts = 5, .parts = parts },
                             { .place = { .program = 2 }, .stream = &stream } };
    for (int i = 0; i < 2; i++) {
        exchanges[i].over = count_over;
        exchanges[i].name = exchanges[i].where = "fuzz";
        exchange_begin(&w, &exchanges[i]);
    }
    stream_advance(&w, &exchanges[1], PIECES, 2);
    play(&w, bytes, n);
    wire_break(&w, "the end");
    collect(&w);
    while (nposted)
        end_message(&w, 0, 0, true);
    if (nover != 2 || w.open)
        abort();
    free_all(&w);
    return 0;
}
