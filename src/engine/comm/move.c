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

typedef char Vec __attribute__((vector_size(32), aligned(1), may_alias));
enum { ROW = 8 * sizeof(Vec) }; /* of one array, in registers */

static inline __attribute__((always_inline)) void row_move(char *to, const char *from)
{
    Vec v[ROW / sizeof(Vec)];
#pragma GCC unroll 8
    for (size_t k = 0; k < ROW / sizeof(Vec); k++)
        v[k] = ((const Vec *)from)[k];
#pragma GCC unroll 8
    for (size_t k = 0; k < ROW / sizeof(Vec); k++)
        ((Vec *)to)[k] = v[k];
}

static inline __attribute__((always_inline)) void rotate(int n, char *const *at, size_t bytes)
{
    size_t done = 0;
    for (; done + ROW <= bytes; done += ROW) {
        Vec first[ROW / sizeof(Vec)];
        row_move((char *)first, at[0] + done);
        for (int r = 0; r + 1 < n; r++)
            row_move(at[r] + done, at[r + 1] + done);
        row_move(at[n - 1] + done, (const char *)first);
    }
    for (; done < bytes; done++) {
        char first = at[0][done];
        for (int r = 0; r + 1 < n; r++)
            at[r][done] = at[r + 1][done];
        at[n - 1][done] = first;
    }
}

#if defined __x86_64__
__attribute__((target("avx2"))) static void rotate_avx2(int n, char *const *at, size_t bytes)
{
    rotate(n, at, bytes);
}
#endif

void bytes_rotate(int n, char *const *at, size_t bytes)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        rotate_avx2(n, at, bytes);
        return;
    }
#endif
    rotate(n, at, bytes);
}

Runs runs_cut(int64_t outer, size_t run)
{
    Runs r = { outer, run, 0, outer, 1 };
    if (!outer || !run)
        return r;
    r.npieces = 1;
    if ((size_t)outer * run <= PIECE_BYTES)
        return r;
    r.together = run >= PIECE_BYTES ? 1 : (int64_t)(PIECE_BYTES / run);
    r.parts = (int64_t)((run + PIECE_BYTES - 1) / PIECE_BYTES);
    r.npieces = (outer + r.together - 1) / r.together * r.parts;
    return r;
}

Piece runs_piece(const Runs *r, int64_t i)
{
    if (r->npieces == 1)
        return (Piece){ 0, r->outer, 0, r->run };
    int64_t first = i / r->parts * r->together, end = first + r->together;
    size_t at = (size_t)(i % r->parts) * PIECE_BYTES;
    return (Piece){ first, end < r->outer ? end : r->outer, at,
                    r->run - at < PIECE_BYTES ? r->run - at : PIECE_BYTES };
}

typedef struct Moves {
    const Move *at;
    Runs runs; /* of each, which are equal in size */
    bool streams;
} Moves;

static void move_piece(void *user, int64_t i)
{
    const Moves *all = user;
    int64_t which = slice_of(&all->runs, &i);
    const Move *m = &all->at[which];
    Piece piece = runs_piece(&all->runs, i);
    if (m->from)
        bytes_move(m->to + piece.at, m->from + piece.at, piece.bytes, all->streams);
    else
        memset(m->to + piece.at, 0, piece.bytes);
}

void meet_moves(const Parts *p, int64_t n, const Move *moves)
{
    if (!n)
        return;
    Moves all = { moves, runs_cut(1, moves[0].bytes),
                  meet_streams(2 * moves[0].bytes * (size_t)n) };
    meet_slices(p, n * all.runs.npieces, moves[0].bytes * (size_t)n, move_piece, &all);
}
