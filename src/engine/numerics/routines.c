/* routines.c - which operations have ready-made loops. */
#include "engine/numerics/matrices.h"

#include "engine/custom_call.h"
#include "engine/ffi/ffi.h"

static bool is_plain(Element e)
{
    return element_part(e) == F32 || element_part(e) == F64;
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
    if (!call_registry_find(target, &f, &user))
        return NULL;
    return f ? call_registered : ffi_call;
}

Routine *routine_find(const Module *m, const Node *node)
{
    switch (node->op) {
    case OP_FFT: return routine_fft;
    case OP_TOP_K: return routine_top_k;
    case OP_RNG_BITS: return routine_rng_bits;
    case OP_TRIANGULAR_SOLVE:
        return is_plain(type_of(m, node->in[0]).element) ? routine_triangular_solve
                                                         : routine_widened;
    case OP_CHOLESKY:
        return is_plain(type_of(m, node->in[0]).element) ? routine_cholesky : routine_widened;
    case OP_CUSTOM_CALL: return custom_find(m, node);
    default: return NULL;
    }
}

const char *routine_symbol(Routine *routine)
{
    static const struct {
        Routine *routine;
        const char *name;
    } all[] = {
#define NAMED(f) { f, #f }
        NAMED(routine_fft),       NAMED(routine_top_k),    NAMED(routine_rng_bits),
        NAMED(routine_rng_state), NAMED(routine_cholesky), NAMED(routine_triangular_solve),
        NAMED(routine_widened),   NAMED(routine_qr),       NAMED(routine_householder),
        NAMED(routine_lapack),    NAMED(call_registered),
#undef NAMED
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].routine == routine)
            return all[i].name;
    return NULL;
}

Error *routine_prepare(const Module *m, const Node *node)
{
    Routine *f = routine_find(m, node);
    bool is_wanted = f == routine_cholesky && cholesky_wants_library(type_of(m, node->in[0]));
    return is_wanted || f == routine_lapack ? lapack_find() : NULL;
}
