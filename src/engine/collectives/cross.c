/* cross.c - what of a collective crosses to other processes.
 *
 * Every process gets the operands of others that its own members' results are made of, and then
 * performs the collective for its members alone, by the same algorithm and in the same order as a
 * process with all devices would: so the bits are the same.
 *
 *     all_reduce, reduce_scatter, all_gather, all_to_all, ragged    all operands of all ranks
 *     collective_permute                                            those of a target's source
 *     collective_broadcast                                          the root's
 *     tutti.global                                                  tiles that it does not have */
#include "engine/collectives/collectives.h"

/* Does a process need operand i of rank r?  sources: of a permute. */
static bool is_needed(const Participants *p, int r, int i, int process, const int *sources)
{
    const Collective *c = p->c;
    switch (c->op) {
    case OP_GLOBAL: return global_needs(p, r, i, process);
    case OP_COLLECTIVE_BROADCAST: return r == 0 || op_has_dynamic_root(c->op, c->attrs);
    case OP_PERMUTE:
        for (int target = 0; target < p->n; target++)
            if (sources[target] == r && p->elsewhere->process_of[target] == process)
                return true;
        return false;
    default: return true;
    }
}

/* Is rank r the first of its process? */
static bool is_first_of_process(const Elsewhere *e, int r)
{
    for (int q = 0; q < r; q++)
        if (e->process_of[q] == e->process_of[r])
            return false;
    return true;
}

Error *cross_list(const Collective *c, int n, Frame *const *frames, const Elsewhere *elsewhere,
                  CrossFn *f, void *user)
{
    Participants p = { .c = c, .n = n, .frames = frames, .elsewhere = elsewhere };
    int sources[POSSIBLE_DEVICES], firsts[POSSIBLE_DEVICES], nprocesses = 0;
    if (c->op == OP_PERMUTE)
        TRY(permute_sources(&p, sources));
    for (int r = 0; r < n; r++)
        if (is_first_of_process(elsewhere, r))
            firsts[nprocesses++] = elsewhere->process_of[r];
    for (int r = 0; r < n; r++)
        for (int i = 0; i < c->nin; i++)
            for (int k = 0; type_bytes(c->in_types[i]) && k < nprocesses; k++) {
                int from = elsewhere->process_of[r], to = firsts[k];
                bool is_ours = from == elsewhere->process || to == elsewhere->process;
                if (from != to && is_ours && is_needed(&p, r, i, to, sources))
                    f(user, r, i, from, to);
            }
    return NULL;
}
