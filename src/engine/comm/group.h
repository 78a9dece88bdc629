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

/* What the members bring and take; row r belongs to rank r.  The algorithms may write out[r][i]
 * where it is the very same memory as in[r][i], and no other overlap exists. */
typedef struct Parts {
    const Meeting *m;
    int n; /* ranks */
    Frame *const *frames;
    Memory *scratch;
    void **in, **out; /* [n * nin], [n * nout] */
} Parts;

static inline char *part_in(const Parts *p, int r, int i) { return p->in[r * p->m->nin + i]; }
static inline char *part_out(const Parts *p, int r, int i) { return p->out[r * p->m->nout + i]; }

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
} Runs;
typedef struct Piece {
    int64_t first, end; /* runs */
    size_t at, bytes;   /* of each of them */
} Piece;
int64_t runs_pieces(Runs r); /* 0: nothing in it */
Piece runs_piece(Runs r, int64_t i);

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

/* Types do not fit a group of n: says so for operand i. */
MUST_USE Error *meet_misfit(const Parts *p, int i);
/* Sizes of everything before dimension dim, and from it on in bytes. */
int64_t extent_before(Type t, int dim);
size_t bytes_from(Type t, int dim);
#endif
