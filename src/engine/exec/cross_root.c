/* cross_root.c - code over whole arrays that has effects (prints, callbacks) runs in one process alone,
 * that of the group's first rank; the others get its results.
 *
 *     operands to the first process --> it runs the code --> tiles of the results to the others
 *
 * A tile that several members of a process have goes there once: to the first of them, from whom the
 * others take it. */
#include "engine/exec/crossing.h"

#include <stdlib.h>
#include <string.h>

typedef struct Root {
    int phase; /* exchanges that are done with */
} Root;

static bool is_root(const Crossing *x)
{
    return x->elsewhere.process == x->elsewhere.process_of[0];
}

/* The tiles of results of ranks elsewhere, made here, or those of ranks here, made by the root. */
static void list_results(Crossing *x, char *staging)
{
    const Participants *m = &x->members;
    Exchange *e = &x->exchanges[1];
    for (int r = 0; r < m->n; r++)
        for (int i = 0; i < m->c->nout; i++) {
            int process = x->elsewhere.process_of[r], root = x->elsewhere.process_of[0];
            size_t bytes = type_bytes(m->c->out_types[i]);
            if (process == root || !bytes || global_first_of_tile(m, r, i) != r)
                continue;
            if (is_root(x)) {
                x->elsewhere.results[r * m->c->nout + i] = staging;
                e->parts[e->nparts++] = (WirePart){ process, true, staging, bytes };
                staging += crossing_aligned(bytes);
            } else if (process == x->elsewhere.process) {
                e->parts[e->nparts++] =
                    (WirePart){ root, false, frame_at(m->frames[r], m->c->out[i]), bytes };
            }
        }
}

static size_t results_bytes(const Crossing *x)
{
    const Participants *m = &x->members;
    size_t bytes = 0;
    for (int r = 0; is_root(x) && r < m->n; r++)
        for (int i = 0; !is_here(m, r) && i < m->c->nout; i++)
            if (global_first_of_tile(m, r, i) == r)
                bytes += crossing_aligned(type_bytes(m->c->out_types[i]));
    return bytes;
}

/* Members here whose tile has come to another of them. */
static void take_tiles(const Crossing *x)
{
    const Participants *m = &x->members;
    for (int r = 0; r < m->n; r++)
        for (int i = 0; is_here(m, r) && i < m->c->nout; i++) {
            size_t bytes = type_bytes(m->c->out_types[i]);
            const void *from = frame_at(m->frames[global_first_of_tile(m, r, i)], m->c->out[i]);
            void *to = frame_at(m->frames[r], m->c->out[i]);
            if (bytes && to != from) /* else they share it */
                memcpy(to, from, bytes);
        }
}

static Error *step(Crossing *x)
{
    Root *root = x->way;
    const Participants *m = &x->members;
    if (crossing_is_open(x) || root->phase > 1)
        return NULL;
    if (++root->phase == 2) {
        if (!is_root(x))
            take_tiles(x);
        return NULL;
    }
    if (is_root(x))
        TRY(collective_perform_here(m->c, m->n, m->frames, m->scratch, &x->elsewhere));
    if (x->exchanges[1].nparts)
        crossing_exchange(x, 1);
    else
        root->phase = 2;
    return NULL;
}

/* Operands that the root needs, and where they come to; results are behind them. */
typedef struct Operands {
    Crossing *x;
    char *staging; /* NULL: they are counted */
    size_t bytes;
    int nparts;
} Operands;

static void see_operand(void *user, const CrossPart *part)
{
    Operands *o = user;
    Crossing *x = o->x;
    const Collective *c = x->members.c;
    int root = x->elsewhere.process_of[0];
    bool is_sent = part->from == x->elsewhere.process;
    size_t bytes = rows_bytes(&part->rows);
    if (part->to != root)
        return;
    if (o->staging || (is_sent && x->exchanges[0].parts)) {
        void *at = is_sent ? frame_at(x->members.frames[part->rank], c->in[part->operand])
                           : o->staging + o->bytes;
        x->exchanges[0].parts[o->nparts] =
            (WirePart){ is_sent ? part->to : part->from, is_sent, at, bytes };
        if (!is_sent)
            x->elsewhere.copies[part->rank * c->nin + part->operand] = at;
    }
    o->nparts++;
    o->bytes += is_sent ? 0 : crossing_aligned(bytes);
}

Error *cross_by_root(Crossing *x)
{
    const Participants *m = &x->members;
    const Collective *c = m->c;
    Operands counted = { .x = x }, listed = { .x = x };
    TRY(cross_list(c, m->n, m->frames, &x->elsewhere, see_operand, &counted));
    size_t nresults = (size_t)m->n * (size_t)c->nout;
    x->way = calloc(1, sizeof(Root));
    x->elsewhere.copies = calloc((size_t)m->n * (size_t)c->nin + 1, sizeof(void *));
    x->elsewhere.results = calloc(nresults + 1, sizeof(void *));
    x->exchanges[0].parts = calloc((size_t)counted.nparts + 1, sizeof(WirePart));
    x->exchanges[1].parts = calloc(nresults + 1, sizeof(WirePart));
    if (!x->way || !x->elsewhere.copies || !x->elsewhere.results || !x->exchanges[0].parts ||
        !x->exchanges[1].parts)
        return crossing_no_memory(x);
    TRY(crossing_staging(x, counted.bytes + results_bytes(x)));
    listed.staging = x->staging;
    TRY(cross_list(c, m->n, m->frames, &x->elsewhere, see_operand, &listed));
    x->exchanges[0].nparts = listed.nparts;
    list_results(x, x->staging ? (char *)x->staging + counted.bytes : NULL);
    x->step = step;
    if (listed.nparts)
        crossing_exchange(x, 0);
    return NULL;
}
