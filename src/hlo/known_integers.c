/* known_integers.c - integers that follow from the program and the shapes of its arguments alone.
 *
 *     b = get_dimension_size x, dim = 0        known once x's type is
 *     n = divide b, 2                          known since b is
 *     s = concatenate n, 3                     the extents of something
 *
 * Arithmetic is that of the element type: low bits are kept, division by zero gives -1 (all ones)
 * and the dividend as the remainder, as everywhere in the engine. */
#include "hlo/known_integers.h"

#include "ops/number.h"

#include <string.h>

enum { MOST_ELEMENTS = 1024 };

void known_set(Known *k, ValueId v, const int64_t *elements)
{
    if (v >= k->n) {
        uint32_t n = v + v / 2 + 64;
        const int64_t **bigger = ARENA_ARRAY(k->arena, const int64_t *, n);
        if (k->n)
            memcpy(bigger, k->at, sizeof *bigger * k->n);
        k->at = bigger;
        k->n = n;
    }
    k->at[v] = elements;
}

const int64_t *known_get(const Known *k, ValueId v)
{
    return v < k->n ? k->at[v] : NULL;
}

/* As an element of that type would hold it. */
static int64_t wrap(Element e, int64_t x)
{
    char bytes[16] = { 0 };
    number_set_int(e, x, bytes);
    return number_int(e, bytes);
}

static bool is_less(Element e, int64_t a, int64_t b)
{
    return element_info[e].kind == SIGNED ? a < b : (uint64_t)a < (uint64_t)b;
}

