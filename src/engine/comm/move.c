/* move.c - copying between the members' memory: by whom, in which pieces, and past the caches
 * where they would not help.
 *
 * What is written and larger than the caches is not there any more when somebody reads it; then
 * ordinary stores only cost a read of every line before it is overwritten.  Streaming stores
 * leave that out: two bytes of traffic for a byte copied, not three. */
#include "engine/comm/group.h"

#include <string.h>
#if defined __x86_64__
#include <emmintrin.h>
#endif

enum {
    LINE = 64,
    STREAM_BYTES = 24 << 20, /* read and written by a meeting: more than the last cache keeps */
    PIECE_BYTES = 256 << 10, /* of a large move: what a worker takes at a time */
};

bool meet_streams(size_t bytes)
{
    return bytes >= STREAM_BYTES;
}

#if defined __x86_64__
static void stream(char *to, const char *from, size_t n)
{
    size_t head = -(uintptr_t)to & (LINE - 1);
    head = head < n ? head : n;
    memcpy(to, from, head);
    size_t at = head;
    for (; at + LINE <= n; at += LINE)
        for (size_t k = 0; k < LINE; k += sizeof(__m128i))
            _mm_stream_si128((__m128i *)(to + at + k),
                             _mm_loadu_si128((const __m128i *)(from + at + k)));
    memcpy(to + at, from + at, n - at);
    _mm_sfence();
}
#else
static void stream(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

void bytes_move(char *to, const char *from, size_t n, bool streams)
{
    if (streams && n >= 4 * LINE)
        stream(to, from, n);
    else
        memcpy(to, from, n);
}

static int64_t parts_of_run(Runs r)
{
    return (int64_t)((r.run + PIECE_BYTES - 1) / PIECE_BYTES);
}

/* That make up a piece, where a run is smaller than one. */
static int64_t runs_together(Runs r)
{
    return r.run >= PIECE_BYTES ? 1 : (int64_t)(PIECE_BYTES / r.run);
}

int64_t runs_pieces(Runs r)
{
    if (!r.run || !r.outer)
        return 0;
    int64_t together = runs_together(r);
    return (r.outer + together - 1) / together * parts_of_run(r);
}

Piece runs_piece(Runs r, int64_t i)
{
    int64_t parts = parts_of_run(r), together = runs_together(r);
    int64_t first = i / parts * together;
    size_t at = (size_t)(i % parts) * PIECE_BYTES;
    return (Piece){ first, first + together < r.outer ? first + together : r.outer, at,
                    r.run - at < PIECE_BYTES ? r.run - at : PIECE_BYTES };
}

typedef struct Moves {
    const Move *at;
    int64_t npieces; /* of each, which are equal in size */
    bool streams;
} Moves;

static void move_piece(void *user, int64_t i)
{
    const Moves *all = user;
    const Move *m = &all->at[i / all->npieces];
    Piece piece = runs_piece((Runs){ 1, m->bytes }, i % all->npieces);
    if (m->from)
        bytes_move(m->to + piece.at, m->from + piece.at, piece.bytes, all->streams);
    else
        memset(m->to + piece.at, 0, piece.bytes);
}

void meet_moves(const Parts *p, int64_t n, const Move *moves)
{
    Moves all = { moves, runs_pieces((Runs){ 1, moves[0].bytes }),
                  meet_streams(2 * moves[0].bytes * (size_t)n) };
    meet_slices(p, n * all.npieces, moves[0].bytes * (size_t)n, move_piece, &all);
}
