/* propagate.c - how the results of an operation lie on devices, given how its operands do.
 *
 * In go a node and its operands' tilings; out come its results' tilings, and whether each
 * device could compute its piece from the pieces it has.  Which dimensions belong together the
 * operation's factors say (ops/cuts.h).  A factor takes its cut from the operands that are cut
 * there: the finest, or none where they contradict one another. */
#include "engine/passes/place/propagate.h"

#include "base/guard.h"

#include <string.h>

/* ---- tilings by dimension ---- */

/* Does some device hold each of the tiles? */
static bool is_covered(const Tiling *t)
{
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++)
        if ((count *= t->tiles[i]) > t->ndevices)
            return false;
    bool *seen = HEAP_ARRAY(bool, count, "a list");
    int64_t held = 0;
    for (int d = 0; d < t->ndevices; d++) {
        int64_t at = 0;
        for (int i = 0; i < t->rank; i++)
            at = at * t->tiles[i] + t->tile_of[d * t->rank + i];
        held += !seen[at];
        seen[at] = true;
    }
    heap_free(seen);
    return held == count;
}

Tiling tiling_pick(Arena *arena, Type whole, int ndevices, const Pick *picks, bool may_be_uneven,
                   bool *dropped)
{
    int rank = whole.rank;
    int64_t *tiles = ARENA_ARRAY(arena, int64_t, rank);
    int64_t *tile_of = ARENA_ARRAY(arena, int64_t, rank * ndevices);
    Tiling t = { rank, ndevices, tiles, tile_of, 0, NULL };
    int last = 0;
    *dropped = false;
    for (int i = 0; i < rank; i++) {
        tiles[i] = 1;
        last = picks[i].order > last ? picks[i].order : last;
    }
    for (int order = 0; order <= last; order++)
        for (int i = 0; i < rank; i++) {
            const Tiling *from = picks[i].from;
            if (!from || picks[i].order != order || from->tiles[picks[i].dim] == 1)
                continue;
            tiles[i] = from->tiles[picks[i].dim];
            for (int d = 0; d < ndevices; d++)
                tile_of[d * rank + i] = from->tile_of[d * from->rank + picks[i].dim];
            bool is_even = may_be_uneven || whole.dims[i] % tiles[i] == 0;
            if (is_even && is_covered(&t))
                continue;
            *dropped = true;
            tiles[i] = 1;
            for (int d = 0; d < ndevices; d++)
                tile_of[d * rank + i] = 0;
        }
    return t;
}

Tiling tiling_copy(Arena *arena, Tiling t)
{
    size_t rank = (size_t)t.rank;
    t.tiles = arena_copy(arena, t.tiles, sizeof *t.tiles * rank);
    t.tile_of = arena_copy(arena, t.tile_of, sizeof *t.tile_of * rank * (size_t)t.ndevices);
    return t;
}

Tiling tiling_even(Arena *arena, Type whole, Tiling t)
{
    Pick picks[MAX_RANK];
    bool dropped;
    for (int i = 0; i < t.rank; i++)
        picks[i] = (Pick){ &t, i, 0 };
    return tiling_pick(arena, whole, t.ndevices, picks, false, &dropped);
}

bool is_finer_cut(const Tiling *b, int j, const Tiling *a, int i)
{
    if (b->tiles[j] % a->tiles[i])
        return false;
    int64_t ratio = b->tiles[j] / a->tiles[i];
    for (int d = 0; d < a->ndevices; d++)
        if (a->tile_of[d * a->rank + i] != b->tile_of[d * b->rank + j] / ratio)
            return false;
    return true;
}

bool tiling_refines(Tiling b, Tiling a)
{
    for (int i = 0; i < a.rank; i++)
        if (a.tiles[i] != 1 && !is_finer_cut(&b, i, &a, i))
            return false;
    return true;
}

/* ---- from factors to tilings ---- */

typedef struct Propagation {
    const Module *m;
    Arena *arena;
    const Node *node;
    Factors f;
} Propagation;