static int64_t quotient(Element e, int64_t a, int64_t b)
{
    if (b == 0)
        return -1;
    if (element_info[e].kind != SIGNED)
        return (int64_t)((uint64_t)a / (uint64_t)b);
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t remainder_of(Element e, int64_t a, int64_t b)
{
    if (b == 0)
        return a;
    if (element_info[e].kind != SIGNED)
        return (int64_t)((uint64_t)a % (uint64_t)b);
    return b == -1 ? 0 : a % b;
}

static bool holds(int direction, Element e, int64_t a, int64_t b)
{
    switch (direction) {
    case EQ: return a == b;
    case NE: return a != b;
    case LT: return is_less(e, a, b);
    case LE: return !is_less(e, b, a);
    case GT: return is_less(e, b, a);
    default: return !is_less(e, a, b);
    }
}

/* One element of an elementwise operation; x: its operands, whose type is e. */
static bool combine(const Node *n, Element e, const int64_t *x, int64_t *out)
{
    uint64_t a = (uint64_t)x[0], b = n->nin > 1 ? (uint64_t)x[1] : 0;
    switch (n->op) {
    case OP_ADD: *out = (int64_t)(a + b); return true;
    case OP_SUB: *out = (int64_t)(a - b); return true;
    case OP_MUL: *out = (int64_t)(a * b); return true;
    case OP_DIV: *out = quotient(e, x[0], x[1]); return true;
    case OP_REM: *out = remainder_of(e, x[0], x[1]); return true;
    case OP_MAX: *out = is_less(e, x[0], x[1]) ? x[1] : x[0]; return true;
    case OP_MIN: *out = is_less(e, x[0], x[1]) ? x[0] : x[1]; return true;
    case OP_AND: *out = (int64_t)(a & b); return true;
    case OP_OR: *out = (int64_t)(a | b); return true;
    case OP_XOR: *out = (int64_t)(a ^ b); return true;
    case OP_NOT: *out = e == I1 ? !a : (int64_t)~a; return true;
    case OP_NEG: *out = (int64_t)(0 - a); return true;
    case OP_ABS: *out = is_less(e, x[0], 0) ? (int64_t)(0 - a) : x[0]; return true;
    case OP_SIGN: *out = is_less(e, x[0], 0) ? -1 : x[0] != 0; return true;
    case OP_CONVERT: *out = x[0]; return true;
    case OP_COMPARE:
        *out = holds(((const CompareAttrs *)n->attrs)->comparison_direction, e, x[0], x[1]);
        return true;
    case OP_SELECT: *out = x[0] ? x[1] : x[2]; return true;
    case OP_CLAMP:
        *out = is_less(e, x[1], x[0]) ? x[0] : x[1];
        *out = is_less(e, x[2], *out) ? x[2] : *out;
        return true;
    default: return false;
    }
}

static bool map(const Known *k, const Module *m, const Node *n, Type type, int64_t *out)
{
    if (n->nin < 1 || n->nin > 3)
        return false;
    Element from = type_of(m, n->in[n->op == OP_SELECT || n->op == OP_CLAMP ? 1 : 0]).element;
    for (int64_t i = 0; i < type_count(type); i++) {
        int64_t x[3] = { 0 };
        for (int j = 0; j < n->nin; j++) /* scalars go with everything in select and clamp */
            x[j] = known_get(k, n->in[j])[type_of(m, n->in[j]).rank ? i : 0];
        if (!combine(n, from, x, &out[i]))
            return false;
        out[i] = type.element == I1 && n->op == OP_CONVERT ? x[0] != 0 : wrap(type.element, out[i]);
    }
    return true;
}

static void constant(const Dense *d, int64_t *out)
{
    const ElementInfo *info = &element_info[d->type.element];
    for (int64_t i = 0; i < type_count(d->type); i++)
        out[i] = number_int(d->type.element,
                            (const char *)d->data + (d->is_splat ? 0 : i) * info->bytes);
}

/* Lists joined end to end: along the first dimension memory is that too. */
static bool concatenate(const Known *k, const Module *m, const Node *n, int64_t *out)
{
    if (((const DimensionAttrs *)n->attrs)->dimension != 0)
        return false;
    for (int j = 0; j < n->nin; j++) {
        int64_t count = type_count(type_of(m, n->in[j]));
        memcpy(out, known_get(k, n->in[j]), sizeof *out * (size_t)count);
        out += count;
    }
    return true;
}

static bool slice(const Module *m, const Node *n, const int64_t *x, int64_t *out)
{
    const SliceAttrs *a = n->attrs;
    if (type_of(m, n->in[0]).rank != 1)
        return false;
    for (int64_t i = a->start_indices.at[0]; i < a->limit_indices.at[0]; i += a->strides.at[0])
        *out++ = x[i];
    return true;
}

static bool broadcast(const Module *m, const Node *n, const int64_t *x, int64_t *out)
{
    Type to = type_of(m, n->out);
    Ints dims = ((const BroadcastAttrs *)n->attrs)->broadcast_dimensions;
    if (type_count(type_of(m, n->in[0])) != 1 && (to.rank != 1 || dims.n != 1))
        return false;
    bool is_one = type_count(type_of(m, n->in[0])) == 1;
    for (int64_t i = 0; i < type_count(to); i++)
        out[i] = x[is_one ? 0 : i];
    return true;
}

static void iota(const Node *n, Type type, int64_t *out)
{
    int64_t strides[MAX_RANK], d = ((const IotaAttrs *)n->attrs)->iota_dimension;
    type_strides(type, strides);
    for (int64_t i = 0; i < type_count(type); i++)
        out[i] = wrap(type.element, i / strides[d] % type.dims[d]);
}

static bool is_counting(Type t)
{
    ElementKind kind = element_info[t.element].kind;
    return (kind == BOOLEAN || kind == SIGNED || kind == UNSIGNED) && type_is_static(t) &&
           type_count(t) <= MOST_ELEMENTS;
}

static bool evaluate(const Known *k, const Module *m, const Node *n, Type type, int64_t *out)
{
    const int64_t *x = n->nin ? known_get(k, n->in[0]) : NULL;
    switch (n->op) {
    case OP_CONSTANT: constant(&((const ConstantAttrs *)n->attrs)->value, out); return true;
    case OP_IOTA: iota(n, type, out); return true;
    case OP_RESHAPE: memcpy(out, x, sizeof *out * (size_t)type_count(type)); return true;
    case OP_BROADCAST: return broadcast(m, n, x, out);
    case OP_CONCATENATE: return concatenate(k, m, n, out);
    case OP_SLICE: return slice(m, n, x, out);
    default: return op_info[n->op].kind == KIND_MAP && map(k, m, n, type, out);
    }
}

void known_node(Known *k, const Module *m, NodeId id)
{
    const Node *n = node_at(m, id);
    if (n->nout != 1 || n->nregions || !is_counting(type_of(m, n->out)))
        return;
    for (int i = 0; i < n->nin; i++)
        if (!known_get(k, n->in[i]))
            return;
    Type type = type_of(m, n->out);
    int64_t *out = ARENA_ARRAY(k->arena, int64_t, type_count(type) + 1);
    if (evaluate(k, m, n, type, out))
        known_set(k, n->out, out);
}
