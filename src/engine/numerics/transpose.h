/* transpose.h - matrices from row-major to column-major and back. */
#ifndef TUTTI_ENGINE_NUMERICS_TRANSPOSE_H
#define TUTTI_ENGINE_NUMERICS_TRANSPOSE_H
#include <stddef.h>
#include <stdint.h>

/* to[j][i] = from[i][j], where from has that many rows and columns of elements of 4, 8 or 16
 * bytes; a row begins so many elements behind the one before.  The two do not overlap. */
void matrix_transpose(int64_t rows, int64_t columns, size_t element, const void *from,
                      int64_t from_step, void *to, int64_t to_step);
#endif
