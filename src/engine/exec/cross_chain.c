/* cross_chain.c - a large sum goes from process to process and comes back, in pieces.
 *
 *     process   0            1            2 (the last)
 *     up        fold own --> fold own --> fold own, which is the sum       piece 0, 1, 2, ...
 *     down      result   <-- result   <-- result                           piece 0, 1, 2, ...
 *
 * A process folds the piece that came with those of its own members, in the order of ranks, and passes
 * it on: the order of additions is that of one process with all devices.  Each process sends at most
 * twice the bytes of one device, both ways at once.
 *
 * Sums so far lie in a ring of pieces, which stays in the caches.  A piece of a result is received, and
 * overwrites the operand where the collective works in place, only after it was folded and passed on. */
#include "engine/exec/crossing.h"

#include <stdlib.h>

/* To another host an MPI sends pieces of either size without asking first; within one host it asks for the
 * larger (hosts/hosts.c), which is the quicker for large sums alone. */
enum {
    PIECE_BYTES = 48 << 10,
    SMALL_PIECE_BYTES = 24 << 10,
    SMALL_SUM = 512 << 10, /* bytes of a sum that goes in small pieces */
    RING = 32,             /* pieces */
    UP = 0,                /* exchanges */
    DOWN = 1,
};

typedef struct Chain {
    size_t piece_bytes; /* of all but the last of an operand */
    int npieces;
    int nfolded, nspread; /* pieces: of sums made here, of results put where they belong */
    bool is_first, is_last;
    int first_of[]; /* [nin + 1] number of each operand's first piece */
} Chain;

/* A piece: bytes [at, at + bytes) of an operand. */
typedef struct ChainPiece {
    int operand;
    size_t at, bytes;
} ChainPiece;

static ChainPiece find_piece(const Crossing *x, int k)
{
    const Chain *chain = x->way;
    ChainPiece p = { 0 };
    while (k >= chain->first_of[p.operand + 1])
        p.operand++;
    size_t whole = type_bytes(x->members.c->in_types[p.operand]);
    p.at = (size_t)(k - chain->first_of[p.operand]) * chain->piece_bytes;
    p.bytes = whole - p.at < chain->piece_bytes ? whole - p.at : chain->piece_bytes;
    return p;
}

static char *ring_at(const Crossing *x, int k)
{
    const Chain *chain = x->way;
    return (char *)x->staging + (size_t)(k % RING) * chain->piece_bytes;
}

static void *piece_up(Exchange *exchange, int k, bool is_sent, size_t *bytes)
{
    Crossing *x = exchange->user;
    (void)is_sent;
    *bytes = find_piece(x, k).bytes;
    return ring_at(x, k);
}

static void *piece_down(Exchange *exchange, int k, bool is_sent, size_t *bytes)
{
    Crossing *x = exchange->user;
    ChainPiece p = find_piece(x, k);
    char *results[POSSIBLE_DEVICES];
    (void)is_sent;
    *bytes = p.bytes;
    sums_here(&x->members, p.operand, results);
    return results[0] + p.at;
}

/* ---- folding ---- */

typedef struct Fold {
    Crossing *x;
    int first;
} Fold;

static void fold_piece(void *user, int64_t number)
{
    const Fold *fold = user;
    Crossing *x = fold->x;
    const Chain *chain = x->way;
    const Participants *m = &x->members;
    ChainPiece p = find_piece(x, fold->first + (int)number);
    char *out[POSSIBLE_DEVICES];
    const void *in[POSSIBLE_DEVICES + 1];
    int nin = 0, nout = 1;
    out[0] = ring_at(x, fold->first + (int)number);
    if (!chain->is_first)
        in[nin++] = out[0];
    for (int r = 0; r < m->n; r++)
        if (is_here(m, r))
            in[nin++] = operand_at(m, r, p.operand) + p.at;
    if (chain->is_last)
        nout = sums_here(m, p.operand, out);
    for (int o = 0; chain->is_last && o < nout; o++)
        out[o] += p.at;
    int64_t count = (int64_t)p.bytes / element_info[m->c->in_types[p.operand].element].bytes;
    if (nin == 1)
        bytes_move(out[0], in[0], p.bytes, false);
    else
        m->c->combine((void **)out, nout, in, nin, count);
}

/* Puts a piece of a result that came into those of the other members here. */
static void spread_piece(void *user, int64_t number)
{
    const Fold *spread = user;
    const Participants *m = &spread->x->members;
    ChainPiece p = find_piece(spread->x, spread->first + (int)number);
    char *out[POSSIBLE_DEVICES];
    int nout = sums_here(m, p.operand, out);
    for (int o = 0; o < nout; o++)
        out[o] += p.at;
    if (nout > 1)
        bytes_spread(nout - 1, out + 1, out[0], p.bytes, false);
}

