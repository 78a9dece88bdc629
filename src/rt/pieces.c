/* pieces.c - whole arrays and the pieces that devices hold of them. */
#include "rt/pieces.h"

#include "engine/numerics/numerics.h"

#include <string.h>

static const int64_t *tile_of(const Param *p, int d)
{
    return p->tiling.tile_of + (int64_t)(d % p->tiling.ndevices) * p->tiling.rank;
}

char *piece_at(const Param *p, int d, const void *whole)
{
    int64_t strides[MAX_RANK];
    byte_strides(p->whole, strides);
    char *at = (char *)whole;
    for (int k = 0; k < p->tiling.rank; k++)
        at += tile_of(p, d)[k] * p->local.dims[k] * strides[k];
    return at;
}

/* Extents of 1, then one that may be cut, then whole ones. */
bool piece_is_dense(const Param *p)
{
    int k = 0;
    while (k < p->local.rank && p->local.dims[k] == 1)
        k++;
    for (k++; k < p->local.rank; k++)
        if (p->local.dims[k] != p->whole.dims[k])
            return false;
    return true;
}

bool piece_is_first(const Param *p, int d)
{
    size_t bytes = sizeof(int64_t) * (size_t)p->tiling.rank;
    for (int before = 0; before < d; before++)
        if (memcmp(tile_of(p, before), tile_of(p, d), bytes) == 0)
            return false;
    return true;
}

void piece_cut(const Param *p, int d, const void *whole, void *piece)
{
    int64_t from[MAX_RANK], to[MAX_RANK];
    byte_strides(p->whole, from);
    byte_strides(p->local, to);
    strided_copy(piece, to, piece_at(p, d, whole), from, p->local.rank, p->local.dims,
                 (size_t)element_info[p->local.element].bytes);
}

void piece_join(const Param *p, int d, void *whole, const void *piece)
{
    int64_t from[MAX_RANK], to[MAX_RANK];
    byte_strides(p->local, from);
    byte_strides(p->whole, to);
    strided_copy(piece_at(p, d, whole), to, piece, from, p->local.rank, p->local.dims,
                 (size_t)element_info[p->local.element].bytes);
}
