/* factors.c - factors of matrices become what the platform has for them.
 *
 *     tutti.lu A               ours: F, pivots, info = custom_call @lapack_sgetrf_ffi(A)
 *                                    order = 0 1 2 ..., its entries exchanged as the pivots say
 *     tutti.qr A               ours: @lapack_sgeqrf_ffi, and Q by @lapack_sorgqr_ffi
 *     tutti.eigh, tutti.svd    ours: @lapack_ssyevd_ffi, @lapack_sgesdd_ffi
 *     tutti.pinv               of its singular values, those not near zero inverted
 *
 * It is the last step: transformations know what factors are, and not whose routines find them.  Where a
 * routine fails, results are no numbers, as in JAX.  LAPACK's matrices lie by columns, which the
 * attribute operand_layouts says. */
#include "front/client/client.h"
#include "front/lower/lower.h"
#include "front/transform/transform.h"
#include "front/value/report.h"
#include "ops/call.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <tutti_sugar.h>

/* ---- calls of LAPACK ---- */

/* [dense<[1, 2, 0]> : tensor<3xindex>, ...]: matrices by columns, the batch outermost. */
static const Attr *layouts(int n, const Type *types)
{
    Text text = { 0 };
    for (int i = 0; i < n; i++) {
        int rank = types[i].rank;
        bool is_matrix = types[i].rank == types[0].rank;
        text_printf(&text, i ? ", " : "[");
        text_printf(&text, rank ? "dense<[" : "dense<");
        for (int k = 0; k < rank; k++) {
            int axis = is_matrix && k < 2 ? rank - 2 + k : rank - 1 - k;
            text_printf(&text, "%s%d", k ? ", " : "", axis);
        }
        text_printf(&text, rank ? "]> : tensor<%dxindex>" : "> : tensor<%dxindex>", rank);
    }
    text_printf(&text, "]");
    const Attr *attr = attr_word(trace_arena(), str_copy(trace_arena(), str_of(text_cstr(&text))));
    text_free(&text);
    return attr;
}

/* Options of a routine are letters, as numbers; 0: not given. */
static const Attr *options_of(char mode, char uplo)
{
    const char letters[] = { mode, uplo };
    const Str names[] = { STR("mode"), STR("uplo") };
    AttrDict dict = { 0 };
    for (int i = 0; i < 2; i++)
        if (letters[i]) {
            Attr *value = ARENA_NEW(trace_arena(), Attr);
            *value = (Attr){ .kind = ATTR_INT, .element = U8, .integer = letters[i] };
            attr_set(trace_arena(), &dict, names[i], value);
        }
    return attr_dict(trace_arena(), &dict);
}

/* The routine of that name for the element type of the first operand. */
static void lapack(LapackCall routine, const Attr *options, int nin, const tt *in, int nout,
                   const Type *types, tt *out)
{
    Type operands[2] = { type_at(in[0]), type_at(in[nin - 1]) };
    Text target = { 0 };
    lapack_print_name(&target, routine, operands[0].element);
    Str name = str_copy(trace_arena(), str_of(text_cstr(&target)));
    text_free(&target);
    CustomCallAttrs *attrs = BUILD_ATTRS(CustomCallAttrs, .call_target_name = name,
                                         .backend_config = options, .api_version = 4);
    if (!trace_apply("a factor", OP_CUSTOM_CALL, nin, in, attrs, nout, types, out))
        return;
    AttrDict extra = { 0 };
    attr_set(trace_arena(), &extra, STR("operand_layouts"), layouts(nin, operands));
    attr_set(trace_arena(), &extra, STR("result_layouts"), layouts(nout, types));
    const Region *r = region_at(tracing->m, tracing->region);
    node_at(tracing->m, r->nodes[r->nnodes - 1])->extra = attr_dict(trace_arena(), &extra);
}

/* ---- types ---- */

