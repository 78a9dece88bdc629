/* cross_owner.c - a large sum whose operands cannot be folded process by process: each process owns a
 * slice of every operand, sums it for all, and sends it to all.
 *
 *     slices to their owners --> sums of the own slice, in the order of ranks --> sums to all */
#include "engine/exec/crossing.h"

#include <stdlib.h>

typedef struct ByteRange {
    size_t at, bytes;
} ByteRange;

typedef struct Owner {
    int me, nprocesses;
    int processes[POSSIBLE_DEVICES];
    int phase; /* exchanges that are done with */
} Owner;

/* Of operand i what the k-th process sums; whole elements. */
static ByteRange slice_of(const Crossing *x, int i, int k)
{
    const Owner *owner = x->way;
    Type t = x->members.c->in_types[i];
    int64_t count = type_count(t), n = owner->nprocesses;
    size_t element = (size_t)element_info[t.element].bytes;
    size_t at = (size_t)(count * k / n) * element, end = (size_t)(count * (k + 1) / n) * element;
    return type_bytes(t) ? (ByteRange){ at, end - at } : (ByteRange){ 0, 0 };
}

static void add_part(Exchange *e, int peer, bool is_sent, char *at, size_t bytes)
{
    if (bytes)
        e->parts[e->nparts++] = (WirePart){ peer, is_sent, at, bytes };
}

/* Where the own slice of operand i of rank r comes to, if r is elsewhere. */
static char *copy_at(const Crossing *x, int r, int i)
{
    const Owner *owner = x->way;
    char *at = x->staging;
    for (int j = 0; j < x->members.c->nin; j++) {
        size_t bytes = slice_of(x, j, owner->me).bytes;
        at += (size_t)(j < i ? x->members.n : j == i ? r : 0) * bytes;
    }
    return at;
}

static void list_slices(Crossing *x)
{
    const Owner *owner = x->way;
    const Participants *m = &x->members;
    Exchange *e = &x->exchanges[0];
    for (int r = 0; r < m->n; r++)
        for (int i = 0; i < m->c->nin; i++) {
            if (!is_here(m, r)) {
                add_part(e, x->elsewhere.process_of[r], false, copy_at(x, r, i),
                         slice_of(x, i, owner->me).bytes);
                continue;
            }
            for (int k = 0; k < owner->nprocesses; k++) {
                ByteRange s = slice_of(x, i, k);
                if (k != owner->me)
                    add_part(e, owner->processes[k], true, operand_at(m, r, i) + s.at, s.bytes);
            }
        }
}

static void list_sums(Crossing *x)
{
    const Owner *owner = x->way;
    Exchange *e = &x->exchanges[1];
    for (int i = 0; i < x->members.c->nin; i++)
        for (int k = 0; k < owner->nprocesses; k++) {
            char *results[POSSIBLE_DEVICES];
            ByteRange mine = slice_of(x, i, owner->me), theirs = slice_of(x, i, k);
            sums_here(&x->members, i, results);
            if (k == owner->me)
                continue;
            add_part(e, owner->processes[k], true, results[0] + mine.at, mine.bytes);
            add_part(e, owner->processes[k], false, results[0] + theirs.at, theirs.bytes);
        }
}

/* ---- sums ---- */

/* Executes the plan, unless an error has come up while it was made, and ends it. */
static Error *carry_out(const Crossing *x, CopyPlan *plan, Error *error)
{
    plan->c = x->members.c;
    plan->frame = x->members.frames[x->members.home];
    if (!error)
        copy_plan_execute(plan);
    copy_plan_end(plan);
    return error;
}

static Error *sum_slices(Crossing *x)
{
    const Owner *owner = x->way;
    const Participants *m = &x->members;
    CopyPlan plan;
    copy_plan_begin(&plan);
    Error *error = NULL;
    for (int i = 0; i < m->c->nin && !error; i++) {
        ByteRange mine = slice_of(x, i, owner->me);
        char *results[POSSIBLE_DEVICES], **at;
        Step step = { .kind = STEP_REDUCE,
                      .nin = m->n,
                      .nout = 1,
                      .element = (size_t)element_info[m->c->in_types[i].element].bytes,
                      .rows = one_span(mine.bytes) };
        if (!mine.bytes)
            continue;
        sums_here(m, i, results);
        error = copy_plan_add(&plan, &step, &at);
        for (int r = 0; r < m->n && !error; r++)
            at[r] = is_here(m, r) ? operand_at(m, r, i) + mine.at : copy_at(x, r, i);
        if (!error)
            at[m->n] = results[0] + mine.at;
    }
    return carry_out(x, &plan, error);
}

/* The whole sums have come to one result here; the others take them. */
static Error *spread_sums(Crossing *x)
{
    const Participants *m = &x->members;
    CopyPlan plan;
    copy_plan_begin(&plan);
    Error *error = NULL;
    for (int i = 0; i < m->c->nin && !error; i++) {
        char *results[POSSIBLE_DEVICES], **at;
        int nout = sums_here(m, i, results) - 1;
        Step step = { .kind = STEP_COPY,
                      .nin = 1,
                      .nout = nout,
                      .rows = one_span(type_bytes(m->c->in_types[i])) };
        if (!nout || !step.rows.span)
            continue;
        error = copy_plan_add(&plan, &step, &at);
        for (int o = 0; o <= nout && !error; o++)
            at[o] = results[o];
    }
    return carry_out(x, &plan, error);
}

static Error *step(Crossing *x)
{
    Owner *owner = x->way;
    if (crossing_is_open(x) || owner->phase > 1)
        return NULL;
    if (++owner->phase == 2)
        return spread_sums(x);
    TRY(sum_slices(x));
    list_sums(x);
    crossing_exchange(x, 1);
    return NULL;
}

Error *cross_by_owner(Crossing *x)
{
    const Collective *c = x->members.c;
    Owner *owner = x->way = calloc(1, sizeof *owner);
    if (!owner)
        return crossing_no_memory(x);
    for (int i = 0; i < c->nin; i++)
        if (!type_equal(c->in_types[i], c->out_types[i]))
            return collective_misfit(&x->members, i);
    int n = owner->nprocesses = cross_processes(&x->elsewhere, x->members.n, owner->processes);
    while (owner->processes[owner->me] != x->elsewhere.process)
        owner->me++;
    size_t most = (size_t)(x->members.n * c->nin * n), bytes = 0;
    for (int k = 0; k < 2; k++) {
        x->exchanges[k].parts = malloc(sizeof(WirePart) * (2 * most + 1));
        if (!x->exchanges[k].parts)
            return crossing_no_memory(x);
    }
    for (int i = 0; i < c->nin; i++)
        bytes += (size_t)x->members.n * slice_of(x, i, owner->me).bytes;
    TRY(participants_begin(&x->members));
    TRY(crossing_staging(x, bytes));
    list_slices(x);
    x->step = step;
    crossing_exchange(x, 0);
    return NULL;
}
