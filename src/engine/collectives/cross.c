/* cross.c - what of a collective crosses to other processes.
 *
 * Every process gets what its own members' results are made of, and then performs the collective for its
 * members alone, by the same algorithm and in the same order as a process with all devices would: so
 * the bits are the same.
 *
 *     all_reduce                    all operands of all ranks; if they are large, another way (below)
 *     reduce_scatter, all_to_all    of each operand what a rank there makes its result of
 *     all_gather, ragged            all operands of all ranks
 *     collective_permute            those of a target's source
 *     collective_broadcast          the root's
 *     tutti.global                  tiles that it does not have; if it has effects, see exec/cross_root.c
 *     tutti.retile                  tiles that it does not have and needs a part of
 *
 * Large sums, of B bytes on each of L devices in each of P processes; what a process sends:
 *
 *     gather   (P-1) L B          one message to each: the least latency
 *     chain    at most 2 B        the sum so far goes from process to process in the order of ranks, and
 *                                 the whole sum comes back, in pieces that follow one another
 *     owner    (L+1) B (P-1)/P    each process sums a slice of all operands, and sends it to all: for
 *                                 sums that are rounded once at the end, and for groups whose order
 *                                 goes back and forth between processes, where a chain would not have
 *                                 the order of one process */
#include "engine/collectives/collectives.h"
#include "hlo/rewrite.h"

enum {
    GATHERED = 64 << 10
}; /* bytes that come to a process: more, and a large sum is the quicker */

/* Does a process need operand i of rank r?  sources: of a permute. */
static bool is_needed(const Participants *p, int r, int i, int process, const int *sources)
{
    const Collective *c = p->c;
    switch (c->op) {
    case OP_GLOBAL: return global_needs(p, r, i, process);
    case OP_RETILE: return retile_needs(p, r, i, process);
    case OP_COLLECTIVE_BROADCAST: return r == 0 || op_has_dynamic_root(c->op, c->attrs);
    case OP_PERMUTE:
        for (int target = 0; target < p->n; target++)
            if (sources[target] == r && p->elsewhere->process_of[target] == process)
                return true;
        return false;
    default: return true;
    }
}

int cross_processes(const Elsewhere *e, int n, int *processes)
{
    int count = 0;
    for (int r = 0; r < n; r++) {
        int k = 0;
        while (k < count && processes[k] != e->process_of[r])
            k++;
        if (k == count)
            processes[count++] = e->process_of[r];
    }
    return count;
}

/* The processes of a group, and whom to tell what crosses. */
typedef struct Listing {
    const Participants *p;
    int nprocesses, processes[POSSIBLE_DEVICES];
    CrossFn *f;
    void *user;
} Listing;

static void list_part(const Listing *l, CrossPart part)
{
    const Elsewhere *e = l->p->elsewhere;
    bool is_ours = part.from == e->process || part.to == e->process;
    if (part.from != part.to && is_ours && rows_bytes(&part.rows))
        l->f(l->user, &part);
}

/* Whole operands, to each process that needs one. */
static Error *list_whole(const Listing *l)
{
    const Participants *p = l->p;
    int sources[POSSIBLE_DEVICES];
    if (p->c->op == OP_PERMUTE)
        TRY(permute_sources(p, sources));
    for (int r = 0; r < p->n; r++)
        for (int i = 0; i < p->c->nin; i++)
            for (int k = 0; k < l->nprocesses; k++) {
                int from = p->elsewhere->process_of[r], to = l->processes[k];
                if (from != to && is_needed(p, r, i, to, sources))
                    list_part(l, (CrossPart){ r, i, from, to, 0,
                                              one_span(type_bytes(p->c->in_types[i])) });
            }
    return NULL;
}

/* Of each operand what each rank makes its result of. */
static Error *list_shares(const Listing *l)
{
    const Participants *p = l->p;
    for (int i = 0; i < p->c->nin; i++) {
        Rows rows;
        int64_t step;
        if (!type_bytes(p->c->in_types[i]))
            continue;
        TRY(p->c->op == OP_ALL_TO_ALL ? all_to_all_share(p, i, &rows, &step)
                                      : reduce_scatter_share(p, i, &rows, &step));
        for (int r = 0; r < p->n; r++)
            for (int q = 0; q < p->n; q++)
                list_part(l, (CrossPart){ r, i, p->elsewhere->process_of[r],
                                          p->elsewhere->process_of[q], (size_t)(q * step), rows });
    }
    return NULL;
}

Error *cross_list(const Collective *c, int n, Frame *const *frames, const Elsewhere *elsewhere,
                  CrossFn *f, void *user)
{
    Participants p = { .c = c, .n = n, .frames = frames, .elsewhere = elsewhere };
    Listing l = { .p = &p, .f = f, .user = user };
    l.nprocesses = cross_processes(elsewhere, n, l.processes);
    bool has_shares = c->op == OP_ALL_TO_ALL || c->op == OP_REDUCE_SCATTER;
    return has_shares ? list_shares(&l) : list_whole(&l);
}

/* ---- large sums ---- */

/* Do the ranks of each process stand together? */
static bool are_together(const Elsewhere *e, int n)
{
    int processes[POSSIBLE_DEVICES], nruns = 1;
    for (int r = 1; r < n; r++)
        nruns += e->process_of[r] != e->process_of[r - 1];
    return nruns == cross_processes(e, n, processes);
}

/* Are sums of e rounded after each step?  Where they are kept wide until the end (combine_accumulates),
 * a sum cannot be handed on half made. */
static bool is_rounded_at_once(Element e)
{
    return e != BF16 && !(element_info[e].kind == FLOAT && element_info[e].bits < 16);
}

/* Code with an effect is a custom call, or stands around one, and none is compiled. */
static bool body_has_effect(const Program *body)
{
    for (int i = 0; body && body->module && i < body->nevaluations; i++)
        if (node_has_effect(body->module, body->evaluations[i].node))
            return true;
    return false;
}

CrossWay cross_way(const Collective *c, int n, const Elsewhere *e)
{
    size_t bytes = 0;
    int nhere = 0;
    bool may_chain = are_together(e, n);
    if (c->op == OP_GLOBAL && body_has_effect(c->body))
        return CROSS_ROOT;
    if (c->op != OP_ALL_REDUCE || !c->combine)
        return CROSS_GATHER;
    for (int i = 0; i < c->nin; i++) {
        bytes += type_bytes(c->in_types[i]);
        may_chain = may_chain && is_rounded_at_once(c->in_types[i].element);
    }
    for (int r = 0; r < n; r++)
        nhere += e->process_of[r] == e->process_of[0]; /* the same number in every process's eyes */
    if (bytes * (size_t)(n - nhere) <= GATHERED)
        return CROSS_GATHER;
    return may_chain ? CROSS_CHAIN : CROSS_OWNER;
}
