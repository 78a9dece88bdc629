/* promote.c - in which type do operands meet?  JAX's lattice, where each type leads to those that
 * may take its place; operands meet in the first type that all of them lead to.
 *
 *                      +-> u8 --> u16 --> u32 --> u64 ----+
 *                      |     \       \       \            v
 *     bool -> int* ----+-> i8 -> i16 --> i32 --> i64 --> float* -+-> bf16 --+-> f32 -> f64 --+
 *                                                           |    +-> f16  --+     \           \
 *                                                           +-> complex* ---------> c64 ----> c128
 *
 * int*, float* and complex* are the types of numbers from C.  A number is held in 64 bits, so that
 * nothing is lost before it is known what it takes part in; with an array of integers 0.5 makes a
 * float array of the default 32 bits, still weak. */
#include "front/value/value.h"

#include "base/fail.h"

enum { ANY_INT = ELEMENT_COUNT, ANY_FLOAT, ANY_COMPLEX, NODES };

/* As a set of bits: x and everything it leads to. */
static uint64_t reach(int x)
{
    static const struct {
        int from, to[3];
    } steps[] = {
        { I1, { ANY_INT } },
        { ANY_INT, { U8, I8 } },
        { U8, { U16, I16 } },
        { U16, { U32, I32 } },
        { U32, { U64, I64 } },
        { U64, { ANY_FLOAT } },
        { I8, { I16 } },
        { I16, { I32 } },
        { I32, { I64 } },
        { I64, { ANY_FLOAT } },
        { ANY_FLOAT, { BF16, F16, ANY_COMPLEX } },
        { BF16, { F32 } },
        { F16, { F32 } },
        { F32, { F64, C64 } },
        { F64, { C128 } },
        { ANY_COMPLEX, { C64 } },
        { C64, { C128 } },
    };
    uint64_t set = (uint64_t)1 << x;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (int k = 0; steps[i].from == x && k < 3 && steps[i].to[k]; k++)
            set |= reach(steps[i].to[k]);
    return set;
}

static int node_of(const Shape *s)
{
    if (!s->is_weak)
        return (int)s->element;
    switch (element_info[s->element].kind) {
    case FLOAT: return ANY_FLOAT;
    case COMPLEX: return ANY_COMPLEX;
    case BOOLEAN: return I1;
    default: return ANY_INT;
    }
}

/* The first node that both lead to: of those, the one that leads to all others. */
static int join(int a, int b)
{
    uint64_t both = reach(a) & reach(b);
    for (int x = 0; x < NODES; x++)
        if (both >> x & 1 && reach(x) == both)
            return x;
    return a; /* unlike types outside the lattice (f8): the caller checks */
}

/* Are all operands numbers as C gave them, in 64 bits? */
static bool all_numbers(int n, const Shape *shapes)
{
    for (int i = 0; i < n; i++)
        if (!shapes[i].is_weak || element_info[shapes[i].element].bits < 64)
            return false;
    return true;
}

static Promoted promoted_at(int node, bool wide)
{
    switch (node) {
    case ANY_INT: return (Promoted){ wide ? I64 : I32, true };
    case ANY_FLOAT: return (Promoted){ wide ? F64 : F32, true };
    case ANY_COMPLEX: return (Promoted){ wide ? C128 : C64, true };
    default: return (Promoted){ (Element)node, false };
    }
}

Promoted promote_types(int n, const Shape *shapes)
{
    int node = node_of(&shapes[0]);
    for (int i = 1; i < n; i++)
        node = join(node, node_of(&shapes[i]));
    return promoted_at(node, all_numbers(n, shapes));
}

bool weak_yields(Element number, Element array)
{
    Shape shapes[] = { { .element = array }, { .element = number, .is_weak = true } };
    return promote_types(2, shapes).element == array;
}

Promoted promote_inexact(int n, const Shape *shapes)
{
    Promoted met = promote_types(n, shapes);
    switch (element_info[met.element].kind) {
    case FLOAT:
    case COMPLEX: return met;
    default: break;
    }
    bool wide = element_info[met.element].bits == 64;
    return (Promoted){ wide ? F64 : F32, met.is_weak };
}