static Propagation propagation_of(const Module *m, Arena *arena, NodeId n)
{
    const Node *node = node_at(m, n);
    return (Propagation){ m, arena, node, node_factors(m, arena, node) };
}

/* What operand k says of the cuts of its factors.  A free factor goes before the others. */
static void add_cuts(const Factors *f, int k, const Tiling *t, Pick *cuts, bool *clashes)
{
    for (int d = 0; d < t->rank; d++) {
        int factor = f->of_in[k][d];
        if (factor == NO_FACTOR || t->tiles[d] == 1)
            continue;
        Pick *cut = &cuts[factor];
        Pick now = { t, d, f->kind[factor] == FACTOR_FREE ? k : f->nin + k };
        if (!cut->from || is_finer_cut(now.from, now.dim, cut->from, cut->dim))
            *cut = now;
        else if (!is_finer_cut(cut->from, cut->dim, now.from, now.dim))
            clashes[factor] = true;
    }
}

static bool is_broadcast(const Propagation *p, int k)
{
    NodeId def = value_def(p->m, p->node->in[k]);
    return def && node_at(p->m, def)->op == OP_BROADCAST;
}

/* The cut of each factor.  Where two factors want the same mesh axis, the one whose operand comes
 * first has it.  What is broadcast can be had as the others would like, so it has no say where
 * they have one. */
static Pick *choose_cuts(const Propagation *p, const Tiling *in)
{
    const Factors *f = &p->f;
    Pick *cuts = ARENA_ARRAY(p->arena, Pick, f->n + 1);
    Pick *weak = ARENA_ARRAY(p->arena, Pick, f->n + 1);
    bool *clashes = ARENA_ARRAY(p->arena, bool, f->n + 1);
    bool *weak_clashes = ARENA_ARRAY(p->arena, bool, f->n + 1);
    for (int k = 0; k < f->nin; k++)
        if (is_broadcast(p, k))
            add_cuts(f, k, &in[k], weak, weak_clashes);
        else
            add_cuts(f, k, &in[k], cuts, clashes);
    for (int i = 0; i < f->n; i++)
        if (clashes[i] || (!cuts[i].from && weak_clashes[i]))
            cuts[i] = (Pick){ 0 };
        else if (!cuts[i].from)
            cuts[i] = weak[i];
    return cuts;
}

static Tiling cut_by(Arena *arena, Type whole, const int *factors, const Pick *cuts, int ndevices,
                     bool may_be_uneven, bool *dropped)
{
    Pick picks[MAX_RANK];
    for (int d = 0; d < whole.rank; d++)
        picks[d] = factors[d] == NO_FACTOR ? (Pick){ 0 } : cuts[factors[d]];
    return tiling_pick(arena, whole, ndevices, picks, may_be_uneven, dropped);
}

/* Is a factor of that kind cut? */
static bool cuts_kind(const Factors *f, const Pick *cuts, FactorKind kind)
{
    for (int i = 0; i < f->n; i++)
        if (f->kind[i] == kind && cuts[i].from)
            return true;
    return false;
}

/* Which of the parts along the summed factors each device has. */
static void number_parts(const Propagation *of, const Pick *cuts, int ndevices, Placement *p)
{
    p->nparts = 1;
    p->part_of = ARENA_ARRAY(of->arena, int, ndevices);
    for (int i = 0; i < of->f.n; i++) {
        const Tiling *t = cuts[i].from;
        if (of->f.kind[i] != FACTOR_SUMMED || !t)
            continue;
        int64_t tiles = t->tiles[cuts[i].dim];
        p->nparts = (int)(p->nparts * tiles);
        for (int d = 0; d < ndevices; d++)
            p->part_of[d] = (int)(p->part_of[d] * tiles + t->tile_of[d * t->rank + cuts[i].dim]);
    }
}

