/* gemm_gather.h - packing of an operand whose lines and depth are several dimensions each.
 *
 * Included by gemm_body.h, for one element type and one instruction set.  A line is a row of a or a
 * column of b; element p of line l lies at base(l) + offset(p): a window that moves over an image
 * sees, at its l-th place, the image in the order of the kernel.
 *
 *     places l     base(l) ->  [ row of the window | next row | ... ]    each row side by side
 *
 * Rows of the window that lie side by side are transposed in registers; where instead the places do
 * (the derivative by the kernel, images whose features come first), these are copied. */

/* See gemm_body.h. */
/* clang-format off */
enum { NAME(WIDEST) = ROWS > NAME(COLS) ? ROWS : NAME(COLS) };

/* n elements; in vectors, the last of which may write some of them once more. */
ATTR static inline __attribute__((always_inline)) void NAME(copy_beside)(S *to, const S *from, int64_t n)
{
#if BYTES == 64
    if (sizeof(S) == 4 && n < 16) { /* a row of a small image */
        __mmask16 some = (__mmask16)((1u << n) - 1);
        _mm512_mask_storeu_epi32(to, some, _mm512_maskz_loadu_epi32(some, from));
        return;
    }
#endif
    typedef S Whole __attribute__((vector_size(BYTES), aligned(sizeof(S)), may_alias));
    typedef S Part __attribute__((vector_size(16), aligned(sizeof(S)), may_alias));
    enum { LENGTH = BYTES / (int)sizeof(S), WIDTH = 16 / (int)sizeof(S) };
    int64_t i = 0;
    for (; n >= LENGTH && i < n; i += LENGTH) {
        int64_t at = i + LENGTH <= n ? i : n - LENGTH;
        *(Whole *)(to + at) = *(const Whole *)(from + at);
    }
    for (; n >= WIDTH && i < n; i += WIDTH) {
        int64_t at = i + WIDTH <= n ? i : n - WIDTH;
        *(Part *)(to + at) = *(const Part *)(from + at);
    }
    for (; i < n; i++)
        to[i] = from[i];
}

/* n elements that lie `step` apart: those that a window sees that moves by so many. */
ATTR static inline __attribute__((always_inline)) void
NAME(copy_apart)(S *to, const S *from, int64_t n, int64_t step)
{
    if (step == 1) {
        NAME(copy_beside)(to, from, n);
        return;
    }
#if BYTES == 64
    for (; sizeof(S) == 4 && step == 2 && n > 0; n -= 16, to += 16, from += 32) {
        __mmask16 some = (__mmask16)(n < 16 ? (1u << n) - 1 : 0xffff);
        uint32_t seen = n < 16 ? (1u << (2 * n - 1)) - 1 : 0x7fffffff;
        __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
        __m512i low = _mm512_maskz_loadu_epi32((__mmask16)seen, from);
        __m512i high = _mm512_maskz_loadu_epi32((__mmask16)(seen >> 16), from + 16);
        _mm512_mask_storeu_epi32(to, some, _mm512_permutex2var_epi32(low, even, high));
    }
#endif
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i * step];
}

typedef struct NAME(Bases) {
    int64_t base[NAME(WIDEST)], step;
    int n, group[NAME(WIDEST) + 1]; /* of lines one step apart: where each begins, and the end */
} NAME(Bases);

ATTR static inline __attribute__((always_inline)) NAME(Bases)
NAME(find_bases)(const Gather *g, int64_t first, int rows)
{
    NAME(Bases) bases = { .step = g->nlines ? g->dims[g->nlines - 1][1] : 1 };
    Places line = places_at(g->nlines, g->dims, first);
    for (int l = 0; l < rows; l++, places_skip(&line, 1)) {
        bases.base[l] = line.offset;
        if (l == 0 || bases.base[l] != bases.base[l - 1] + bases.step)
            bases.group[bases.n++] = l;
    }
    bases.group[bases.n] = rows;
    return bases;
}

/* Lines first .. first + rows, elements pc .. pc + depth of each, by way of a copy: CHUNK elements of each
 * line, or where lines lie side by side, of each element all lines; then as any lines by steps. */
