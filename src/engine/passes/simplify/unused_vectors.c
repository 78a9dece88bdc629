/* unused_vectors.c - eigenvectors and singular vectors that no operation reads are not computed.
 *
 *     values, vectors = syevd a, mode V; vectors not used   ->   mode N
 *
 * jnp.linalg.eigvalsh and svd(a)[1] arrive like that; the values alone take a half or less. */
#include "base/guard.h"
#include "engine/custom_call.h"
#include "engine/passes/simplify/simplify.h"
#include "ops/call.h"

/* Are all results of vectors unused? */
static bool is_for_values(const Module *m, const Node *node, const uint32_t *uses)
{
    Element e;
    Type a = type_of(m, node->in[0]);
    switch (lapack_find_routine(((const CustomCallAttrs *)node->attrs)->call_target_name, a.element,
                                &e)) {
    case LAPACK_CALL_SYEVD:
    case LAPACK_CALL_HEEVD: return uses[node->out] == 0;
    case LAPACK_CALL_GESDD:
    case LAPACK_CALL_GESVD: return uses[node->out + 2] == 0 && uses[node->out + 3] == 0;
    default: return false;
    }
}

/* A dictionary of options with mode N where it had another mode, also in dictionaries within it. */
static const Attr *without_vectors(Arena *arena, const Attr *options)
{
    if (!options || options->kind != ATTR_DICT)
        return options;
    AttrDict dict = { 0 };
    for (int i = 0; i < options->n; i++) {
        const Attr *value = without_vectors(arena, options->items[i]);
        if (str_is(options->keys[i], "mode") && value->kind == ATTR_INT) {
            Attr *mode = arena_copy(arena, value, sizeof *value);
            mode->integer = 'N';
            value = mode;
        }
        attr_set(arena, &dict, options->keys[i], value);
    }
    return attr_dict(arena, &dict);
}

static void walk(Module *m, RegionId r, const uint32_t *uses)
{
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        Node *node = node_at(m, region_at(m, r)->nodes[i]);
        for (int k = 0; k < node->nregions; k++)
            walk(m, node->regions[k], uses);
        if (node->op != OP_CUSTOM_CALL || !node->nin || !custom_option_find(node, "mode") ||
            !is_for_values(m, node, uses))
            continue;
        CustomCallAttrs *attrs = arena_copy(m->arena, node->attrs, sizeof *attrs);
        attrs->backend_config = without_vectors(m->arena, attrs->backend_config);
        node->attrs = attrs;
        node->extra = without_vectors(m->arena, node->extra);
    }
}

void drop_unused_vectors(Module *m, RegionId main)
{
    uint32_t *uses = count_uses(m, main);
    walk(m, main, uses);
    heap_free(uses);
}
