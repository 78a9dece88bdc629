/* collectives.c - collectives of all kinds, small and large, over eight devices: prints a number made of
 * all bytes of each result.  Whatever processes have the devices, the numbers must be the same. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti.h>

static tt sum(tt x)
{
    return tt_psum(x, "d");
}

static tt greatest(tt x)
{
    return tt_pmax(x, "d");
}

/* In an order that goes back and forth between processes. */
static tt sum_in_groups(tt x)
{
    return tt_psum(x, "d", .groups = TT_GROUPS(TT_GROUP(0, 4, 1, 5), TT_GROUP(2, 6, 7, 3)));
}

typedef struct {
    tt a, b;
} Pair;

static Pair sum_both(tt x)
{
    return tt_psum(((Pair){ tt_mul(x, 2), tt_sum(x) }), "d");
}
TT_FUN(Pair, sum_both, tt);

static tt scatter(tt x)
{
    return tt_psum_scatter(x, "d", .axis = 0, .tiled = true);
}

static tt scatter_columns(tt x)
{
    return tt_psum_scatter(x, "d", .axis = 1, .tiled = true);
}

static tt gather(tt x)
{
    return tt_all_gather(x, "d", .axis = 1, .tiled = true);
}

static tt turn(tt x)
{
    return tt_all_to_all(x, "d", .axis = 0, .concat_axis = 1, .tiled = true);
}

static tt turn_back(tt x)
{
    return tt_all_to_all(x, "d", .axis = 1, .concat_axis = 0, .tiled = true);
}

static tt shift(tt x)
{
    return tt_ppermute(x, "d", { 0, 5 }, { 5, 2 }, { 3, 4 }, { 4, 0 }, { 7, 7 });
}

/* Some processes have no part in the first of the two. */
static tt shift_and_sum(tt x)
{
    return tt_psum(tt_add(tt_ppermute(x, "d", { 0, 4 }), x), "d");
}

static void show(const char *name, tt x)
{
    tt flat = tt_astype(tt_reshape(x, -1), TT_F64);
    size_t bytes = sizeof(double) * (size_t)tt_shape(flat).v[0];
    unsigned char *data = malloc(bytes);
    uint64_t hash = 1469598103934665603u;
    if (!data || !tt_read(flat, data, bytes))
        exit(1);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    printf("%s %016llx\n", name, (unsigned long long)hash);
    free(data);
}

/* All of them on arrays of rows x columns a device. */
static void play(tt_dtype type, int64_t rows, int64_t columns)
{
    TT_SCOPE;
    tt x = tt_astype(tt_sub(tt_uniform(tt_key(7), TT_F32, 8, rows, columns), 0.5), type);
    printf("%lld x %lld of type %d\n", (long long)rows, (long long)columns, (int)type);
    show("sum", tt_call(tt_pmap(sum, .axis_name = "d"), x));
    show("greatest", tt_call(tt_pmap(greatest, .axis_name = "d"), x));
    show("groups", tt_call(tt_pmap(sum_in_groups, .axis_name = "d"), x));
    Pair both = tt_call_as(Pair, tt_pmap(sum_both, .axis_name = "d"), x);
    show("both", both.a);
    show("both", both.b);
    show("scatter", tt_call(tt_pmap(scatter, .axis_name = "d"), x));
    show("columns", tt_call(tt_pmap(scatter_columns, .axis_name = "d"), x));
    show("gather", tt_call(tt_pmap(gather, .axis_name = "d"), x));
    show("turn", tt_call(tt_pmap(turn, .axis_name = "d"), x));
    show("back", tt_call(tt_pmap(turn_back, .axis_name = "d"), x));
    show("shift", tt_call(tt_pmap(shift, .axis_name = "d"), x));
    show("shift and sum", tt_call(tt_pmap(shift_and_sum, .axis_name = "d"), x));
}

int main(void)
{
    play(TT_F32, 8, 16);
    play(TT_F32, 264, 1000);  /* 17 pieces of a chain */
    play(TT_BF16, 264, 1000); /* which is rounded once */
}
