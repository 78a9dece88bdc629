/* group.h - a meeting, when everybody has come: what each device brought becomes what each
 * device takes away.
 *
 *   group.c    who brought what; aliasing; which algorithm
 *   move.c     copying, by all workers, past the caches where they do not help
 *   reduce.c   all_reduce, reduce_scatter
 *   gather.c   all_gather, all_to_all
 *   shift.c    collective_permute, collective_broadcast
 *   ragged.c   ragged_all_to_all
 *   global.c   tutti.global: whole arrays
 *
 * All devices are in one address space and all members stand still, so an algorithm is plain
 * loops over their memory, in rank order: the same bits on every run. */
#ifndef TUTTI_GROUP_H
#define TUTTI_GROUP_H
#include "engine/program.h"
#include "engine/run/memory.h"
#include "engine/run/slices.h"

/* Performs m for the members whose frames are given in rank order; nobody else may touch them
 * meanwhile.  Scratch memory is taken from and given back to `scratch`. */
MUST_USE Error *meeting_perform(const Meeting *m, int n, Frame *const *frames, Memory *scratch);

/* For a device that is in no group of m: its results are zeros. */
void meeting_skip(const Meeting *m, const Frame *f);

/* What the members bring and take; row r belongs to rank r.  A result overlaps no operand, but
 * where its algorithm works in place it may be the very same memory: meets_in_place. */
typedef struct Parts {
    const Meeting *m;
    int n; /* ranks */
    Frame *const *frames;
    Memory *scratch;
    void **in, **out; /* [n * nin], [n * nout] */
} Parts;

static inline char *part_in(const Parts *p, int r, int i) { return p->in[r * p->m->nin + i]; }
static inline char *part_out(const Parts *p, int r, int i) { return p->out[r * p->m->nout + i]; }

/* Is operand i of every rank also its result i? */
bool parts_are_in_place(const Parts *p, int i);
/* all_to_all: and does what each has for every other lie together?  Then pieces are exchanged. */
bool exchanges_in_place(const Parts *p, int i);
/* Do all ranks have one memory for result i?  Then it is written once (Param.is_shared). */
bool part_is_shared(const Parts *p, int i);

typedef MUST_USE Error *MeetFn(const Parts *p);
MeetFn meet_all_reduce, meet_reduce_scatter, meet_all_gather, meet_all_to_all, meet_permute,
    meet_broadcast, meet_ragged, meet_global;

/* Calls f for every slice below n; if all of them together touch many bytes, idle workers help. */
void meet_slices(const Parts *p, int64_t n, size_t bytes, SliceFn *f, void *user);

/* An array as `outer` runs of bytes that lie together, cut into pieces of about equal size: some
 * runs, or a part of one. */
typedef struct Runs {
    int64_t outer;
    size_t run;
    int64_t npieces;         /* 0: nothing in it */
    int64_t together, parts; /* runs that make up a piece, or pieces that make up a run */
} Runs;
typedef struct Piece {
    int64_t first, end; /* runs */
    size_t at, bytes;   /* of each of them */
} Piece;
Runs runs_cut(int64_t outer, size_t run);
Piece runs_piece(const Runs *r, int64_t i);
/* Slices are the pieces of one array after the other: which array, and *i becomes its piece.
 * Small ones are not cut, and are not to wait for a division. */
static inline int64_t slice_of(const Runs *r, int64_t *i)
{
    int64_t n = r->npieces, slice = *i, which = n == 1 ? slice : slice / n;
    *i = slice - which * n;
    return which;
}

/* Copies of equally many bytes, cut into pieces for all workers. */
typedef struct Move {
    char *to;
    const char *from; /* NULL: zeros */
    size_t bytes;
} Move;
void meet_moves(const Parts *p, int64_t n, const Move *moves);
/* Is what a meeting touches more than the caches keep?  Then results are streamed past them. */
bool meet_streams(size_t bytes);
void bytes_move(char *to, const char *from, size_t n, bool streams);
/* at[0] takes what at[1] has, at[1] what at[2] has, ..., and the last what at[0] had. */
void bytes_rotate(int n, char *const *at, size_t bytes);

/* Types do not fit a group of n: says so for operand i. */
MUST_USE Error *meet_misfit(const Parts *p, int i);
/* Sizes of everything before dimension dim, and from it on in bytes. */
int64_t extent_before(Type t, int dim);
size_t bytes_from(Type t, int dim);
#endif
