/* gemm_tiles_test.c - gemm_test.c's products of bf16 and i8, by the code for AMX with a model of its
 * instructions (tile_model.h): what is packed and what is read where is then proven on machines that have
 * none.  Those that have, have gemm_test.c itself. */
#include "tests/unit/tile_model.h"

#include "engine/numerics/gemm_amx.c"
#undef ROWS

/* The code around the instructions is AVX-512, with bf16. */
static const GemmLevel *level_of(void)
{
    static const GemmLevel none;
#if defined __x86_64__
    return __builtin_cpu_supports("avx512bf16") ? &gemm_level_amx : &none;
#else
    return &none;
#endif
}
#define LEVEL_OF(kind) level_of()
#include "tests/unit/gemm_test.c"
