/* grow_index.h - random gathers and scatters, with every form of their dimension numbers. */
#ifndef TUTTI_TESTS_RANDOM_GROW_INDEX_H
#define TUTTI_TESTS_RANDOM_GROW_INDEX_H
#include "tests/random/grow_fold.h"

/* Integers to be used as indices below about `most`: some outside, some repeated. */
static Grown index_array(Grower *g, Type type, int64_t most)
{
    int bits = bits_of(type);
    int64_t room = bits > 16 ? most + 3 : (int64_t)1 << (bits - (kind_of(type) == SIGNED)),
            of = most + 3;
    if (of >= room)
        of = room - 1;
    if (of < 1 || chance(10))
        return pick_like(g, type); /* anywhere */
    Grown v = chance(60) ? varied(g, type) : pick_like(g, type);
    if (kind_of(type) == SIGNED && chance(70))
        v = two_operands(g, "and", v,
                         number(g, type, (double)(room - 1 < 1000000 ? room - 1 : 1023)), type);
    v = two_operands(g, "remainder", v, number(g, type, (double)of), type);
    return chance(50) ? v : two_operands(g, "subtract", v, number(g, type, 1), type);
}

/* How windows of an array lie at indices: gather and scatter say it in the same way. */
typedef struct Indexing {
    int rank, nbatching, ncollapsed, nmapped;
    int64_t batching[MOST_DIMS], collapsed[MOST_DIMS], mapped[MOST_DIMS]; /* of the array */
    int64_t index_batching[MOST_DIMS]; /* dimensions of the indices */
    int64_t sizes[MOST_DIMS];          /* of a window, in every dimension of the array */
    int64_t index_dims[MOST_DIMS];
    int index_rank, vector_dim;
    int noffsets;
    int64_t offsets[MOST_DIMS]; /* dimensions of the windows' array that lie in a window */
    int64_t dims[MOST_DIMS];    /* of the windows' array */
    int out_rank;
} Indexing;

/* Which dimensions are batches, which are gone from a window, and which the indices move along. */
static void choose_dimensions(Indexing *x, Type array)
{
    int rest[MOST_DIMS], nrest = 0;
    x->rank = array.rank;
    for (int i = 0; i < array.rank; i++)
        if (chance(20)) {
            x->batching[x->nbatching++] = i;
            x->sizes[i] = array.dims[i] ? 1 : 0;
        } else {
            rest[nrest++] = i;
            bool is_gone = chance(45);
            if (is_gone)
                x->collapsed[x->ncollapsed++] = i;
            x->sizes[i] = is_gone      ? array.dims[i] ? 1 : 0
                          : chance(40) ? array.dims[i]
                                       : between(chance(10) ? 0 : array.dims[i] > 0, array.dims[i]);
        }
    x->nmapped = nrest ? (int)between(chance(5) ? 0 : 1, nrest) : 0;
    some_of(nrest, x->nmapped, chance(50), x->mapped);
    for (int i = 0; i < x->nmapped; i++)
        x->mapped[i] = rest[x->mapped[i]];
}

/* The indices' shape: batches of the array, others, and the vector somewhere or nowhere. */
static void choose_index_shape(Indexing *x, Type array)
{
    int nbatch = x->nbatching + (int)between(0, chance(20) ? 2 : 1);
    int64_t extents[MOST_DIMS];
    for (int i = 0; i < nbatch; i++)
        extents[i] = chance(4) ? 0 : chance(5) ? between(20, 60) : between(1, 7);
    some_of(nbatch, x->nbatching, chance(60), x->index_batching);
    for (int i = 0; i < x->nbatching; i++)
        extents[x->index_batching[i]] = array.dims[x->batching[i]];
    bool has_vector = x->nmapped != 1 || chance(60);
    x->vector_dim = has_vector ? (int)between(0, nbatch) : nbatch;
    x->index_rank = nbatch + has_vector;
    for (int i = 0, k = 0; i < x->index_rank; i++)
        x->index_dims[i] = has_vector && i == x->vector_dim ? x->nmapped : extents[k++];
    for (int i = 0; i < x->nbatching; i++) /* counted among all dimensions */
        if (has_vector && x->index_batching[i] >= x->vector_dim)
            x->index_batching[i]++;
    x->noffsets = x->rank - x->nbatching - x->ncollapsed;
    x->out_rank = nbatch + x->noffsets;
    some_of(x->out_rank, x->noffsets, true, x->offsets);
    for (int i = 0, b = 0, w = 0; i < x->out_rank; i++) {
        if (!holds(x->noffsets, x->offsets, i)) {
            x->dims[i] = extents[b++];
            continue;
        }
        while (holds(x->nbatching, x->batching, w) || holds(x->ncollapsed, x->collapsed, w))
            w++;
        x->dims[i] = x->sizes[w++];
    }
}

