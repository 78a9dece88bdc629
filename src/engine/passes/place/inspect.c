/* inspect.c - calls that ask how a value lies: answered while the program is placed, then gone.
 *
 * JAX's inspect_array_sharding becomes such a call (jax_tutti/shardings.py), whose function this process
 * has registered under its name: a program from a file names functions that nobody has. */
#include "engine/passes/place/place.h"

#include "engine/custom_call.h"
#include "engine/op_sharding.h"

#include <string.h>

bool is_inspection(const Node *node)
{
    static const char prefix[] = TUTTI_INSPECT_CALL;
    if (node->op != OP_CUSTOM_CALL || node->nin != 1 || node->nout != 0)
        return false;
    Str target = ((const CustomCallAttrs *)node->attrs)->call_target_name;
    return target.n >= strlen(prefix) && !memcmp(target.at, prefix, strlen(prefix));
}

Error *inspection_answer(const Placer *z, NodeId n)
{
    const Node *node = node_at(z->m, n);
    ValueId v = node->in[0];
    Text bytes = { 0 };
    if (v >= z->nwhole || z->is_manual[v])
        sharding_write_manual(&bytes);
    else
        sharding_write(&bytes, z->tilings[v]);
    Error *error = call_with_bytes(node, (Str){ bytes.at, bytes.n });
    text_free(&bytes);
    return error;
}

/* In the body of a manual computation, which is already what each device does. */
Error *inspections_in_manual(Placer *z, RegionId r)
{
    Region *region = region_at(z->m, r);
    int kept = 0;
    for (int i = 0; i < region->nnodes; i++) {
        NodeId n = region->nodes[i];
        const Node *node = node_at(z->m, n);
        for (int k = 0; k < node->nregions; k++)
            TRY(inspections_in_manual(z, node->regions[k]));
        if (!is_inspection(node)) {
            region->nodes[kept++] = n;
            continue;
        }
        Text bytes = { 0 };
        sharding_write_manual(&bytes);
        Error *error = call_with_bytes(node, (Str){ bytes.at, bytes.n });
        text_free(&bytes);
        TRY(error);
    }
    region->nnodes = kept;
    return NULL;
}
