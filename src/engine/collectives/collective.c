/* collective.c - performs a collective: finds operands and results, calls the algorithm.
 *
 * The compiler may give a result the memory of an operand that dies at the collective, where the
 * algorithm works in place (op_is_in_place); and a donated argument's memory may be any result's.
 * Where an operand overlaps a result and the algorithm does not work in place, the operand is first
 * copied to scratch memory, so that the algorithms need not think of it. */
#include "engine/collectives/collectives.h"

#include <stdlib.h>
#include <string.h>

Error *collective_misfit(const Participants *p, int i)
{
    return error_new(CODE_INVALID, "%s (%s): operand %d is %s and its result %s, in a group of %d",
                     p->c->name, collective_where(p->c), i, type_name(p->c->in_types[i]),
                     type_name(p->c->out_types[i]), p->n);
}

Error *collective_scratch(const Participants *p, size_t bytes, void **out)
{
    Error *error = memory_take(p->scratch, bytes, out);
    return error ? error_in(error, "%s (%s)", p->c->name, collective_where(p->c)) : NULL;
}

int64_t extent_before(Type t, int dim)
{
    int64_t n = 1;
    for (int i = 0; i < dim; i++)
        n *= t.dims[i];
    return n;
}

size_t bytes_from(Type t, int dim)
{
    size_t n = (size_t)element_info[t.element].bytes;
    for (int i = dim; i < t.rank; i++)
        n *= (size_t)t.dims[i];
    return n;
}

/* Bytes read and written by a collective. */
enum {
    LARGE = 2 << 20,     /* fewer, and their way to another core costs more */
    STREAMED = 24 << 20, /* more than the last cache keeps */
};

bool collective_is_large(size_t bytes)
{
    return bytes >= LARGE;
}

bool collective_streams(size_t bytes)
{
    return bytes >= STREAMED;
}

