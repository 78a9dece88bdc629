/* Lesson 8: run a program that JAX exported.
 *
 *     from jax import export
 *     export.export(jax.jit(energy))(shape).mlir_module()     -> program.mlir
 *
 * A loaded program is a tt_fn like any other: call it, differentiate it, map it
 * over an array, map it over devices.  program.mlir takes f32[3], gives f32[]. */
#include <stdio.h>
#include <tutti.h>

int main(int argc, char **argv)
{
    tt_fn energy = tt_load(argc > 1 ? argv[1] : "examples/program.mlir");

    puts("the energy of one vector, and its gradient:");
    tt_print(tt_call(energy, tt_ones(TT_F32, 3)));
    tt_print(tt_call(tt_grad(energy), tt_ones(TT_F32, 3)));

    int n = tt_device_count();
    tt rows = tt_div(tt_reshape(tt_arange(TT_F32, 3 * n), n, 3), 3 * n);
    puts("of a row for each device:");
    tt_print(tt_call(tt_pmap(energy), rows));
    puts("the gradients:");
    tt_print(tt_call(tt_vmap(tt_grad(energy)), rows));
}
