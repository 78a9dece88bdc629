/* strided.h - copying a box of elements between two arrays that lie differently. */
#ifndef TUTTI_ENGINE_NUMERICS_STRIDED_H
#define TUTTI_ENGINE_NUMERICS_STRIDED_H
#include "ops/type.h"

/* For every index below extents[rank], the element at dst takes that at src.  Strides are in
 * bytes, any sign or zero; the two boxes do not overlap. */
void strided_copy(void *dst, const int64_t *dst_strides, const void *src,
                  const int64_t *src_strides, int rank, const int64_t *extents, size_t element);

/* Row-major strides in bytes of an array of type t, into strides[rank]. */
void byte_strides(Type t, int64_t *strides);
#endif