static bool choose_indexing(Grower *g, Indexing *x, Type array)
{
    if (array.rank > 4)
        return false;
    *x = (Indexing){ 0 };
    choose_dimensions(x, array);
    choose_index_shape(x, array);
    return x->out_rank <= 6 &&
           type_count(type_new(g->arena, I8, x->out_rank, x->dims)) <= g->most_count &&
           type_count(type_new(g->arena, I8, x->index_rank, x->index_dims)) <= g->most_count;
}

static Grown indices_for(Grower *g, const Indexing *x, Type array)
{
    int64_t most = 1;
    for (int i = 0; i < x->nmapped; i++)
        if (array.dims[x->mapped[i]] > most)
            most = array.dims[x->mapped[i]];
    return index_array(g, type_new(g->arena, index_element(), x->index_rank, x->index_dims), most);
}

static bool has_one_vector(const Indexing *x)
{
    int64_t n = 1;
    for (int i = 0; i < x->index_rank; i++)
        n *= i == x->vector_dim ? 1 : x->index_dims[i];
    return n <= 1;
}

static bool grow_gather(Grower *g)
{
    Grown in[2];
    Indexing x;
    if (!pick(g, any_type, &in[0]) || !choose_indexing(g, &x, in[0].type))
        return false;
    in[1] = indices_for(g, &x, in[0].type);
    Grown v = new_value(g, type_new(g->arena, in[0].type.element, x.out_rank, x.dims));
    const char *numbers = words(
        g,
        "dimension_numbers = #stablehlo.gather<offset_dims = [%s], collapsed_slice_dims = [%s], "
        "operand_batching_dims = [%s], start_indices_batching_dims = [%s], start_index_map = [%s], "
        "index_vector_dim = %d>, indices_are_sorted = %s",
        ints(g, x.noffsets, x.offsets), ints(g, x.ncollapsed, x.collapsed),
        ints(g, x.nbatching, x.batching), ints(g, x.nbatching, x.index_batching),
        ints(g, x.nmapped, x.mapped), x.vector_dim, has_one_vector(&x) ? "true" : "false");
    write_op(g, "gather", 2, in,
             words(g, "%s, slice_sizes = %s", numbers, array(g, x.rank, x.sizes)), 1, &v);
    keep(g, moved(v, 1, in));
    return true;
}

/* Updates of one to three arrays at once.  The order of updates of one place is open, so each array
 * has an operation that does not mind, or indices are few enough to be unique. */
static bool grow_scatter(Grower *g)
{
    enum { MOST = 3 };
    Grown in[2 * MOST + 1], out[MOST], args[2 * MOST], results[MOST] = { 0 };
    Combiner combiners[MOST];
    Indexing x;
    Type made[MOST] = { 0 };
    int n = chance(75) ? 1 : (int)between(2, MOST);
    if (!pick(g, any_type, &in[0]) || !choose_indexing(g, &x, in[0].type))
        return false;
    Type array = in[0].type;
    bool is_unique = has_one_vector(&x);
    for (int i = 0; i < n; i++) {
        if (i)
            in[i] = pick_like(g, with_element(array, grow_element(g)));
        Type part = type_new(g->arena, in[i].type.element, x.out_rank, x.dims);
        in[n + 1 + i] = pick_like(g, part);
        combiners[i] = choose_combiner(g, in[i].type, is_unique);
        prepare_both(g, combiners[i], &in[i], &in[n + 1 + i]);
        made[i] = in[i].type;
    }
    in[n] = indices_for(g, &x, array);
    new_values(g, n, made, out);
    open_op(g, "scatter", 2 * n + 1, in,
            words(g,
                  "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [%s], "
                  "inserted_window_dims = [%s], input_batching_dims = [%s], "
                  "scatter_indices_batching_dims = [%s], scatter_dims_to_operand_dims = [%s], "
                  "index_vector_dim = %d>, indices_are_sorted = %s, unique_indices = %s",
                  ints(g, x.noffsets, x.offsets), ints(g, x.ncollapsed, x.collapsed),
                  ints(g, x.nbatching, x.batching), ints(g, x.nbatching, x.index_batching),
                  ints(g, x.nmapped, x.mapped), x.vector_dim, is_unique ? "true" : "false",
                  is_unique ? "true" : "false"),
            n, out);
    region_args(g, n, made, args);
    for (int i = 0; i < n; i++)
        results[i] = combined(g, combiners[i], args[i], args[n + i]);
    return_line(g, "stablehlo.return", n, results);
    close_op(g, 2 * n + 1, in, n, out);
    for (int i = 0; i < n; i++)
        keep(g,
             combiners[i] == LAST ? moved(out[i], 2, (Grown[]){ in[i], in[n + 1 + i] }) : out[i]);
    return true;
}
#endif