ATTR static inline __attribute__((always_inline)) void
NAME(pack_copied)(P *to, bool is_a, const Gather *g, const S *from, int64_t first, int rows,
                 int64_t pc, int64_t depth)
{
    enum { CHUNK = 32 * DEEP };
    int width = is_a ? ROWS : NAME(COLS);
    S copy[NAME(WIDEST) * CHUNK];
    NAME(Bases) bases = NAME(find_bases)(g, first, rows);
    bool is_deep_beside = g->ndepth && g->dims[g->nlines + g->ndepth - 1][1] == 1;
    bool is_beside = 4 * bases.n <= rows && (bases.step == 1 || !is_deep_beside);
    NAME(Lines) lines = { copy, CHUNK, 1, rows, 0 };
    if (is_beside) {
        lines = (NAME(Lines)){ copy, 1, NAME(WIDEST), NAME(WIDEST), 0 };
        memset(copy, 0, sizeof copy); /* lines that are not there are read too */
    }
    Places at = places_at(g->ndepth, g->dims + g->nlines, pc);
    for (int64_t p = 0; p < depth; p += CHUNK, to += 32 * width) {
        lines.depth = NAME(least)(depth - p, CHUNK);
        for (int64_t q = 0, run; q < lines.depth; q += run, places_skip(&at, run)) {
            run = places_beside(&at, lines.depth - q);
            const S *here = from + at.offset;
            for (int l = 0; l < rows && !is_beside; l++)
                NAME(copy_beside)(copy + l * CHUNK + q, here + bases.base[l], run);
            for (int64_t r = q; r < q + run && is_beside; r++, here++)
                for (int i = 0; i < bases.n; i++)
                    NAME(copy_apart)(copy + r * NAME(WIDEST) + bases.group[i],
                                     here + bases.base[bases.group[i]],
                                     bases.group[i + 1] - bases.group[i], bases.step);
        }
        if (is_a)
            NAME(pack_tile)(to, lines);
        else
            NAME(pack_b)(to, lines);
    }
}

#if IS_PLAIN
/* to[p * width + l] = from[base[l] + p] for `depth` p, at least LANES of them.  Up to LANES elements
 * behind the last may be written, as in pack. */
ATTR static inline __attribute__((always_inline)) void
NAME(transpose_span)(const NAME(Shuffles) *shuffles, P *to, int width, int rows, int64_t depth, const S *from,
               const int64_t *base)
{
    for (int64_t p = 0; p < depth; p += NAME(LANES)) {
        /* the last are packed once more with the first of them, so that nothing is read behind */
        int64_t q = p + NAME(LANES) <= depth ? p : depth - NAME(LANES);
        for (int i = (width - 1) / NAME(LANES) * NAME(LANES); i >= 0; i -= NAME(LANES)) {
            NAME(Units) v[NAME(LANES)];
#pragma GCC unroll 16
            for (int l = 0; l < NAME(LANES); l++)
                v[l] = i + l < rows ? *(const NAME(Units) *)(from + base[i + l] + q) : (NAME(Units)){ 0 };
            NAME(transpose_registers)(shuffles, v, to + q * width + i, width);
        }
    }
}

/* The same straight from where they lie. */
ATTR static inline __attribute__((always_inline)) void
NAME(pack_direct)(P *to, int width, const Gather *g, const S *from, int64_t first, int rows,
                 int64_t pc, int64_t depth)
{
    NAME(Bases) bases = NAME(find_bases)(g, first, rows);
    NAME(Shuffles) shuffles = NAME(transpose_shuffles)();
    Places at = places_at(g->ndepth, g->dims + g->nlines, pc);
    for (int64_t p = 0, run; p < depth; p += run, places_skip(&at, run)) {
        run = places_beside(&at, depth - p);
        const S *here = from + at.offset;
        P *out = to + p * width;
        if (run >= NAME(LANES) && BYTES > 16) {
            NAME(transpose_span)(&shuffles, out, width, rows, run, here, bases.base);
            continue;
        }
        for (int64_t q = 0; q < run; q++, out += width, here++) {
            for (int i = 0; i < bases.n; i++)
                NAME(copy_apart)(out + bases.group[i], here + bases.base[bases.group[i]],
                                 bases.group[i + 1] - bases.group[i], bases.step);
            for (int l = rows; l < width; l++)
                out[l] = 0;
        }
    }
}
#endif

ATTR static inline __attribute__((always_inline)) void
NAME(pack_lines)(P *to, bool is_a, const Gather *g, const S *from, int64_t first, int rows,
                 int64_t pc, int64_t depth)
{
#if IS_PLAIN
    /* runs too short for squares, and lines apart: a copy makes runs of them */
    bool has_dims = g->nlines && g->ndepth;
    const int64_t *deepest = has_dims ? g->dims[g->nlines + g->ndepth - 1] : NULL;
    bool is_short = deepest && deepest[1] == 1 && deepest[0] >= 4 && deepest[0] < NAME(LANES);
    if (!is_short || g->dims[g->nlines - 1][1] == 1) {
        NAME(pack_direct)(to, is_a ? ROWS : NAME(COLS), g, from, first, rows, pc, depth);
        return;
    }
#endif
    NAME(pack_copied)(to, is_a, g, from, first, rows, pc, depth);
}

ATTR static void NAME(gather_a)(P *to, const Gather *g, const S *a, int64_t first, int64_t rows,
                                int64_t pc, int64_t depth)
{
    for (int64_t i = 0; i < rows; i += ROWS) {
        NAME(pack_lines)(to + i * KC, true, g, a, first + i,
                         (int)(rows - i < ROWS ? rows - i : ROWS), pc, depth);
        NAME(add_offset)(to + i * KC, depth);
    }
}

ATTR static void NAME(gather_b)(P *to, const Gather *g, const S *b, int64_t first, int cols,
                                int64_t pc, int64_t depth)
{
    NAME(pack_lines)(to, false, g, b, first, cols, pc, depth);
}
