/* gather.c - all_gather and all_to_all: nothing is computed, everything finds its place.
 *
 *     all_gather along dimension 1             all_to_all, split 0, concat 1
 *     rank 0   rank 1     everybody            rank 0   rank 1      rank 0   rank 1
 *      a b      e f    ->  a b e f              a b      e f    ->   a b e f  c d g h
 *      c d      g h        c d g h              c d      g h
 */
#include "engine/collectives/group.h"

static Error *all_gather_operand(const Parts *p, CopyPlan *s, int i, int dim)
{
    Type part = p->m->in_types[i], whole = p->m->out_types[i];
    if (dim < 0 || dim >= part.rank || whole.rank != part.rank ||
        part.dims[dim] * p->n != whole.dims[dim] || type_count(part) * p->n != type_count(whole))
        return collective_misfit(p, i);
    int nout = part_is_shared(p, i) ? 1 : p->n;
    Rows rows = { .run = bytes_from(part, dim), .near = extent_before(part, dim), .far = 1 };
    rows.in_near = (int64_t)rows.run;
    rows.out_near = (int64_t)rows.run * p->n;
    Step step = { .kind = STEP_COPY, .nin = 1, .nout = nout, .rows = rows };
    for (int r = 0; type_bytes(part) && r < p->n; r++) {
        char **at;
        TRY(copy_plan_add(s, &step, &at));
        at[0] = part_in(p, r, i);
        for (int o = 0; o < nout; o++)
            at[1 + o] = part_out(p, o, i) + (size_t)r * rows.run;
    }
    return NULL;
}

Error *write_all_gather(const Parts *p, CopyPlan *s)
{
    const AllGatherAttrs *attrs = p->m->attrs;
    for (int i = 0; i < p->m->nin; i++)
        TRY(all_gather_operand(p, s, i, (int)attrs->all_gather_dim));
    return NULL;
}

static bool all_to_all_fits(const Parts *p, Type in, Type out, int split, int concat)
{
    if (in.rank != out.rank || split < 0 || split >= in.rank || concat < 0 || concat >= in.rank)
        return false;
    if (in.dims[split] % p->n)
        return false;
    for (int i = 0; i < in.rank; i++) {
        int64_t extent = in.dims[i];
        extent = i == split ? extent / p->n : extent;
        extent = i == concat ? extent * p->n : extent;
        if (out.dims[i] != extent)
            return false;
    }
    return true;
}

/* What one member has for another: how it lies with both, and where the next one's begins. */
typedef struct Share {
    Rows rows;
    int64_t in_step, out_step;
} Share;

/* The later of the two dimensions begins a run; runs up to the earlier one are near. */
static Share share_of(Type in, int split, int concat, int n)
{
    bool splits_first = split < concat;
    int low = splits_first ? split : concat, high = splits_first ? concat : split;
    Share s = { .rows = { .run = bytes_from(in, high), .far = extent_before(in, low) } };
    Rows *r = &s.rows;
    if (!r->far || !r->run)
        return s;
    r->near = extent_before(in, high) / r->far;
    if (splits_first)
        r->near /= n;
    else
        r->run /= (size_t)n;
    int64_t run = (int64_t)r->run, block = r->near * run;
    r->in_far = r->out_far = n * block;
    r->in_near = splits_first ? run : n * run;
    r->out_near = splits_first ? n * run : run;
    s.in_step = splits_first ? block : run;
    s.out_step = splits_first ? run : block;
    return s;
}

static Share share_of_operand(const Parts *p, int i)
{
    const AllToAllAttrs *attrs = p->m->attrs;
    return share_of(p->m->in_types[i], (int)attrs->split_dimension, (int)attrs->concat_dimension,
                    p->n);
}

bool exchanges_in_place(const Parts *p, int i)
{
    if (!parts_are_in_place(p, i))
        return false;
    Rows rows = share_of_operand(p, i).rows;
    return rows.near == 1 && rows.far == 1;
}

/* What each has for each later one, and that one for it. */
static Error *exchange_in_place(const Parts *p, CopyPlan *s, int i, const Share *share)
{
    Step step = { .kind = STEP_RING, .nout = 2, .rows = share->rows };
    for (int a = 0; a < p->n; a++)
        for (int b = a + 1; b < p->n; b++) {
            char **at;
            TRY(copy_plan_add(s, &step, &at));
            at[0] = part_in(p, a, i) + b * share->in_step;
            at[1] = part_in(p, b, i) + a * share->in_step;
        }
    return NULL;
}

static Error *exchange_apart(const Parts *p, CopyPlan *s, int i, const Share *share)
{
    Step step = { .kind = STEP_COPY, .nin = 1, .nout = 1, .rows = share->rows };
    for (int to = 0; to < p->n; to++)
        for (int from = 0; from < p->n; from++) {
            char **at;
            TRY(copy_plan_add(s, &step, &at));
            at[0] = part_in(p, from, i) + to * share->in_step;
            at[1] = part_out(p, to, i) + from * share->out_step;
        }
    return NULL;
}

Error *write_all_to_all(const Parts *p, CopyPlan *s)
{
    const AllToAllAttrs *attrs = p->m->attrs;
    for (int i = 0; i < p->m->nin; i++) {
        Type in = p->m->in_types[i];
        if (!all_to_all_fits(p, in, p->m->out_types[i], (int)attrs->split_dimension,
                             (int)attrs->concat_dimension))
            return collective_misfit(p, i);
        if (!type_bytes(in))
            continue;
        Share share = share_of_operand(p, i);
        TRY(exchanges_in_place(p, i) ? exchange_in_place(p, s, i, &share)
                                     : exchange_apart(p, s, i, &share));
    }
    return NULL;
}
