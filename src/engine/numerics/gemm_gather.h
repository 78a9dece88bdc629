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
/* to[p * width + l] = from[base[l] + p] for `depth` p, at least LANES of them.  Up to LANES elements
 * behind the last may be written, as in pack. */
ATTR static inline __attribute__((always_inline)) void
NAME(transpose_span)(const NAME(Shuffles) *shuffles, T *to, int width, int rows, int64_t depth, const T *from,
               const int64_t *base)
{
    for (int64_t p = 0; p < depth; p += NAME(LANES)) {
        /* the last are packed once more with the first of them, so that nothing is read behind */
        int64_t q = p + NAME(LANES) <= depth ? p : depth - NAME(LANES);
        for (int i = (width - 1) / NAME(LANES) * NAME(LANES); i >= 0; i -= NAME(LANES)) {
            NAME(Vec) v[NAME(LANES)];
#pragma GCC unroll 16
            for (int l = 0; l < NAME(LANES); l++)
                v[l] = i + l < rows ? *(const NAME(Vec) *)(from + base[i + l] + q) : (NAME(Vec)){ 0 };
            NAME(transpose_registers)(shuffles, v, to + q * width + i, width);
        }
    }
}

/* n elements; in vectors, the last of which may write some of them once more. */
ATTR static inline __attribute__((always_inline)) void NAME(copy_beside)(T *to, const T *from, int n)
{
    typedef T Part __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
    enum { WIDTH = 16 / (int)sizeof(T) };
    int i = 0;
    for (; n >= NAME(LANES) && i < n; i += NAME(LANES)) {
        int at = i + NAME(LANES) <= n ? i : n - NAME(LANES);
        *(NAME(Vec) *)(to + at) = *(const NAME(Vec) *)(from + at);
    }
    for (; n >= WIDTH && i < n; i += WIDTH) {
        int at = i + WIDTH <= n ? i : n - WIDTH;
        *(Part *)(to + at) = *(const Part *)(from + at);
    }
    for (; i < n; i++)
        to[i] = from[i];
}

/* Lines first .. first + rows, elements pc .. pc + depth of each. */
ATTR static inline __attribute__((always_inline)) void
NAME(pack_lines)(T *to, int width, const Gather *g, const T *from, int64_t first, int rows,
                 int64_t pc, int64_t depth)
{
    enum { WIDEST = ROWS > NAME(COLS) ? ROWS : NAME(COLS) };
    int64_t base[WIDEST] = { 0 };
    int groups = 0, group[WIDEST + 1]; /* of lines side by side: where each begins, and the end */
    Places line = places_at(g->nlines, g->dims, first);
    for (int l = 0; l < rows; l++, places_skip(&line, 1)) {
        base[l] = line.offset;
        if (l == 0 || base[l] != base[l - 1] + 1)
            group[groups++] = l;
    }
    group[groups] = rows;
    NAME(Shuffles) shuffles = NAME(transpose_shuffles)();
    Places at = places_at(g->ndepth, g->dims + g->nlines, pc);
    for (int64_t p = 0, run; p < depth; p += run, places_skip(&at, run)) {
        run = places_beside(&at, depth - p);
        const T *here = from + at.offset;
        T *out = to + p * width;
        if (run >= NAME(LANES) && BYTES > 16) {
            NAME(transpose_span)(&shuffles, out, width, rows, run, here, base);
            continue;
        }
        for (int64_t q = 0; q < run; q++, out += width, here++) {
            for (int i = 0; i < groups; i++)
                NAME(copy_beside)(out + group[i], here + base[group[i]], group[i + 1] - group[i]);
            for (int l = rows; l < width; l++)
                out[l] = 0;
        }
    }
}

ATTR static void NAME(gather_a)(T *to, const Gather *g, const T *a, int64_t first, int64_t rows,
                                int64_t pc, int64_t depth)
{
    for (int64_t i = 0; i < rows; i += ROWS)
        NAME(pack_lines)(to + i * KC, ROWS, g, a, first + i,
                         (int)(rows - i < ROWS ? rows - i : ROWS), pc, depth);
}

ATTR static void NAME(gather_b)(T *to, const Gather *g, const T *b, int64_t first, int cols,
                                int64_t pc, int64_t depth)
{
    NAME(pack_lines)(to, NAME(COLS), g, b, first, cols, pc, depth);
}
