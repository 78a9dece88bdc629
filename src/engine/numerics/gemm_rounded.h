/* gemm_rounded.h - sums of f32 that become bf16 as they are written.
 *
 * Included by gemm_body.h, for one kind and one instruction set: products of bf16 whose results are bf16 too.
 * Sums of f32 in memory would be written and read once more, which takes longer than to multiply where the
 * depth is short.  ROUND_SUMS(x), if there is one, is the instruction that rounds a vector. */

/* See gemm_body.h. */
/* clang-format off */
typedef uint16_t NAME(Halves) __attribute__((vector_size(2 * NAME(LANES)), aligned(2), may_alias));

/* To the nearest, of two to the even one, as compiled code rounds.  NaN would be carried over into an infinity. */
ATTR static inline __attribute__((always_inline)) NAME(Halves) NAME(round_sums)(NAME(Vec) x)
{
#ifdef ROUND_SUMS
    return (NAME(Halves))ROUND_SUMS(x);
#else
    typedef uint32_t Bits __attribute__((vector_size(BYTES)));
    Bits bits = (Bits)x, up = bits + 0x7fff + (bits >> 16 & 1), nan = bits | 0x400000, is_nan = (Bits)(x != x);
    Bits rounded = ((up & ~is_nan) | (nan & is_nan)) >> 16;
#if BYTES == 64
    return (NAME(Halves))_mm512_cvtepi32_epi16((__m512i)rounded);
#else
    return __builtin_convertvector(rounded, NAME(Halves));
#endif
#endif
}

/* n sums, of vectors that are whole. */
ATTR static inline __attribute__((always_inline)) void NAME(put_rounded)(uint16_t *to, const T *sums, int n)
{
    enum { LANES = NAME(LANES) };
    for (int j = 0; j < n; j += LANES) {
        NAME(Halves) halves = NAME(round_sums)(*(const NAME(Vec) *)(sums + j));
        if (j + LANES <= n)
            *(NAME(Halves) *)(to + j) = halves;
        else
            memcpy(to + j, &halves, sizeof *to * (size_t)(n - j));
    }
}
