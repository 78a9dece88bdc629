/* routines.c - which operations have ready-made loops; top_k. */
#include "engine/numerics/matrices.h"

#include "engine/custom_call.h"

#include <stdlib.h>

static bool is_plain(Element e)
{
    return element_part(e) == F32 || element_part(e) == F64;
}

/* Matrices of narrow floats become f32, and the results narrow again. */
static Error *widened(const Frame *f, const Node *n, const Tensor *in, Tensor *out)
{
    Routine *wider = n->op == OP_CHOLESKY ? routine_cholesky : routine_triangular_solve;
    Tensor wide[3] = { 0 };
    Error *error = NULL;
    for (int i = 0; i <= n->nin && !error; i++) {
        Tensor narrow = i < n->nin ? in[i] : out[0];
        int64_t count = type_count(narrow.type);
        wide[i].type = narrow.type;
        wide[i].type.element = F32;
        wide[i].data = malloc(sizeof(float) * (size_t)(count + 1));
        if (!wide[i].data)
            error = error_new(CODE_EXHAUSTED, "%s of %s: no memory", op_name(n->op),
                              type_name(narrow.type));
        for (int64_t k = 0; k < count && !error && i < n->nin; k++)
            convert_element(wide[i], k, narrow, k);
    }
    if (!error)
        error = wider(f, n, wide, &wide[n->nin]);
    for (int64_t k = 0; k < type_count(out->type) && !error; k++)
        convert_element(*out, k, wide[n->nin], k);
    for (int i = 0; i < 3; i++)
        free(wide[i].data);
    return error;
}

static Routine *const call_routines[CALL_COUNT + 1] = {
#define routine_none NULL
#define CALL(id, name, nin, nout, effect, role, shapes, rewrite, eval, routine)                    \
    [CALL_##id] = routine_##routine,
#include "ops/calls.def"
};

static Routine *custom_find(const Module *m, const Node *node)
{
    Str target = ((const CustomCallAttrs *)node->attrs)->call_target_name;
    Element first = node->nin ? type_of(m, node->in[0]).element : I1;
    Routine *routine = call_routines[node_call(node)];
    if (routine && (routine == routine_rng_state || is_plain(first)))
        return routine;
    if (lapack_knows(target, first))
        return routine_lapack;
    TuttiFunction *f;
    void *user;
    return call_registry_find(target, &f, &user) ? call_registered : NULL;
}

Routine *routine_find(const Module *m, const Node *node)
{
    switch (node->op) {
    case OP_FFT: return routine_fft;
    case OP_TOP_K: return routine_top_k;
    case OP_RNG_BITS: return routine_rng_bits;
    case OP_TRIANGULAR_SOLVE:
        return is_plain(type_of(m, node->in[0]).element) ? routine_triangular_solve : widened;
    case OP_CHOLESKY: return is_plain(type_of(m, node->in[0]).element) ? routine_cholesky : widened;
    case OP_CUSTOM_CALL: return custom_find(m, node);
    default: return NULL;
    }
}

Error *routine_prepare(const Module *m, const Node *node)
{
    Routine *f = routine_find(m, node);
    bool is_linear = f == routine_cholesky || f == routine_triangular_solve || f == widened;
    is_linear = is_linear && linear_wants_library(type_of(m, node->in[0]));
    return is_linear || f == routine_lapack ? lapack_find() : NULL;
}

/* ---- top_k ---- */

typedef struct Entry {
    int64_t key, at; /* greater keys first; of equals the one that stands first */
} Entry;

static bool is_ahead(Entry a, Entry b)
{
    return a.key != b.key ? a.key > b.key : a.at < b.at;
}

/* heap[0] is the last of the n best; room is made from `hole` down. */
static void sink(Entry *heap, int64_t n, int64_t hole, Entry e)
{
    for (int64_t child = 2 * hole + 1; child < n; child = 2 * hole + 1) {
        if (child + 1 < n && is_ahead(heap[child], heap[child + 1]))
            child++;
        if (!is_ahead(e, heap[child]))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = e;
}

/* A number that grows with the element: floats in their total order, nan the greatest. */
static int64_t key_at(Tensor t, int64_t i)
{
    if (element_carrier(t.type.element) == CARRY_FLOAT)
        return float_rank(t, i);
    int64_t x = int_at(t, i);
    return t.type.element == U64 ? (int64_t)((uint64_t)x ^ (UINT64_C(1) << 63)) : x;
}

static void top_of_line(Tensor in, int64_t first, int64_t extent, int64_t k, Entry *heap)
{
    for (int64_t i = 0; i < k; i++)
        heap[i] = (Entry){ key_at(in, first + i), i };
    for (int64_t i = k / 2 - 1; i >= 0; i--)
        sink(heap, k, i, heap[i]);
    for (int64_t i = k; i < extent; i++) {
        Entry e = { key_at(in, first + i), i };
        if (is_ahead(e, heap[0]))
            sink(heap, k, 0, e);
    }
    for (int64_t n = k - 1; n > 0; n--) { /* the last goes to the end */
        Entry e = heap[n];
        heap[n] = heap[0];
        sink(heap, n, 0, e);
    }
}

Error *routine_top_k(__attribute__((unused)) const Frame *f, const Node *n, const Tensor *in,
                     Tensor *out)
{
    int64_t extent = in->type.dims[in->type.rank - 1], k = ((const TopKAttrs *)n->attrs)->k;
    if (element_carrier(in->type.element) > CARRY_FLOAT)
        return error_new(CODE_UNIMPLEMENTED, "not supported: %s of %s, at %s", op_name(n->op),
                         type_name(in->type), loc_name(n->loc));
    if (k == 0 || type_count(in->type) == 0)
        return NULL;
    Entry *heap = malloc(sizeof *heap * (size_t)k);
    if (!heap)
        return error_new(CODE_EXHAUSTED, "chlo.top_k of %s: no memory", type_name(in->type));
    int64_t lines = type_count(in->type) / extent;
    for (int64_t line = 0; line < lines; line++) {
        top_of_line(*in, line * extent, extent, k, heap);
        for (int64_t i = 0; i < k; i++) {
            element_copy(out[0], line * k + i, *in, line * extent + heap[i].at);
            int_set(out[1], line * k + i, heap[i].at);
        }
    }
    free(heap);
    return NULL;
}