/* Without the last `less` axes; then with these. */
static Type type_ends(Type t, Element e, int less, int n, const int64_t *ends)
{
    int64_t dims[MAX_RANK];
    int rank = t.rank - less;
    memcpy(dims, t.dims, sizeof *dims * (size_t)rank);
    for (int i = 0; i < n; i++)
        dims[rank + i] = ends[i];
    return type_new(trace_arena(), e, rank + n, dims);
}

typedef struct Extents {
    Type all; /* [..., m, n] */
    int64_t m, n, k;
} Extents;

static Extents extents_of(tt a)
{
    Type t = type_at(a);
    int64_t m = t.dims[t.rank - 2], n = t.dims[t.rank - 1];
    return (Extents){ t, m, n, m < n ? m : n };
}

static Type matrix_type(const Extents *x, int64_t rows, int64_t columns)
{
    return type_ends(x->all, x->all.element, 2, 2, (const int64_t[]){ rows, columns });
}

static Type vector_type(const Extents *x, Element e, int64_t n)
{
    return type_ends(x->all, e, 2, 1, &n);
}

static Type info_type(const Extents *x)
{
    return type_ends(x->all, I32, 2, 0, NULL);
}

/* y where info says that all went well. */
static tt where_well(tt info, tt y)
{
    Type t = type_at(y);
    tt is_well = build_compare(EQ, info, build_zeros(type_at(info)));
    is_well = build_broadcast(is_well, type_with(t, I1), ints_range(0, type_at(info).rank));
    return build_select(is_well, y, build_number(t, NAN));
}

/* ---- the factors ---- */

typedef struct Exchange {
    tt pivots;
} Exchange;

/* Entry i of the order and the one that pivot i names change places. */
static void exchange(tt i, const tt *in, tt *out, void *user)
{
    tt pivots = ((const Exchange *)user)->pivots, order = in[0];
    Type t = type_at(order);
    int last = t.rank - 1;
    Type piv = type_at(pivots);
    tt at = build_broadcast(i, piv, (Ints){ 0 });
    tt is_it = build_compare(EQ, build_iota(piv, last), at);
    tt to = tt_sum(tt_where(is_it, pivots, 0), -1, TT_KEEP);
    to = tt_sub(to, 1); /* they count from 1 */
    tt here = build_iota(t, last);
    tt is_here = build_compare(EQ, here, build_broadcast(i, t, (Ints){ 0 })),
       is_to = tt_equal(here, to);
    tt first = tt_sum(tt_where(is_here, order, 0), -1, TT_KEEP);
    tt second = tt_sum(tt_where(is_to, order, 0), -1, TT_KEEP);
    out[0] = tt_where(is_here, second, tt_where(is_to, first, order));
}

static void lu(tt a, tt *out)
{
    Extents x = extents_of(a);
    tt y[3];
    Type types[] = { x.all, vector_type(&x, I32, x.k), info_type(&x) };
    lapack(LAPACK_CALL_GETRF, options_of(0, 0), 1, &a, 3, types, y);
    tt is_legal =
        build_compare(GE, y[2], build_zeros(types[2])); /* above 0: singular, still factors */
    is_legal = build_broadcast(is_legal, type_with(x.all, I1), ints_range(0, types[2].rank));
    out[0] = build_select(is_legal, y[0], build_number(x.all, NAN));
    tt order = build_iota(vector_type(&x, I32, x.m), x.all.rank - 2);
    Exchange swaps = { y[1] };
    loop_counted(x.k, 1, &order, exchange, &swaps, &out[1]);
}

static void qr(tt a, tt *out)
{
    Extents x = extents_of(a);
    tt y[2];
    Type types[] = { x.all, vector_type(&x, x.all.element, x.k) };
    lapack(LAPACK_CALL_GEQRF, options_of(0, 0), 1, &a, 2, types, y);
    out[1] = tt_triu(tt_slice(y[0], -2, 0, x.k), 0);
    tt in[] = { tt_slice(y[0], -1, 0, x.k), y[1] };
    Type q = matrix_type(&x, x.m, x.k);
    lapack(LAPACK_CALL_ORGQR, options_of(0, 0), 2, in, 1, &q, out);
}

