/* element.c - the value of a value at an index.
 *
 * In: a value of the fusion's region and an index into it.  Out: LLVM code, at the place where
 * the builder stands, for the value there.  The code of an operation is its rule's; rules ask
 * for their operands by calling element() again, with the index they need:
 *
 *     element(add, at) -> element(x, at) + element(broadcast, at)
 *                         load x at `at`   element(bias, {at[1]}) -> load bias at at[1]
 *
 * What was made for a value and an index is kept, so an operand that two operations share is
 * computed once.  An index that is the same for all lanes is computed by one lane and splat. */
#include "engine/codegen/codegen.h"

#include "base/fail.h"

#include <string.h>

typedef struct MemoEntry {
    ValueId v;
    const Index *at;
    V value; /* NULL: the entry is free */
} MemoEntry;

typedef struct Memo {
    MemoEntry *entries;
    uint32_t n, room;
} Memo;

static uint32_t memo_slot(const Memo *memo, ValueId v, const Index *at)
{
    uint32_t i = (uint32_t)(((uintptr_t)at >> 4) * 31 + v) * 2654435761u % memo->room;
    while (memo->entries[i].value && (memo->entries[i].v != v || memo->entries[i].at != at))
        i = (i + 1) % memo->room;
    return i;
}

void memo_clear(Kernel *k)
{
    if (!k->memo)
        k->memo = ARENA_NEW(k->arena, Memo);
    *k->memo = (Memo){ ARENA_ARRAY(k->arena, MemoEntry, 64), 0, 64 };
}

static void memo_grow(Kernel *k)
{
    Memo old = *k->memo;
    *k->memo = (Memo){ ARENA_ARRAY(k->arena, MemoEntry, old.room * 4), 0, old.room * 4 };
    for (uint32_t i = 0; i < old.room; i++)
        if (old.entries[i].value)
            memo_set(k, old.entries[i].v, (Index *)old.entries[i].at, old.entries[i].value);
}

void memo_set(Kernel *k, ValueId v, Index *at, V value)
{
    if (k->memo->n * 2 >= k->memo->room)
        memo_grow(k);
    uint32_t i = memo_slot(k->memo, v, at);
    k->memo->n += !k->memo->entries[i].value;
    k->memo->entries[i] = (MemoEntry){ v, at, value };
}

/* Where elements are only moved, so are their bits: a bf16 needs no f32, and a complex<f32> no two vectors. */
Element moved_element(const Kernel *k, Element e)
{
    bool is_number = element_info[e].kind == FLOAT || element_info[e].kind == COMPLEX;
    if (!k->only_moves || !is_number || e == F32 || element_info[e].bits < 8)
        return e;
    switch (element_info[e].bytes) {
    case 1: return U8;
    case 2: return U16;
    case 8: return U64;
    default: return e;
    }
}

Element element_of(const Kernel *k, ValueId v)
{
    return moved_element(k, type_of(k->m, v).element);
}

int kernel_argument(const Kernel *k, ValueId v)
{
    const Value *value = value_at(k->m, v);
    return !value->node && value->region == k->region ? value->index : -1;
}

static void note(Kernel *k, Error *error)
{
    if (k->error)
        error_free(error);
    else
        k->error = error;
}

V kernel_error(Kernel *k, NodeId n, const char *why)
{
    const Node *node = node_at(k->m, n);
    Text types = { 0 };
    for (int i = 0; i < node->nin; i++) {
        text_printf(&types, i ? ", " : " of ");
        type_print_short(&types, type_of(k->m, node->in[i]));
    }
    note(k, error_new(CODE_UNIMPLEMENTED, "not supported: %s%s (%s), at %s", op_name(node->op),
                      text_cstr(&types), why, loc_name(node->loc)));
    text_free(&types);
    Element e = node->nout ? element_of(k, node->out) : F32;
    return LLVMGetPoison(value_type(k, access_can(e) ? e : F32));
}

static V free_value(Kernel *k, ValueId v, Index *at)
{
    const Value *value = value_at(k->m, v);
    if (k->inlined && value->region == k->inlined)
        return k->bound[value->index];
    int argument = kernel_argument(k, v);
    if (argument < 0)
        fail("value %u is neither in the fusion nor an argument of it", v);
    if (type_count(value->type) == 0)
        return LLVMConstNull(value_type(k, element_of(k, v)));
    V loaded = k->load ? k->load(k, argument, at) : NULL;
    if (loaded)
        return loaded;
    return load_element(k, k->ins[argument], element_of(k, v), at);
}