static void do_pieces(Crossing *x, SliceFn *f, int first, int end)
{
    Fold fold = { x, first };
    if (end - first == 1)
        f(&fold, 0);
    else
        slices_run(x->members.frames[x->members.home], end - first, f, &fold);
}

/* ---- the two streams ---- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

typedef struct Counters {
    int up_received, up_sent, down_received;
} Counters;

static Counters look(Crossing *x)
{
    lock_take(&x->run->lock);
    Counters c = { x->nreceived[UP], x->nsent[UP], x->nreceived[DOWN] };
    lock_give(&x->run->lock);
    return c;
}

/* Tells the wire what may be sent, and for what there is room. */
static void advance(Crossing *x, const Counters *c)
{
    const Chain *chain = x->way;
    Wire *w = crossing_wire(x);
    int room = RING + (chain->is_last ? chain->nfolded : c->up_sent);
    int has = chain->is_last ? chain->nfolded : chain->nspread;
    stream_advance(w, &x->exchanges[UP], room, chain->nfolded);
    stream_advance(w, &x->exchanges[DOWN], chain->nfolded, has);
}

static Error *step(Crossing *x)
{
    enum { BATCH = 8 }; /* pieces that are folded before any of them is sent */
    Chain *chain = x->way;
    for (;;) {
        Counters c = look(x);
        int may_fold = chain->is_first ? chain->npieces : c.up_received;
        if (!chain->is_last)
            may_fold = least(may_fold, c.up_sent + RING);
        int folded = least(may_fold, chain->nfolded + BATCH);
        int spread = chain->is_last ? chain->nspread : c.down_received;
        if (folded > chain->nfolded)
            do_pieces(x, fold_piece, chain->nfolded, folded);
        if (spread > chain->nspread)
            do_pieces(x, spread_piece, chain->nspread, spread);
        bool has_moved = folded > chain->nfolded || spread > chain->nspread;
        chain->nfolded = folded;
        chain->nspread = spread;
        advance(x, &c);
        if (!has_moved)
            return NULL;
        wire_poll(crossing_wire(x));
        if (run_is_cancelled(x->run))
            return NULL;
    }
}

/* ---- beginning ---- */

/* The pieces of all operands, one operand after the other. */
static Error *cut(Crossing *x)
{
    const Collective *c = x->members.c;
    Chain *chain = x->way = calloc(1, sizeof *chain + sizeof(int) * (size_t)(c->nin + 1));
    if (!chain)
        return crossing_no_memory(x);
    size_t sum = 0;
    for (int i = 0; i < c->nin; i++)
        sum += type_bytes(c->in_types[i]);
    chain->piece_bytes = sum < SMALL_SUM ? SMALL_PIECE_BYTES : PIECE_BYTES;
    for (int i = 0; i < c->nin; i++) {
        if (!type_equal(c->in_types[i], c->out_types[i]))
            return collective_misfit(&x->members, i);
        size_t bytes = type_bytes(c->in_types[i]);
        chain->npieces += (int)((bytes + chain->piece_bytes - 1) / chain->piece_bytes);
        chain->first_of[i + 1] = chain->npieces;
    }
    return NULL;
}

static void open_stream(Crossing *x, int which, int from, int to)
{
    const Collective *c = x->members.c;
    Chain *chain = x->way;
    Stream *s = &x->streams[which];
    *s = (Stream){ .from = from,
                   .to = to,
                   .npieces = chain->npieces,
                   .piece = which == UP ? piece_up : piece_down,
                   .news = crossing_stream_news };
    for (int i = 0; i < c->nin; i++)
        s->bytes += type_bytes(c->in_types[i]);
    x->exchanges[which].stream = s;
    crossing_exchange(x, which);
}

Error *cross_by_chain(Crossing *x)
{
    int processes[POSSIBLE_DEVICES], me = 0;
    int n = cross_processes(&x->elsewhere, x->members.n, processes);
    while (processes[me] != x->elsewhere.process)
        me++;
    TRY(cut(x));
    Chain *chain = x->way;
    chain->is_first = me == 0;
    chain->is_last = me == n - 1;
    TRY(participants_begin(&x->members));
    TRY(crossing_staging(x, (size_t)RING * chain->piece_bytes));
    x->step = step;
    int before = me ? processes[me - 1] : -1, after = me < n - 1 ? processes[me + 1] : -1;
    open_stream(x, UP, before, after);
    open_stream(x, DOWN, after, before);
    return NULL;
}
