/* blocked_bidiagonal.c - real matrices made bidiagonal, by reflectors from both sides, as singular values want them.
 *
 * A panel of columns, and as many rows, is reduced at a time.  What its reflectors do to the rest waits until the
 * panel is done, and is then one product:
 *
 *     A  less  W Z^T      W: the left reflectors, in turn with the products of A and the right ones
 *                         Z: the products of A^T and the left ones, in turn with the right reflectors
 *
 * A column or row of the panel is brought up to date by the same product, as far as it is known, when its
 * turn comes.  So a reflector walks once over the rest of the matrix, which the workers share, and changes
 * nothing there. */
#include "engine/numerics/gemm.h"

/* Columns of a panel, of large matrices and of others; columns of W and Z; rows of a tile of the rest. */
enum { WIDE_PANEL = 32, PANEL = 16, WIDE_FROM = 320, TERMS = 2 * WIDE_PANEL, TILE = 96 };

/* Numbers whose squares add up to less are multiplied by LIFT, since squares below the normal range are lost.  Of
 * floats, whose squares are doubles, only zeros are. */
#define LEAST_SQUARE 0x1p-900
#define LIFT 0x1p600

typedef struct Bidiagonal {
    const Frame *frame;  /* of products by a vector: no task's, if this is a slice of other work */
    const Frame *helped; /* NULL: one thread multiplies */
    const Frame *told;   /* who hears that there is no memory */
    GemmKind kind;
    const GemmLevel *level;
    int64_t m, n;
    int64_t panel; /* columns of a panel */
    int64_t next;  /* the first row and column that the panel has left */
} Bidiagonal;

#define T float
#define NAME(x) x##_f32
#include "engine/numerics/bidiagonal_body.h"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "engine/numerics/bidiagonal_body.h"
#undef T
#undef NAME

void blocked_bidiagonal(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, void *a,
                        const BidiagonalParts *out)
{
    GemmKind kind = (GemmKind)gemm_kind(e, e, e);
    Frame alone = { 0 };
    Bidiagonal b = { .frame = is_slice ? &alone : f,
                     .helped = !is_slice && is_cut(m, n, PANEL) ? f : NULL,
                     .told = f,
                     .kind = kind,
                     .level = gemm_level_of(kind),
                     .m = m,
                     .n = n,
                     .panel = n >= WIDE_FROM ? WIDE_PANEL : PANEL };
    size_t elements = (size_t)((2 * m + n) * TERMS + 3 * m + TERMS);
    char *room = malloc(elements * (size_t)element_info[e].bytes);
    if (!room)
        frame_fail(f, error_new(CODE_EXHAUSTED, "no memory to make a matrix bidiagonal"));
    else if (e == F32)
        reduce_f32(b, room, a, out->diagonal, out->beside, out->left_taus, out->right_taus);
    else
        reduce_f64(b, room, a, out->diagonal, out->beside, out->left_taus, out->right_taus);
    if (alone.error)
        frame_fail(f, alone.error);
    free(room);
}
