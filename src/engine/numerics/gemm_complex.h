/* gemm_complex.h - packing of complex matrices for tiles of real numbers.
 *
 * Included by gemm_pack.h.  Numbers lie in memory as they are multiplied: c = a b is, in real numbers,
 *
 *   [c.re c.im ..] = [a.re a.im ..] [  b.re  b.im  ..     a row of a twice as long, a column of c for
 *                                     -b.im  b.re  .. ]   each part; only b has to be packed otherwise
 *
 * Lines and units count real numbers: two lines of b are a column, two units a number of a line; the
 * steps are those of the matrices (a: the step between rows is in real numbers). */

/* See gemm_body.h. */
/* clang-format off */
/* Two rows of a panel: LANES numbers, and the same turned by a right angle. */
ATTR static inline __attribute__((always_inline)) void NAME(put_numbers)(P *to, const S *from)
{
    NAME(Mask) swap;
    NAME(Units) sign = { 0 };
    for (int l = 0; l < NAME(LANES); l++) {
        swap[l] = l ^ 1;
        sign[l] = l & 1 ? 1 : -1;
    }
#pragma GCC unroll 2
    for (int i = 0; i < NAME(COLS); i += NAME(LANES)) {
        NAME(Units) v = *(const NAME(Units) *)(from + i);
        *(NAME(Units) *)(to + i) = v;
        *(NAME(Units) *)(to + NAME(COLS) + i) = __builtin_shuffle(v, swap) * sign;
    }
}

/* By way of rows that are whole: numbers from anywhere. */
ATTR static void NAME(pack_b)(P *to, NAME(Lines) x)
{
    int64_t numbers = x.n < NAME(COLS) ? x.n / 2 : NAME(LANES);
    if (x.line == 1 && numbers == NAME(LANES)) {
        for (int64_t q = 0; q < x.depth / 2; q++, to += 2 * NAME(COLS))
            NAME(put_numbers)(to, x.at + q * 2 * x.deep);
        return;
    }
    enum { ROWS_AT_ONCE = 32 };
    S rows[ROWS_AT_ONCE][NAME(COLS)] = { 0 };
    for (int64_t q = 0, some; q < x.depth / 2; q += some) {
        some = NAME(least)(x.depth / 2 - q, ROWS_AT_ONCE);
        const S *at = x.at + q * 2 * x.deep;
        if (x.deep == 1)
            matrix_transpose(numbers, some, 2 * sizeof(S), at, x.line, rows, NAME(LANES));
        for (int64_t i = 0; i < some && x.deep != 1; i++)
            for (int64_t j = 0; j < numbers; j++)
                memcpy(&rows[i][2 * j], at + 2 * (i * x.deep + j * x.line), 2 * sizeof(S));
        for (int64_t i = 0; i < some; i++, to += 2 * NAME(COLS))
            NAME(put_numbers)(to, rows[i]);
    }
}

ATTR static void NAME(pack_a)(P *to, int64_t rows, NAME(Lines) x)
{
    for (int64_t i = 0; i < rows; i += ROWS) {
        S beside[ROWS * KC];
        NAME(Lines) tile = { x.at + i * x.line, x.line, 1, NAME(least)(rows - i, ROWS), x.depth };
        if (x.deep != 1) { /* numbers of a row side by side first */
            if (x.line == 2)
                matrix_transpose(x.depth / 2, tile.n, 2 * sizeof(S), tile.at, x.deep, beside, KC / 2);
            for (int64_t l = 0; l < tile.n && x.line != 2; l++)
                for (int64_t q = 0; q < x.depth / 2; q++)
                    memcpy(beside + l * KC + 2 * q, tile.at + l * x.line + q * 2 * x.deep, 2 * sizeof(S));
            tile.at = beside;
            tile.line = KC;
        }
        NAME(pack_tile)(to + i * KC, tile);
    }
}
