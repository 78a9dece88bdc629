/* custom.c - custom calls: somebody else's functions.
 *
 * JAX calls LAPACK for some operations that StableHLO has too; the tangents of those are found by
 * the operation's rule.  Of any other nobody knows what it computes: it is refused by its name. */
#include "front/transform/jvp.h"
#include "front/value/report.h"

#include <string.h>

static const char *target(const Module *m, NodeId n)
{
    Str name = ((const CustomCallAttrs *)node_at(m, n)->attrs)->call_target_name;
    return str_copy(m->arena, name).at;
}

/* Is it lapack_<one letter for the element type><routine>_ffi? */
static bool is_lapack(const char *name, const char *routine)
{
    static const char prefix[] = "lapack_";
    size_t n = strlen(routine);
    return strncmp(name, prefix, sizeof prefix - 1) == 0 && name[sizeof prefix - 1] &&
           strncmp(name + sizeof prefix, routine, n) == 0 &&
           strcmp(name + sizeof prefix + n, "_ffi") == 0;
}

/* Options are letters, as numbers. */
static bool option_is(const Jvp *j, const char *name, char letter)
{
    const Attr *config = attr_get(node_at(j->m, j->node)->extra, "mhlo.backend_config");
    const Attr *option = attr_get(config, name);
    return option && option->kind == ATTR_INT && option->integer == letter;
}

/* A file may give a call of that name any operands. */
static bool has_matrices(const Jvp *j, int n)
{
    const Node *node = node_at(j->m, j->node);
    bool fits = node->nin == n && node->nout >= 1 && type_of(j->m, node->out).rank >= 2;
    for (int i = 0; fits && i < n; i++)
        fits = type_of(j->m, node->in[i]).rank >= 2;
    return fits;
}

static void jvp_potrf(const Jvp *j)
{
    Jvp cholesky = *j;
    cholesky.op = OP_CHOLESKY;
    cholesky.attrs = BUILD_ATTRS(CholeskyAttrs, .lower = option_is(j, "uplo", 'L'));
    jvp_cholesky(&cholesky);
}

static void jvp_trsm(const Jvp *j)
{
    enum { NO_TRANSPOSE = 1, TRANSPOSE, ADJOINT };
    Jvp solve = *j;
    solve.op = OP_TRIANGULAR_SOLVE;
    solve.attrs =
        BUILD_ATTRS(TriangularSolveAttrs, .left_side = option_is(j, "side", 'L'),
                    .lower = option_is(j, "uplo", 'L'), .unit_diagonal = option_is(j, "diag", 'U'),
                    .transpose_a = option_is(j, "trans_x", 'T')   ? TRANSPOSE
                                   : option_is(j, "trans_x", 'C') ? ADJOINT
                                                                  : NO_TRANSPOSE);
    jvp_triangular_solve(&solve);
}

void jvp_custom_call(const Jvp *j)
{
    const char *name = target(j->m, j->node);
    if (is_lapack(name, "potrf") && has_matrices(j, 1))
        jvp_potrf(j);
    else if (is_lapack(name, "trsm") && has_matrices(j, 2))
        jvp_trsm(j);
    else
        report_broken("not supported: the derivative of custom_call @%s, %s: what it computes is not "
                   "known; tt_stop_gradient holds it constant",
                   name, loc_name(node_at(j->m, j->node)->loc));
}

void batch_custom_call(const Batch *b)
{
    if (!((const CustomCallAttrs *)b->attrs)->has_side_effect) {
        batch_rows(b);
        return;
    }
    report_broken("not supported: vmap of custom_call @%s, which has a side effect, %s",
               target(b->m, b->node), loc_name(node_at(b->m, b->node)->loc));
}