static void eigh(tt a, tt *out)
{
    Extents x = extents_of(a);
    tt y[3];
    Type types[] = { x.all, vector_type(&x, x.all.element, x.n), info_type(&x) };
    lapack(LAPACK_CALL_SYEVD, options_of('V', 'L'), 1, &a, 3, types, y);
    out[0] = where_well(y[2], y[1]);
    out[1] = where_well(y[2], y[0]);
}

static void svd(tt a, tt *out)
{
    Extents x = extents_of(a);
    tt y[5];
    Type types[] = { x.all, vector_type(&x, x.all.element, x.k), matrix_type(&x, x.m, x.k),
                     matrix_type(&x, x.k, x.n), info_type(&x) };
    lapack(LAPACK_CALL_GESDD, options_of('S', 0), 1, &a, 5, types, y);
    out[0] = where_well(y[4], y[2]);
    out[1] = where_well(y[4], y[1]);
    out[2] = where_well(y[4], y[3]);
}

/* Singular values below 10 max(m, n) eps of the largest count as zero. */
static void pinv(tt a, tt *out)
{
    Extents x = extents_of(a);
    tt f[3];
    svd(a, f);
    double eps = x.all.element == F64 ? DBL_EPSILON : FLT_EPSILON;
    double most = 10 * (double)(x.m > x.n ? x.m : x.n) * eps;
    tt is_some = tt_greater(f[1], tt_mul(most, tt_amax(f[1], -1, TT_KEEP)));
    tt inverse = tt_where(is_some, tt_div(1, tt_where(is_some, f[1], 1)), 0);
    out[0] = tt_matmul(tt_swap_axes(f[2], -1, -2),
                       tt_mul(tt_expand(inverse, -1), tt_swap_axes(f[0], -1, -2)));
}

/* ---- nodes ---- */

typedef void Factor(tt a, tt *out);

static Factor *factor_of(OpId op)
{
    switch (op) {
    case OP_LU: return lu;
    case OP_QR: return qr;
    case OP_EIGH: return eigh;
    case OP_SVD: return svd;
    case OP_PINV: return pinv;
    default: return NULL;
    }
}

/* JAX's own plugins get theirs from Python, which a C program does not have. */
static bool has_lapack(const char *platform)
{
    return !strcmp(platform, "tutti");
}

typedef struct Expander {
    Subst map;
    bool failed;
} Expander;

static bool record_factor(Factor *factor, const Node *node, Type of, Graph *out)
{
    tt in, y[3];
    Trace frame = { .loc = node->loc };
    frame_push(&frame);
    record_begin(1, &of, NULL, &in);
    factor(in, y);
    bool ok = record_end("a factor", node->nout, y, out);
    frame_pop(&frame);
    return ok;
}

static Error *expand(Module *m, RegionId r, NodeId n, void *user)
{
    Expander *e = user;
    Node node = *node_at(m, n);
    Factor *factor = factor_of(node.op);
    Graph g;
    if (!factor) {
        region_append(m, r, n);
        return NULL;
    }
    TRY(client_need());
    if (!has_lapack(client_platform()))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: %s on the platform \"%s\", %s: its plugin has no LAPACK; "
                         "tt_cholesky and tt_solve_triangular are there on all",
                         op_name(node.op) + strlen("tutti."), client_platform(),
                         loc_name(node.loc));
    if (record_factor(factor, &node, type_of(m, node.in[0]), &g))
        node_open(m, r, n, g.body, &e->map);
    else
        e->failed = true;
    return NULL;
}

bool expand_factors(Module *m)
{
    Expander e = { subst_new(m), false };
    Error *error = NULL;
    for (int i = 0; i < m->nfuncs && !error && !e.failed; i++)
        error = region_rewrite(m, m->funcs[i].body, &e.map, expand, &e);
    subst_free(&e.map);
    if (error)
        report_error(error);
    return !error && !e.failed;
}
