/* Lesson 7: devices in rows and columns.
 *
 *              y = 0    y = 1
 *     x = 0    dev 0    dev 1       A is cut by rows along "x" and by columns
 *     x = 1    dev 2    dev 3       along "y"; B by rows along "y".
 *
 * Each device multiplies the blocks it holds.  That is a partial sum, over its
 * part of the inner axis; tt_psum along "y" completes it. */
#include <stdio.h>
#include <tutti.h>

static tt block_product(tt a, tt b)
{
    return tt_psum(tt_matmul(a, b), "y");
}

int main(void)
{
    int n = tt_device_count(), columns = n % 2 ? 1 : 2;
    tt_mesh mesh = tt_mesh_of({ "x", n / columns }, { "y", columns });

    tt a = tt_place(tt_reshape(tt_arange(TT_F32, 32), 8, 4), mesh, "x", "y");
    tt b = tt_place(tt_reshape(tt_arange(TT_F32, 12), 4, 3), mesh, "y", NULL);
    tt_show_sharding(a);

    tt_fn product =
        tt_shard_map(block_product, .mesh = mesh, .in_specs = { TT_P("x", "y"), TT_P("y", NULL) },
                     .out_spec = TT_P("x", NULL));
    puts("by hand:");
    tt_print(tt_call(product, a, b));

    puts("and without saying how:");
    tt_print(tt_call(tt_jit(tt_matmul), a, b));
}