Placement propagate(const Module *m, Arena *arena, NodeId n, const Tiling *in, int ndevices)
{
    Propagation of = propagation_of(m, arena, n);
    const Factors *f = &of.f;
    Placement p = { .results = ARENA_ARRAY(arena, Tiling, f->nout + 1),
                    .wants = ARENA_ARRAY(arena, Tiling, f->nin + 1) };
    Pick *cuts = choose_cuts(&of, in);
    bool dropped, is_possible = f->n > 0;
    for (int k = 0; k < f->nin; k++) {
        p.wants[k] = cut_by(arena, f->in[k], f->of_in[k], cuts, ndevices, false, &dropped);
        is_possible = is_possible && !dropped;
    }
    for (int k = 0; k < f->nout; k++) {
        p.results[k] = cut_by(arena, f->out[k], f->of_out[k], cuts, ndevices, false, &dropped);
        is_possible = is_possible && !dropped;
    }
    is_possible =
        is_possible && !cuts_kind(f, cuts, FACTOR_WHOLE) && !cuts_kind(f, cuts, FACTOR_WINDOW);
    p.is_partial = is_possible && cuts_kind(f, cuts, FACTOR_SUMMED);
    p.is_piecewise = is_possible && !p.is_partial;
    if (p.is_partial)
        number_parts(&of, cuts, ndevices, &p);
    return p;
}

/* ---- with operands moved ---- */

/* A cut that an operand has, and how many elements that operand has. */
typedef struct Wish {
    Pick cut;
    int64_t weight;
} Wish;

/* The cuts that operands have along each factor: of those that contradict one another, that of the
 * largest operand. */
static Wish *wished_cuts(const Propagation *of, const Tiling *in)
{
    const Factors *f = &of->f;
    Wish *wished = ARENA_ARRAY(of->arena, Wish, f->n + 1);
    for (int k = 0; k < f->nin; k++)
        for (int d = 0; d < in[k].rank; d++) {
            int factor = f->of_in[k][d];
            int64_t count = is_broadcast(of, k) ? 0 : type_count(f->in[k]);
            if (factor == NO_FACTOR || in[k].tiles[d] == 1 ||
                (wished[factor].cut.from && count <= wished[factor].weight))
                continue;
            wished[factor] = (Wish){ { &in[k], d, 0 }, count };
        }
    return wished;
}

/* The heaviest wish of that kind that is left; -1: there is none. */
static int next_wish(const Factors *f, const Wish *wished, FactorKind kind)
{
    int best = -1;
    for (int i = 0; i < f->n; i++)
        if (f->kind[i] == kind && wished[i].cut.from &&
            (best < 0 || wished[i].weight > wished[best].weight))
            best = i;
    return best;
}

/* Can all operands and results be cut so at once? */
static bool all_fit(const Propagation *of, const Pick *cuts, int ndevices)
{
    const Factors *f = &of->f;
    bool dropped = false;
    for (int k = 0; k < f->nin && !dropped; k++)
        cut_by(of->arena, f->in[k], f->of_in[k], cuts, ndevices, false, &dropped);
    for (int k = 0; k < f->nout && !dropped; k++)
        cut_by(of->arena, f->out[k], f->of_out[k], cuts, ndevices, false, &dropped);
    return !dropped;
}

/* Cuts the factor so, if nothing speaks against it. */
static bool try_cut(const Propagation *of, Pick *cuts, int factor, Pick cut, int ndevices)
{
    Pick before = cuts[factor];
    cuts[factor] = cut;
    if (all_fit(of, cuts, ndevices))
        return true;
    cuts[factor] = before;
    return false;
}

/* The cut goes to another factor that each device may have a piece of. */
static void try_elsewhere(const Propagation *of, Pick *cuts, Pick cut, int ndevices)
{
    for (int i = 0; i < of->f.n; i++)
        if (of->f.kind[i] == FACTOR_FREE && !cuts[i].from && try_cut(of, cuts, i, cut, ndevices))
            return;
}

/* First the cuts that stay where they are, those of large operands before others: of free factors, then
 * of sums. */
