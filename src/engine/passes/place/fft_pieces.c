/* fft_pieces.c - a Fourier transform along a dimension that is cut, where no other can be instead.
 *
 * Of n = a b elements seen as a matrix with a rows, whose pieces are rows:
 *
 *     cut along columns instead; transform the columns; multiply by exp(-2 pi i j k / n), j the
 *     column, k the place in it; cut along k; transform along j; then the result stands by columns,
 *     and is cut by rows again
 *
 * (Gentleman and Sande).  Both a and b must be multiples of the number of pieces.  Transforms to and
 * from real numbers are not done so: their n / 2 + 1 results cannot be cut evenly. */
#include "engine/passes/place/place.h"

#include <math.h>

enum { FFT, IFFT }; /* FftAttrs.fft_type */

typedef struct Transform {
    Node node;
    Tiling tiling;
    int dim;                 /* the last */
    int64_t pieces, a, b, n; /* n = a b */
} Transform;

static ValueId swap_last(Placer *z, ValueId v)
{
    Type t = type_of(z->m, v);
    int64_t dims[MAX_RANK], *order = ARENA_ARRAY(z->m->arena, int64_t, t.rank);
    for (int d = 0; d < t.rank; d++) {
        order[d] = d < t.rank - 2 ? d : 2 * t.rank - 3 - d;
        dims[d] = t.dims[order[d]];
    }
    TransposeAttrs *attrs = ARENA_NEW(z->m->arena, TransposeAttrs);
    attrs->permutation = (Ints){ t.rank, order };
    Type to = type_new(z->m->arena, t.element, t.rank, dims);
    return build_node(z->m, z->to, OP_TRANSPOSE, 1, &v, to, attrs, NULL);
}

static ValueId transform_last(Placer *z, const Transform *f, ValueId v)
{
    Type t = type_of(z->m, v);
    FftAttrs *attrs = ARENA_NEW(z->m->arena, FftAttrs);
    attrs->fft_type = ((const FftAttrs *)f->node.attrs)->fft_type;
    attrs->fft_length = ints_copy(z->m->arena, 1, &t.dims[t.rank - 1]);
    return build_node(z->m, z->to, OP_FFT, 1, &v, t, attrs, f->node.loc);
}

static ValueId count_along(Placer *z, Type t, int dim)
{
    IotaAttrs *iota = ARENA_NEW(z->m->arena, IotaAttrs);
    iota->iota_dimension = dim;
    return build_node(z->m, z->to, OP_IOTA, 0, NULL, t, iota, NULL);
}

static ValueId spread(Placer *z, ValueId scalar, Type t)
{
    BroadcastAttrs *nowhere = ARENA_NEW(z->m->arena, BroadcastAttrs);
    *nowhere = (BroadcastAttrs){ 0 };
    return build_node(z->m, z->to, OP_BROADCAST, 1, &scalar, t, nowhere, NULL);
}

/* The factors of a piece: its first column is that of the device's tile. */
static ValueId build_factors(Placer *z, const Transform *f, Type t)
{
    Module *m = z->m;
    bool is_back = ((const FftAttrs *)f->node.attrs)->fft_type == IFFT;
    Type whole = t, wide = t, part = t;
    whole.element = I64;
    wide.element = F64;
    part.element = t.element == C64 ? F32 : F64;
    Tiling all = tiling_replicated(z->scratch, f->tiling.rank, z->ndevices);
    ValueId first = tile_start(z, all, f->tiling, f->dim, f->b / f->pieces);
    ValueId column =
        build_two(z, OP_ADD, count_along(z, whole, t.rank - 2), spread(z, first, whole));
    ValueId turns = build_two(z, OP_MUL, column, count_along(z, whole, t.rank - 1));
    turns = build_two(z, OP_REM, turns, spread(z, build_number(z, f->n), whole));
    ValueId angle = build_node(m, z->to, OP_CONVERT, 1, &turns, wide, NULL, NULL);
    double *turn = ARENA_NEW(m->arena, double);
    *turn = (is_back ? 2 : -2) * M_PI / (double)f->n;
    angle = build_two(z, OP_MUL, angle, build_splat(z, wide, turn));
    static const OpId functions[] = { OP_COS, OP_SIN };
    ValueId parts[2];
    for (int i = 0; i < 2; i++) {
        parts[i] = build_node(m, z->to, functions[i], 1, &angle, wide, NULL, NULL);
        parts[i] = build_node(m, z->to, OP_CONVERT, 1, &parts[i], part, NULL, NULL);
    }
    return build_node(m, z->to, OP_COMPLEX, 2, parts, t, NULL, NULL);
}

static Transform transform_of(const Placer *z, const Node *node, Tiling t)
{
    Transform f = { .node = *node, .tiling = t, .dim = t.rank - 1 };
    f.pieces = t.tiles[f.dim];
    f.n = type_of(z->m, node->in[0]).dims[f.dim];
    int64_t left = f.n / (f.pieces * f.pieces), most = 1;
    for (int64_t i = 1; i * i <= left; i++)
        most = left % i == 0 ? i : most;
    f.a = most * f.pieces;
    f.b = f.n / f.a;
    return f;
}

static void place_fft(Placer *z, NodeId n, const Placement *p)
{
    Transform f = transform_of(z, node_at(z->m, n), p->results[0]);
    const Loc *loc = f.node.loc;
    ValueId own = shard_move(z, f.node.in[0], f.tiling);
    Type piece = type_of(z->m, own);
    own = exchange_matrix(z, own, f.tiling, f.dim, f.a, f.b, true, loc);
    own = transform_last(z, &f, swap_last(z, own));
    own = build_two(z, OP_MUL, own, build_factors(z, &f, type_of(z->m, own)));
    own = build_reshape(z, own, piece);
    own = exchange_matrix(z, own, f.tiling, f.dim, f.b, f.a, true, loc);
    own = swap_last(z, transform_last(z, &f, swap_last(z, own)));
    own = build_reshape(z, own, piece);
    own = exchange_matrix(z, own, f.tiling, f.dim, f.b, f.a, false, loc);
    subst_set(&z->shards, f.node.out, build_reshape(z, own, piece));
}

bool infer_fft(Placer *z, NodeId n, Placement *p)
{
    const Node *node = node_at(z->m, n);
    if (node->op != OP_FFT)
        return false;
    const FftAttrs *attrs = node->attrs;
    Tiling t = z->tilings[node->in[0]];
    Type type = type_of(z->m, node->in[0]);
    int64_t pieces = t.tiles[t.rank - 1];
    if (attrs->fft_length.n != 1 || (attrs->fft_type != FFT && attrs->fft_type != IFFT) ||
        pieces == 1 || type_count(type) == 0 || t.rank >= MAX_RANK ||
        type.dims[t.rank - 1] % (pieces * pieces) != 0)
        return false;
    *p = (Placement){ .results = ARENA_ARRAY(z->scratch, Tiling, 1),
                      .wants = ARENA_ARRAY(z->scratch, Tiling, 1),
                      .is_piecewise = true,
                      .place = place_fft };
    p->results[0] = p->wants[0] = t;
    return true;
}
