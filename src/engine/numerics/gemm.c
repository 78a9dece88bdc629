/* gemm.c - matrix products that compiled code calls.
 *
 * In: two matrices with any strides.  Out: their product.  Which instruction set's loops run (gemm.h) is
 * decided by the machine alone, so that results repeat. */
#include "engine/numerics/gemm.h"

#include "engine/cpu_level.h"

#include <stdatomic.h>
#include <unistd.h>

#if defined __x86_64__
const GemmLevel *gemm_level_of(GemmKind kind)
{
    bool is_bf16 = kind == GEMM_BF16 || kind == GEMM_BF16_ROUNDED;
    bool has_dots = is_bf16                               ? cpu_has(CPU_BF16_DOTS)
                    : kind == GEMM_I8 || kind == GEMM_I16 ? cpu_has(CPU_INTEGER_DOTS)
                                                          : false;
    bool has_tiles = (is_bf16 || kind == GEMM_I8) && cpu_has(CPU_TILES);
    return has_tiles                  ? &gemm_level_amx
           : has_dots                 ? &gemm_level_dots
           : cpu_vector_bytes() == 64 ? &gemm_level_512
           : cpu_vector_bytes() == 32 ? &gemm_level_256
                                      : &gemm_level_128;
}
#else
const GemmLevel *gemm_level_of(__attribute__((unused)) GemmKind kind)
{
    return &gemm_level_128;
}
#endif

void gemm(const Frame *frame, int64_t kind, int64_t m, int64_t n, int64_t k, const void *a,
          int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col, void *c,
          int64_t c_row)
{
    gemm_level_of((GemmKind)kind)
        ->gemm[kind](frame, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
}

void gemm_f32(const Frame *frame, int64_t kind, int64_t m, int64_t n, int64_t k, const void *a,
              int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col, void *c,
              int64_t c_row)
{
    (void)kind;
    GemmFn *f = gemm_only_f32_128;
#if defined __x86_64__
    int bytes = cpu_vector_bytes();
    f = bytes == 64 ? gemm_only_f32_512 : bytes == 32 ? gemm_only_f32_256 : f;
#endif
    f(frame, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
}

void gather(const Frame *frame, int64_t kind, const Gather *gather, const void *seen,
            const void *other, void *c)
{
    gemm_level_of((GemmKind)kind)->gather[kind](frame, gather, seen, other, c);
}

void triangular_solve(Element e, const TriangularSystem *s, int64_t matrices)
{
    GemmKind kind = (GemmKind)gemm_kind(e, e, e);
    gemm_level_of(kind)->solve[kind](s, matrices);
}

/* ---- what threads have packed ---- */

Kept *gemm_kept(void)
{
    static _Thread_local Kept kept;
    return &kept;
}

uint64_t gemm_number(void)
{
    static _Atomic uint64_t products;
    /* relaxed: it only has to be another one */
    return 1 + atomic_fetch_add_explicit(&products, 1, memory_order_relaxed);
}

/* ---- the machine ---- */

int gemm_cache_ways(void)
{
    enum { FEWEST = 8 };
    static _Atomic int known;
    /* relaxed: whoever finds nothing finds the same */
    int ways = atomic_load_explicit(&known, memory_order_relaxed);
    if (!ways) {
        long said = sysconf(_SC_LEVEL1_DCACHE_ASSOC);
        ways = said > 0 ? (int)said : FEWEST;
        atomic_store_explicit(&known, ways, memory_order_relaxed);
    }
    return ways;
}

/* ---- which types ---- */

static const struct {
    Element operands, sum;
} kinds[GEMM_KINDS] = {
    [GEMM_F32] = { F32, F32 },
    [GEMM_F64] = { F64, F64 },
    [GEMM_C64] = { C64, C64 },
    [GEMM_C128] = { C128, C128 },
    [GEMM_BF16] = { BF16, F32 },
    [GEMM_F16] = { F16, F32 },
    [GEMM_I8] = { I8, I32 },
    [GEMM_I16] = { I16, I32 },
    [GEMM_I32] = { I32, I32 },
    [GEMM_I64] = { I64, I64 },
    [GEMM_BF16_ROUNDED] = { BF16, BF16 },
};

/* Products and sums of integers are the same with and without signs, if they are as wide. */
static Element as_signed(Element e)
{
    return e == U32 ? I32 : e == U64 ? I64 : e;
}

int gemm_kind(Element lhs, Element rhs, Element out)
{
    for (int kind = 0; kind < GEMM_KINDS; kind++)
        if (as_signed(lhs) == kinds[kind].operands && as_signed(rhs) == kinds[kind].operands &&
            as_signed(out) == kinds[kind].sum)
            return kind;
    return -1;
}

static GemmTypes float_types(Element lhs, Element rhs, Element out)
{
    Element sum = lhs == F64 || rhs == F64 || out == F64 ? F64 : F32;
    bool is_narrow = lhs == rhs && (lhs == BF16 || lhs == F16) && sum == F32;
    return (GemmTypes){ true, is_narrow ? lhs : sum, sum };
}

static GemmTypes integer_types(Element lhs, Element rhs, Element out)
{
    Element sum = element_info[out].bits < 32 ? I32 : out, operands = sum;
    bool is_32 = element_info[sum].bits == 32;
    if (is_32 && lhs == I8 && rhs == I8)
        operands = I8;
    else if (is_32 && (lhs == I8 || lhs == U8 || lhs == I16) &&
             (rhs == I8 || rhs == U8 || rhs == I16))
        operands = I16;
    return (GemmTypes){ element_info[out].bits >= 8, operands, sum };
}

GemmTypes gemm_types(Element lhs, Element rhs, Element out)
{
    switch (element_info[out].kind) {
    case FLOAT: return float_types(lhs, rhs, out);
    case SIGNED:
    case UNSIGNED: return integer_types(lhs, rhs, out);
    case COMPLEX: return (GemmTypes){ true, out, out };
    default: return (GemmTypes){ 0 };
    }
}

bool gemm_gathers(int kind)
{
    return kind >= 0 && gemm_level_128.gather[kind];
}
