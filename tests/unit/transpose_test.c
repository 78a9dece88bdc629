/* Matrices turned: every extent around the squares and blocks, elements of 4, 8 and 16 bytes. */
#include "engine/numerics/matrices.h"
#include "tests/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Both with `more` elements behind each row, which stay. */
static void turn(int64_t rows, int64_t columns, size_t element, int64_t more)
{
    int64_t from_step = columns + more, to_step = rows + more;
    size_t nfrom = (size_t)(rows * from_step) * element,
           nto = (size_t)(columns * to_step) * element;
    unsigned char *from = malloc(nfrom + 1), *to = malloc(nto + 1);
    for (size_t i = 0; i < nfrom; i++)
        from[i] = (unsigned char)(rand() >> 5);
    memset(to, 77, nto + 1);
    matrix_transpose(rows, columns, element, from, from_step, to, to_step);
    bool is_right = to[nto] == 77;
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            is_right = is_right && !memcmp(to + (size_t)(j * to_step + i) * element,
                                           from + (size_t)(i * from_step + j) * element, element);
    for (int64_t j = 0; j < columns; j++)
        for (size_t b = 0; b < (size_t)more * element; b++)
            is_right = is_right && to[(size_t)(j * to_step + rows) * element + b] == 77;
    CHECK(is_right);
    free(from);
    free(to);
}

int main(void)
{
    static const int64_t extents[] = { 0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 35, 36, 67, 100 };
    int n = sizeof extents / sizeof *extents;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (size_t element = 4; element <= 16; element *= 2)
                for (int64_t more = 0; more < 6; more += 5)
                    turn(extents[i], extents[j], element, more);
    return check_done();
}
