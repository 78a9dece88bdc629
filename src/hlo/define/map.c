/* map.c - a function of scalars at every element: map.
 *
 *     map(x: f32[4], y: f32[4]) { (a, b): t = multiply a, b; return t }   ->   multiply x, y
 *
 * Elementwise operations of the region become the same on arrays; scalars from elsewhere are
 * broadcast. */
#include "hlo/define/writer.h"

typedef struct Mapped {
    Writer *w;
    Type shape;   /* its extents are those of the result */
    Subst arrays; /* scalars of the region, and the arrays of them */
} Mapped;

/* The array of a scalar; one that the region does not make is the same everywhere. */
static ValueId array_of(Mapped *z, ValueId scalar)
{
    ValueId array = subst_get(&z->arrays, scalar);
    if (array == scalar) {
        array = put_spread(z->w, scalar, NULL, z->shape.rank, z->shape.dims);
        subst_set(&z->arrays, scalar, array);
    }
    return array;
}

static bool is_move(const Node *n)
{
    return n->op == OP_RESHAPE || n->op == OP_BROADCAST || n->op == OP_TRANSPOSE;
}

static bool is_of_scalars(const Module *m, const Node *n)
{
    bool is = n->nout == 1 && type_of(m, n->out).rank == 0;
    for (int i = 0; i < n->nin; i++)
        is &= type_of(m, n->in[i]).rank == 0;
    return is;
}

static Error *widen(Mapped *z, Node n)
{
    Module *m = z->w->m;
    Writer w = { m, z->w->r, n.loc };
    bool is_known = n.op == OP_CONSTANT || is_move(&n) || op_info[n.op].kind == KIND_MAP;
    if (!is_known || !is_of_scalars(m, &n))
        return error_new(CODE_UNIMPLEMENTED, "not supported: %s%s in the region of a map, at %s",
                         op_name(n.op), is_known ? " of anything but scalars" : "",
                         loc_name(n.loc));
    if (n.op == OP_CONSTANT) {
        ValueId scalar = put(&w, OP_CONSTANT, type_of(m, n.out), n.attrs, 0, NULL);
        subst_set(&z->arrays, n.out, array_of(z, scalar));
        return NULL;
    }
    if (is_move(&n)) {
        subst_set(&z->arrays, n.out, array_of(z, n.in[0]));
        return NULL;
    }
    ValueId in[3];
    for (int i = 0; i < n.nin; i++)
        in[i] = array_of(z, n.in[i]);
    Type t = with_element(z->shape, type_of(m, n.out).element);
    subst_set(&z->arrays, n.out, put(&w, n.op, t, n.attrs, n.nin, in));
    return NULL;
}

static Error *widen_all(Mapped *z, Node n, ValueId *results)
{
    Module *m = z->w->m;
    RegionId body = n.regions[0];
    for (int i = 0; i < n.nin; i++)
        subst_set(&z->arrays, region_at(m, body)->args + (uint32_t)i, n.in[i]);
    for (int i = 0; i + 1 < region_at(m, body)->nnodes; i++)
        TRY(widen(z, *node_at(m, region_at(m, body)->nodes[i])));
    results[0] = array_of(z, region_return(m, body)->in[0]);
    return NULL;
}

Error *define_map(Writer *w, Node n, ValueId *results)
{
    Mapped z = { w, type_of(w->m, n.out), subst_new(w->m) };
    Error *error = widen_all(&z, n, results);
    subst_free(&z.arrays);
    return error;
}
