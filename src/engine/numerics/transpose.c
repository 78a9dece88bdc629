/* transpose.c - matrices from row-major to column-major and back: squares of 4 x 4 elements in
 * registers, or of 16 x 16 where a vector holds as many, and of those as many side by side as both
 * caches' lines hold. */
#include "engine/numerics/matrices.h"

#include "engine/cpu_level.h"

#include <string.h>

/* Rows and columns of a block: its lines, from here and from there, stay in the first cache. */
enum { BLOCK = 32, SIDE = 4 };

typedef int32_t Four __attribute__((vector_size(16)));
typedef int64_t Two __attribute__((vector_size(16)));

static void square_4(const char *from, int64_t from_row, char *to, int64_t to_row)
{
    Four row[SIDE], half[SIDE];
    for (int i = 0; i < SIDE; i++)
        memcpy(&row[i], from + i * from_row, sizeof *row);
    for (int i = 0; i < 2; i++) {
        half[2 * i] = __builtin_shuffle(row[i], row[i + 2], (Four){ 0, 4, 1, 5 });
        half[2 * i + 1] = __builtin_shuffle(row[i], row[i + 2], (Four){ 2, 6, 3, 7 });
    }
    for (int i = 0; i < 2; i++) {
        row[2 * i] = __builtin_shuffle(half[i], half[i + 2], (Four){ 0, 4, 1, 5 });
        row[2 * i + 1] = __builtin_shuffle(half[i], half[i + 2], (Four){ 2, 6, 3, 7 });
    }
    for (int i = 0; i < SIDE; i++)
        memcpy(to + i * to_row, &row[i], sizeof *row);
}

static void square_8(const char *from, int64_t from_row, char *to, int64_t to_row)
{
    for (int i = 0; i < SIDE; i += 2)
        for (int j = 0; j < SIDE; j += 2) {
            Two above, below;
            memcpy(&above, from + i * from_row + j * 8, sizeof above);
            memcpy(&below, from + (i + 1) * from_row + j * 8, sizeof below);
            Two left = __builtin_shuffle(above, below, (Two){ 0, 2 });
            Two right = __builtin_shuffle(above, below, (Two){ 1, 3 });
            memcpy(to + j * to_row + i * 8, &left, sizeof left);
            memcpy(to + (j + 1) * to_row + i * 8, &right, sizeof right);
        }
}

static void square_16(const char *from, int64_t from_row, char *to, int64_t to_row)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            memcpy(to + j * to_row + i * 16, from + i * from_row + j * 16, 16);
}

static void element_by_element(int64_t rows, int64_t columns, size_t element, const char *from,
                               int64_t from_row, char *to, int64_t to_row)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            char *at = to + j * to_row + i * (int64_t)element;
            const char *source = from + i * from_row + j * (int64_t)element;
            switch (element) {
            case 4: memcpy(at, source, 4); break;
            case 8: memcpy(at, source, 8); break;
            default: memcpy(at, source, 16);
            }
        }
}

static void block(int64_t rows, int64_t columns, size_t element, const char *from, int64_t from_row,
                  char *to, int64_t to_row)
{
    int64_t bytes = (int64_t)element, i = 0, j = 0;
    for (; i + SIDE <= rows; i += SIDE)
        for (j = 0; j + SIDE <= columns; j += SIDE) {
            const char *source = from + i * from_row + j * bytes;
            char *at = to + j * to_row + i * bytes;
            if (element == 4)
                square_4(source, from_row, at, to_row);
            else if (element == 8)
                square_8(source, from_row, at, to_row);
            else
                square_16(source, from_row, at, to_row);
        }
    j = i ? columns / SIDE * SIDE : 0;
    element_by_element(i, columns - j, element, from + j * bytes, from_row, to + j * to_row,
                       to_row);
    element_by_element(rows - i, columns, element, from + i * from_row, from_row, to + i * bytes,
                       to_row);
}

#if defined __x86_64__
#define WIDE __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")))
enum { WIDE_SIDE = 16 };
typedef int32_t Sixteen __attribute__((vector_size(64)));

/* As often as halving 16 comes to 1, the rows of both halves are put in turn. */
WIDE static void square_wide(const char *from, int64_t from_row, char *to, int64_t to_row)
{
    const Sixteen low = { 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23 };
    const Sixteen high = { 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31 };
    Sixteen row[WIDE_SIDE], next[WIDE_SIDE];
#pragma GCC unroll 16
    for (int i = 0; i < WIDE_SIDE; i++)
        memcpy(&row[i], from + i * from_row, sizeof *row);
#pragma GCC unroll 4
    for (int round = 0; round < 4; round++) {
#pragma GCC unroll 8
        for (int i = 0; i < WIDE_SIDE / 2; i++) {
            next[2 * i] = __builtin_shuffle(row[i], row[i + WIDE_SIDE / 2], low);
            next[2 * i + 1] = __builtin_shuffle(row[i], row[i + WIDE_SIDE / 2], high);
        }
#pragma GCC unroll 16
        for (int i = 0; i < WIDE_SIDE; i++)
            row[i] = next[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < WIDE_SIDE; i++)
        memcpy(to + i * to_row, &row[i], sizeof *row);
}

/* As block, of elements of 4 bytes. */
WIDE static void wide_block(int64_t rows, int64_t columns, size_t element, const char *from,
                            int64_t from_row, char *to, int64_t to_row)
{
    int64_t bytes = (int64_t)element, down = rows / WIDE_SIDE * WIDE_SIDE;
    int64_t across = down ? columns / WIDE_SIDE * WIDE_SIDE : 0;
    for (int64_t i = 0; i < down; i += WIDE_SIDE)
        for (int64_t j = 0; j < across; j += WIDE_SIDE)
            square_wide(from + i * from_row + j * bytes, from_row, to + j * to_row + i * bytes,
                        to_row);
    if (across < columns)
        block(down, columns - across, element, from + across * bytes, from_row,
              to + across * to_row, to_row);
    if (down < rows)
        block(rows - down, columns, element, from + down * from_row, from_row, to + down * bytes,
              to_row);
}
#endif

typedef void BlockFn(int64_t rows, int64_t columns, size_t element, const char *from,
                     int64_t from_row, char *to, int64_t to_row);

static BlockFn *block_of(size_t element)
{
#if defined __x86_64__
    if (element == sizeof(int32_t) && cpu_vector_bytes() == 64)
        return wide_block;
#endif
    (void)element;
    return block;
}

void matrix_transpose(int64_t rows, int64_t columns, size_t element, const void *from,
                      int64_t from_step, void *to, int64_t to_step)
{
    int64_t bytes = (int64_t)element, from_row = from_step * bytes, to_row = to_step * bytes;
    if ((columns == 1 && from_step == 1) || (rows == 1 && to_step == 1)) { /* a line stays one */
        memcpy(to, from, (size_t)(rows * columns) * element);
        return;
    }
    BlockFn *go = block_of(element);
    for (int64_t i = 0; i < rows; i += BLOCK)
        for (int64_t j = 0; j < columns; j += BLOCK)
            go(rows - i < BLOCK ? rows - i : BLOCK, columns - j < BLOCK ? columns - j : BLOCK,
               element, (const char *)from + i * from_row + j * bytes, from_row,
               (char *)to + j * to_row + i * bytes, to_row);
}
