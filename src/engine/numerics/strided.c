/* strided.c - copying a box of elements between two arrays that lie differently.
 *
 * First the box is made simple: dimensions of extent 1 go, and neighbours that follow one
 * another in both arrays become one.  What is left is counted through like an odometer, with
 * the innermost dimension as one memcpy when it is dense on both sides. */
#include "engine/numerics/numerics.h"

#include <string.h>

typedef struct Box {
    int rank;
    int64_t extents[MAX_RANK], dst[MAX_RANK], src[MAX_RANK];
} Box;

void byte_strides(Type t, int64_t *strides)
{
    type_strides(t, strides);
    for (int i = 0; i < t.rank; i++)
        strides[i] *= element_info[t.element].bytes;
}

static void add_dimension(Box *box, int64_t extent, int64_t dst, int64_t src)
{
    if (extent == 1)
        return;
    int last = box->rank - 1;
    if (last >= 0 && box->dst[last] == dst * extent && box->src[last] == src * extent) {
        box->extents[last] *= extent;
        box->dst[last] = dst;
        box->src[last] = src;
        return;
    }
    box->extents[box->rank] = extent;
    box->dst[box->rank] = dst;
    box->src[box->rank] = src;
    box->rank++;
}

#define COPY_ROW(T)                                                                                \
    for (int64_t i = 0; i < n; i++, dst += dst_step, src += src_step)                              \
    memcpy(dst, src, sizeof(T))

static void copy_row(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t n,
                     size_t element)
{
    switch (element) {
    case 1: COPY_ROW(char[1]); break;
    case 2: COPY_ROW(char[2]); break;
    case 4: COPY_ROW(char[4]); break;
    case 8: COPY_ROW(char[8]); break;
    default:
        for (int64_t i = 0; i < n; i++, dst += dst_step, src += src_step)
            memcpy(dst, src, element);
    }
}

static void copy_box(const Box *box, char *dst, const char *src, size_t element)
{
    int inner = box->rank - 1;
    bool is_dense = box->dst[inner] == (int64_t)element && box->src[inner] == (int64_t)element;
    size_t row_bytes = (size_t)box->extents[inner] * element;
    int64_t at[MAX_RANK] = { 0 };
    for (;;) {
        if (is_dense)
            memcpy(dst, src, row_bytes);
        else
            copy_row(dst, box->dst[inner], src, box->src[inner], box->extents[inner], element);
        int i = inner - 1;
        for (; i >= 0; i--) {
            dst += box->dst[i];
            src += box->src[i];
            if (++at[i] < box->extents[i])
                break;
            dst -= box->dst[i] * box->extents[i];
            src -= box->src[i] * box->extents[i];
            at[i] = 0;
        }
        if (i < 0)
            return;
    }
}

void strided_copy(void *dst, const int64_t *dst_strides, const void *src,
                  const int64_t *src_strides, int rank, const int64_t *extents, size_t element)
{
    Box box = { 0 };
    for (int i = 0; i < rank; i++) {
        if (extents[i] == 0)
            return;
        add_dimension(&box, extents[i], dst_strides[i], src_strides[i]);
    }
    if (box.rank == 0)
        memcpy(dst, src, element);
    else
        copy_box(&box, dst, src, element);
}
