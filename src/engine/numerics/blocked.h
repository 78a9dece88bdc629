/* blocked.h - what factors of matrices that are taken panel by panel have in common (blocked_lu.c, blocked_qr.c,
 * blocked_cholesky.c).  Inside of numerics.
 *
 * A panel of columns is factored; then the columns right of it are brought up to date, cut into tiles, which workers
 * share, and the first of them are the next panel, which is factored as soon as they are up to date: so the
 * panels, which one thread factors, hold nobody up.  Panels and tiles follow from the sizes alone, and so do the
 * results. */
#ifndef TUTTI_ENGINE_NUMERICS_BLOCKED_H
#define TUTTI_ENGINE_NUMERICS_BLOCKED_H
#include "engine/numerics/gemm.h"

typedef struct Panels {
    const Frame *frame;
    GemmKind kind;
    const GemmLevel *level;
    int64_t bytes, lanes; /* of an element; elements of a vector */
    int64_t m, n;
    char *a;                    /* the matrix, row-major */
    int64_t columns;            /* of a panel, at most */
    int64_t from, width, ahead; /* of the panel under way, of the next */
    bool is_broken;             /* there are no factors: no further panel is wanted */
} Panels;

static inline Panels panels_of(const Frame *f, Element e, const GemmLevel *level, int64_t m,
                               int64_t n, void *a, int64_t columns)
{
    return (Panels){ .frame = f,
                     .kind = (GemmKind)gemm_kind(e, e, e),
                     .level = level,
                     .bytes = element_info[e].bytes,
                     .lanes = level->bytes / element_info[e].bytes,
                     .m = m,
                     .n = n,
                     .a = a,
                     .columns = columns };
}

static inline char *element_at(const Panels *p, int64_t row, int64_t column)
{
    return p->a + (row * p->n + column) * p->bytes;
}

/* The left half of so many columns, of whole vectors. */
static inline int64_t half_of(const Panels *p, int64_t width)
{
    return (width / 2 + p->lanes - 1) / p->lanes * p->lanes;
}

/* The panels of the first k columns, the first of which is factored.  Of each panel there are `others` slices, slice 0
 * among them, which factors the next one, and then one for each tile right of that; they are told p. */
static inline void panels_walk(Panels *p, const Frame *helped, int64_t k, int64_t others,
                               int64_t tile, SliceFn *slice)
{
    for (p->from = 0; p->from < k && !p->is_broken; p->from += p->width) {
        p->width = least(k - p->from, p->columns);
        p->ahead = least(k - p->from - p->width, p->columns);
        int64_t left = p->n - p->from - p->width - p->ahead;
        slices(helped, others + (left + tile - 1) / tile, slice, p);
    }
}
#endif
