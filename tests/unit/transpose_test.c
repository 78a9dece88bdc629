/* Matrices turned: every extent around the squares and blocks, elements of 4, 8 and 16 bytes. */
#include "engine/run/transpose.h"
#include "tests/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void turn(int64_t rows, int64_t columns, size_t element)
{
    size_t bytes = (size_t)(rows * columns) * element;
    unsigned char *from = malloc(bytes + 1), *to = malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        from[i] = (unsigned char)(rand() >> 5);
    to[bytes] = 77; /* the byte behind stays */
    matrix_transpose(rows, columns, element, from, to);
    bool is_right = to[bytes] == 77;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            is_right = is_right && !memcmp(to + (size_t)(j * rows + i) * element,
                                           from + (size_t)(i * columns + j) * element, element);
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
                turn(extents[i], extents[j], element);
    return check_done();
}