static Pick *keep_cuts(const Propagation *of, const Tiling *in, Wish *wished, int ndevices,
                       bool may_sum)
{
    const Factors *f = &of->f;
    Pick *cuts = ARENA_ARRAY(of->arena, Pick, f->n + 1);
    Pick *left = ARENA_ARRAY(of->arena, Pick, f->n + 1);
    static const FactorKind kinds[] = { FACTOR_FREE, FACTOR_SUMMED };
    for (int k = 0; k < 1 + may_sum; k++)
        for (int i; (i = next_wish(f, wished, kinds[k])) >= 0; wished[i].cut.from = NULL)
            if (!try_cut(of, cuts, i, wished[i].cut, ndevices))
                left[i] = wished[i].cut;
    for (int i = 0; i < f->n; i++) {
        Pick cut = left[i].from ? left[i] : wished[i].cut;
        if (cut.from)
            try_elsewhere(of, cuts, cut, ndevices);
    }
    for (int k = 0; k < f->nin; k++)
        for (int d = 0; d < in[k].rank; d++)
            if (f->of_in[k][d] == NO_FACTOR && in[k].tiles[d] != 1)
                try_elsewhere(of, cuts, (Pick){ &in[k], d, 0 }, ndevices);
    return cuts;
}

static Placement placement_of(const Propagation *of, const Pick *cuts, int ndevices)
{
    const Factors *f = &of->f;
    Arena *arena = of->arena;
    Placement p = { .results = ARENA_ARRAY(arena, Tiling, f->nout + 1),
                    .wants = ARENA_ARRAY(arena, Tiling, f->nin + 1) };
    bool dropped;
    for (int k = 0; k < f->nin; k++)
        p.wants[k] = cut_by(arena, f->in[k], f->of_in[k], cuts, ndevices, false, &dropped);
    for (int k = 0; k < f->nout; k++)
        p.results[k] = cut_by(arena, f->out[k], f->of_out[k], cuts, ndevices, false, &dropped);
    p.is_partial = cuts_kind(f, cuts, FACTOR_SUMMED);
    p.is_piecewise = !p.is_partial && cuts_kind(f, cuts, FACTOR_FREE);
    if (p.is_partial)
        number_parts(of, cuts, ndevices, &p);
    return p;
}

Placement propagate_moved(const Module *m, Arena *arena, NodeId n, const Tiling *in, int ndevices,
                          bool may_sum)
{
    Propagation of = propagation_of(m, arena, n);
    return placement_of(&of, keep_cuts(&of, in, wished_cuts(&of, in), ndevices, may_sum), ndevices);
}

static bool is_in_result(const Factors *f, int factor)
{
    for (int d = 0; f->nout && d < f->out[0].rank; d++)
        if (f->of_out[0][d] == factor)
            return true;
    return false;
}

/* A window factor of the result may be cut, and its operands have what they need of it; one that is
 * not in the result is summed over. */
static void open_windows(Factors *f)
{
    for (int i = 0; i < f->n; i++) {
        if (f->kind[i] != FACTOR_WINDOW)
            continue;
        f->kind[i] = is_in_result(f, i) ? FACTOR_FREE : FACTOR_SUMMED;
        for (int k = 0; f->kind[i] == FACTOR_FREE && k < f->nin; k++)
            for (int d = 0; d < f->in[k].rank; d++)
                if (f->of_in[k][d] == i)
                    f->of_in[k][d] = NO_FACTOR;
    }
}

Placement propagate_windows(const Module *m, Arena *arena, NodeId n, const Tiling *in, int ndevices)
{
    Propagation of = propagation_of(m, arena, n);
    Wish *wished = wished_cuts(&of, in);
    open_windows(&of.f);
    return placement_of(&of, keep_cuts(&of, in, wished, ndevices, true), ndevices);
}

Tiling *propagate_hints(const Module *m, Arena *arena, NodeId n, const Tiling *in, int ndevices)
{
    Propagation of = propagation_of(m, arena, n);
    const Factors *f = &of.f;
    Tiling *results = ARENA_ARRAY(arena, Tiling, f->nout + 1);
    Pick *cuts = choose_cuts(&of, in);
    bool dropped;
    for (int k = 0; k < f->nout; k++)
        results[k] = cut_by(arena, f->out[k], f->of_out[k], cuts, ndevices, true, &dropped);
    return results;
}