void collective_slices(const Participants *p, int64_t n, size_t bytes, SliceFn *f, void *user)
{
    if (collective_is_large(bytes)) {
        slices_run(p->frames[p->home], n, f, user);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        f(user, i);
}

bool operand_is_in_place(const Participants *p, int i)
{
    for (int r = 0; r < p->n; r++)
        if (operand_at(p, r, i) != result_at(p, r, i))
            return false;
    return true;
}

bool result_is_shared(const Participants *p, int i)
{
    int r = p->home ? 0 : 1; /* another rank that is here */
    while (r < p->n && (r == p->home || !is_here(p, r)))
        r++;
    return r < p->n && result_at(p, p->home, i) == result_at(p, r, i);
}

int results_here(const Participants *p, int i, char **at)
{
    int n = 0;
    if (result_is_shared(p, i)) {
        at[0] = result_at(p, p->home, i);
        return 1;
    }
    for (int r = 0; r < p->n; r++)
        if (is_here(p, r))
            at[n++] = result_at(p, r, i);
    return n;
}

static bool overlaps(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    return a_bytes && b_bytes && (uintptr_t)a < (uintptr_t)b + b_bytes &&
           (uintptr_t)b < (uintptr_t)a + a_bytes;
}

/* Operand i and result j are the same memory: does the algorithm work in place? */
static bool works_in_place(const Participants *p, int i, int j)
{
    switch (p->c->op) {
    case OP_PERMUTE: return i == j && !p->elsewhere && operand_is_in_place(p, i);
    case OP_ALL_TO_ALL: return i == j && !p->elsewhere && all_to_all_is_in_place(p, i);
    case OP_COLLECTIVE_BROADCAST: return i == j && !op_has_dynamic_root(p->c->op, p->c->attrs);
    default: return op_is_in_place(p->c->op, i, j);
    }
}

/* Would a result overwrite rank r's operand i before it is read? */
static bool is_overwritten(const Participants *p, int r, int i)
{
    const Collective *c = p->c;
    size_t bytes = type_bytes(c->in_types[i]);
    for (int j = 0; j < c->nout; j++) {
        bool is_same = operand_at(p, r, i) == result_at(p, r, j);
        if (!(is_same && works_in_place(p, i, j)) &&
            overlaps(operand_at(p, r, i), bytes, result_at(p, r, j), type_bytes(c->out_types[j])))
            return true;
    }
    return false;
}

/* Copies operands that results would overwrite to scratch memory: aside[k], or NULL. */
static Error *copy_aside(Participants *p, void **aside)
{
    for (int r = 0; r < p->n; r++)
        for (int i = 0; i < p->c->nin; i++) {
            if (!is_here(p, r) || !is_overwritten(p, r, i))
                continue;
            int k = r * p->c->nin + i;
            size_t bytes = type_bytes(p->c->in_types[i]);
            TRY(collective_scratch(p, bytes, &aside[k]));
            memcpy(aside[k], p->in[k], bytes);
            p->in[k] = aside[k];
        }
    return NULL;
}

static void give_back(const Participants *p, void **aside)
{
    for (int k = 0; k < p->n * p->c->nin; k++)
        if (aside[k])
            memory_give(p->scratch, aside[k], type_bytes(p->c->in_types[k % p->c->nin]));
}

/* The address of a value on each rank: at[0], at[step], ... */
static void find_all(const Participants *p, Address address, void **at, int step)
{
    for (int r = 0; r < p->n; r++)
        if (is_here(p, r))
            at[r * step] = address.where == ADDRESS_SLAB ? p->frames[r]->slab + address.at
                                                         : frame_at(p->frames[r], address);
}

static Error *perform_by_kind(const Participants *p, CopyPlan *plan)
{
    const Collective *c = p->c;
    CollectiveKind kind = collective_kind(c->op);
    if (kind == COLLECTIVE_KINDS)
        return error_new(CODE_UNIMPLEMENTED, "not supported: a collective in %s (%s)", c->name,
                         collective_where(c));
    TRY(p->frames[p->home]->rt->collectives[kind](p, plan));
    if (!plan->nsteps) /* it is performed, or has nothing to do */
        return NULL;
    plan->c = c;
    plan->frame = p->frames[p->home];
    copy_plan_execute(plan);
    if (!c->is_apart || op_has_dynamic_root(c->op, c->attrs)) /* its addresses are good this once */
        plan->c = NULL;
    return NULL;
}

/* Operands and results of ranks in other processes. */
static void put_copies(Participants *p)
{
    for (int r = 0; r < p->n; r++) {
        if (is_here(p, r))
            continue;
        for (int i = 0; i < p->c->nin; i++)
            p->in[r * p->c->nin + i] =
                p->elsewhere->copies ? p->elsewhere->copies[r * p->c->nin + i] : NULL;
        for (int i = 0; i < p->c->nout; i++)
            p->out[r * p->c->nout + i] =
                p->elsewhere->results ? p->elsewhere->results[r * p->c->nout + i] : NULL;
    }
}

static void find_addresses(Participants *p)
{
    for (int i = 0; i < p->c->nin; i++)
        find_all(p, p->c->in[i], p->in + i, p->c->nin);
    for (int i = 0; i < p->c->nout; i++)
        find_all(p, p->c->out[i], p->out + i, p->c->nout);
    if (p->elsewhere)
        put_copies(p);
}

static Error *perform(Participants *p, void **aside, CopyPlan *plan)
{
    find_addresses(p);
    /* in place several processes cannot work: their operands are looked at */
    if (p->c->is_apart && !p->elsewhere)
        return perform_by_kind(p, plan);
    memset(aside, 0, sizeof *aside * (size_t)(p->n * p->c->nin));
    Error *error = copy_aside(p, aside);
    if (!error)
        error = perform_by_kind(p, plan);
    give_back(p, aside);
    return error;
}

/* The rank of the lowest device that is here. */
static int find_home(const Participants *p)
{
    int home = -1;
    for (int r = 0; r < p->n; r++) {
        const Frame *f = p->frames[r], *best = home < 0 ? NULL : p->frames[home];
        bool is_lower = !best || f->replica < best->replica ||
                        (f->replica == best->replica && f->partition < best->partition);
        if (is_here(p, r) && is_lower)
            home = r;
    }
    return home;
}

Error *participants_begin(Participants *p)
{
    size_t nin = (size_t)p->n * (size_t)p->c->nin, nout = (size_t)p->n * (size_t)p->c->nout;
    void **pointers = calloc(2 * nin + nout + 1, sizeof *pointers);
    if (!pointers)
        return error_new(CODE_EXHAUSTED, "%s (%s): no memory for %zu addresses", p->c->name,
                         collective_where(p->c), 2 * nin + nout);
    p->in = pointers;
    p->out = pointers + nin;
    p->aside = pointers + nin + nout;
    p->home = find_home(p);
    find_addresses(p);
    return copy_aside(p, p->aside);
}

void participants_end(Participants *p)
{
    if (p->in)
        give_back(p, p->aside);
    free(p->in);
    p->in = NULL;
}

static Error *perform_for(Participants *p, CopyPlan *plan)
{
    const Collective *c = p->c;
    int n = p->n;
    enum { FEW = 96 };
    void *few[FEW], **pointers = few;
    size_t nin = (size_t)n * (size_t)c->nin, nout = (size_t)n * (size_t)c->nout;
    if (2 * nin + nout > FEW) {
        pointers = malloc(sizeof *pointers * (2 * nin + nout));
        if (!pointers)
            return error_new(CODE_EXHAUSTED, "%s (%s): no memory for %zu addresses", c->name,
                             collective_where(c), 2 * nin + nout);
    }
    p->in = pointers;
    p->out = pointers + nin;
    copy_plan_end(plan); /* frees the plan of another collective */
    Error *error = perform(p, pointers + nin + nout, plan);
    if (pointers != few)
        free(pointers);
    return error;
}

Error *collective_perform(const Collective *c, int n, Frame *const *frames, Memory *scratch,
                          CopyPlan *plan)
{
    Participants p = { .c = c, .n = n, .frames = frames, .scratch = scratch };
    return perform_for(&p, plan);
}

Error *collective_perform_here(const Collective *c, int n, Frame *const *frames, Memory *scratch,
                               const Elsewhere *elsewhere)
{
    Participants p = {
        .c = c, .n = n, .frames = frames, .scratch = scratch, .elsewhere = elsewhere
    };
    p.home = find_home(&p);
    CopyPlan plan;
    copy_plan_begin(&plan);
    Error *error = perform_for(&p, &plan);
    copy_plan_end(&plan);
    return error;
}

void collective_skip(const Collective *c, const Frame *f)
{
    for (int i = 0; i < c->nout; i++) {
        size_t bytes = type_bytes(c->out_types[i]);
        if (bytes)
            memset(frame_at(f, c->out[i]), 0, bytes);
    }
}