static V compute(Kernel *k, ValueId v, Index *at)
{
    enum { DEEPEST = 4000 }; /* fusions are small; this keeps a strange one off the stack's end */
    NodeId n = value_def(k->m, v);
    if (!n)
        return free_value(k, v, at);
    ElementRule *rule = element_rules[node_at(k->m, n)->op];
    if (!rule)
        return kernel_error(k, n, "inside a fusion");
    if (k->depth == DEEPEST)
        return kernel_error(k, n, "a fusion of more than 4000 operations in a row");
    k->depth++;
    V value = is_shared_function(k, n) ? shared_function_call(k, n, at) : rule(k, n, at);
    k->depth--;
    return value;
}

V element(Kernel *k, ValueId v, Index *at)
{
    MemoEntry *hit = &k->memo->entries[memo_slot(k->memo, v, at)];
    if (hit->value)
        return hit->value;
    int outer = k->lanes;
    k->lanes = at->lanes;
    V value;
    if (at->lanes > 1 && !k->inlined && index_is_uniform(at))
        value = splat(k, element(k, v, index_narrow(k, at)), at->lanes);
    else if (!access_can(element_of(k, v)))
        value = kernel_error(k, value_def(k->m, v), "this element type");
    else
        value = compute(k, v, at);
    k->lanes = outer;
    memo_set(k, v, at, value);
    return value;
}

V element_uniform(Kernel *k, ValueId v, Index *at)
{
    return element(k, v, index_narrow(k, at));
}

/* select's predicate and clamp's bounds may be scalars beside arrays. */
V operand(Kernel *k, NodeId n, int i, Index *at)
{
    ValueId v = node_at(k->m, n)->in[i];
    bool is_scalar = type_of(k->m, v).rank == 0 && at->rank != 0;
    return element(k, v, is_scalar ? index_scalar(k, at->lanes) : at);
}

static V clamped(Kernel *k, V number, Element e, int64_t most)
{
    LLVMTypeRef type = LLVMTypeOf(number);
    int bits = element_info[e].bits;
    bool is_unsigned = element_info[e].kind != SIGNED;
    V low = const_i(k, type, 0), high = const_i(k, type, most);
    bool all_fit = bits < 63 && most >= (INT64_C(1) << (is_unsigned ? bits : bits - 1)) - 1;
    if (is_unsigned)
        return all_fit ? number : INTRINSIC(k, "llvm.umin", number, high);
    number = INTRINSIC(k, "llvm.smax", number, low);
    return all_fit ? number : INTRINSIC(k, "llvm.smin", number, high);
}

/* Clamping first keeps numbers exact whatever their type's width: 0..most fits a lane. */
Coord element_coord(Kernel *k, ValueId v, Index *at, int64_t most)
{
    Element e = element_of(k, v);
    KnownNumber known;
    if (known_number(k, v, at, &known) && known.low >= 0 && known.high <= most)
        return known.at;
    bool is_uniform = index_is_uniform(at);
    bool is_unsigned = element_info[e].kind != SIGNED;
    int lanes = is_uniform ? 1 : at->lanes;
    V number = is_uniform ? element_uniform(k, v, at) : element(k, v, at);
    number = clamped(k, number, e, most);
    number = LLVMBuildIntCast2(k->b, number, lane_type(k, lanes), !is_unsigned, "");
    return lanes == 1 ? coord_uniform(k, number) : coord_vector(k, number);
}

Coord slice_coord(Kernel *k, ValueId start, Index *at, int d, int64_t extent)
{
    int64_t most = extent - at->dims[d];
    Coord c = index_at(k, at, d);
    if (most <= 0)
        return c;
    return coord_add(k, c, element_coord(k, start, index_scalar(k, at->lanes), most), at->lanes);
}

void region_inline(Kernel *k, RegionId r, const V *args, V *results)
{
    RegionId outer = k->inlined;
    const V *outer_bound = k->bound;
    Index *at = index_scalar(k, k->lanes);
    k->inlined = r;
    k->bound = args;
    const Node *end = region_return(k->m, r);
    for (int i = 0; i < end->nin; i++)
        results[i] = element(k, end->in[i], at);
    k->inlined = outer;
    k->bound = outer_bound;
}
