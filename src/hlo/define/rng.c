/* rng.c - random numbers without a key: rng.
 *
 *     rng(a, b, shape) UNIFORM   ->   bits = rng_bit_generator(state of this device, once more)
 *                                     a + (b - a) u,   u in [0, 1) from the bits
 *     NORMAL                     ->   a + b sqrt(2) erf_inv(2 u - 1)
 *
 * The state is the engine's: a count per device of the numbers asked for so far, so that programs
 * run in the same order in a new process see the same numbers. */
#include "hlo/define/writer.h"
#include "hlo/known_integers.h"

#include <math.h>

/* Bits for the shape of t, others at every call. */
static ValueId fresh_bits(Writer *w, Type t, Element e)
{
    Arena *arena = w->m->arena;
    Type state = type_new(arena, U64, 1, (const int64_t[]){ 2 });
    CustomCallAttrs *call = ARENA_NEW(arena, CustomCallAttrs);
    *call =
        (CustomCallAttrs){ .call_target_name = str_of(call_info[CALL_RNG_STATE].name),
                           .has_side_effect = call_info[CALL_RNG_STATE].effect == EFFECT_WORLD };
    ValueId device = put_device_number(w), seed = put(w, OP_CUSTOM_CALL, state, call, 1, &device);
    RngBitsAttrs *attrs = ARENA_NEW(arena, RngBitsAttrs);
    attrs->rng_algorithm = 2; /* PHILOX */
    Type types[] = { state, with_element(t, e) };
    NodeId n = node_new(w->m, OP_RNG_BITS, 1, &seed, 2, types, 0, NULL, attrs, w->loc);
    region_append(w->m, w->r, n);
    return node_at(w->m, n)->out + 1;
}

/* In [0, 1), of f32 or f64: the bits as a mantissa below an exponent of 0. */
static ValueId unit_interval(Writer *w, Type t)
{
    bool is_wide = t.element == F64;
    ValueId bits = fresh_bits(w, t, is_wide ? U64 : U32);
    Type whole = type_of(w->m, bits);
    bits = put_two(w, OP_SHR_LOGICAL, bits, put_integer(w, whole, is_wide ? 12 : 9));
    bits = put_two(w, OP_OR, bits, put_integer(w, whole, is_wide ? 0x3ffLL << 52 : 0x3f8 << 20));
    return put_two(w, OP_SUB, put(w, OP_BITCAST, t, NULL, 1, &bits), put_number(w, t, 1));
}

static ValueId everywhere(Writer *w, ValueId scalar, Type t)
{
    return put_spread(w, put_convert(w, scalar, t.element), NULL, t.rank, t.dims);
}

static ValueId uniform_float(Writer *w, const Node *n, Type t)
{
    ValueId a = everywhere(w, n->in[0], t), b = everywhere(w, n->in[1], t);
    ValueId size = put_two(w, OP_SUB, b, a);
    return put_two(w, OP_ADD, a, put_two(w, OP_MUL, unit_interval(w, t), size));
}

static ValueId normal(Writer *w, const Node *n, Type t)
{
    double least = t.element == F64 ? nextafter(-1, 0) : (double)nextafterf(-1, 0);
    ValueId two = put_number(w, t, 2), one = put_number(w, t, 1);
    ValueId u = put_two(w, OP_SUB, put_two(w, OP_MUL, unit_interval(w, t), two), one);
    u = put_two(w, OP_MAX, u, put_number(w, t, least));
    ValueId x = put_two(w, OP_MUL, put_one(w, OP_ERF_INV, u), put_number(w, t, sqrt(2)));
    x = put_two(w, OP_MUL, x, everywhere(w, n->in[1], t));
    return put_two(w, OP_ADD, x, everywhere(w, n->in[0], t));
}

static ValueId uniform_integer(Writer *w, const Node *n, Type t)
{
    Type wide = with_element(t, element_info[t.element].bits == 64 ? U64 : U32);
    ValueId a = everywhere(w, n->in[0], wide), b = everywhere(w, n->in[1], wide);
    ValueId size = put_two(w, OP_SUB, b, a);
    ValueId offset = put_two(w, OP_REM, fresh_bits(w, t, wide.element), size);
    return put_convert(w, put_two(w, OP_ADD, a, offset), t.element);
}

static ValueId coin(Writer *w, Type t)
{
    ValueId bits = fresh_bits(w, t, U32);
    Type whole = type_of(w->m, bits);
    bits = put_two(w, OP_AND, bits, put_integer(w, whole, 1));
    return put_compare(w, NE, bits, put_integer(w, whole, 0));
}

/* A shape that is a constant must be the result's. */
static MUST_USE Error *check_shape(const Writer *w, const Node *n)
{
    Known known = { .arena = w->m->arena };
    Type t = type_of(w->m, n->out);
    if (value_def(w->m, n->in[2]))
        known_node(&known, w->m, value_def(w->m, n->in[2]));
    const int64_t *dims = known_get(&known, n->in[2]);
    if (!dims || shape_fits(t, (Type){ t.element, t.rank, dims }))
        return NULL;
    return error_new(CODE_INVALID, "%s (%s): the shape says %s, and the result is stated as %s",
                     op_name(n->op), loc_name(n->loc), type_name((Type){ t.element, t.rank, dims }),
                     type_name(t));
}

Error *define_rng(Writer *w, Node n, ValueId *results)
{
    TRY(check_shape(w, &n));
    bool is_normal = ((const RngAttrs *)n.attrs)->rng_distribution == 2;
    Type t = type_of(w->m, n.out);
    ElementKind kind = element_info[t.element].kind;
    if (kind == BOOLEAN) {
        results[0] = coin(w, t);
    } else if (kind != FLOAT) {
        results[0] = uniform_integer(w, &n, t);
    } else {
        Type wide = with_element(t, t.element == F64 ? F64 : F32);
        ValueId x = is_normal ? normal(w, &n, wide) : uniform_float(w, &n, wide);
        results[0] = put_convert(w, x, t.element);
    }
    return NULL;
}
