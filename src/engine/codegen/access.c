/* access.c - between memory and registers.
 *
 * In: a pointer, an element type and an index.  Out: the value of every lane; or the stores.
 *
 *   lanes' element numbers      load                     store
 *   all the same                one scalar, splat        -
 *   one apart                   one vector               one vector
 *   one apart, backwards        one vector, reversed     lane by lane
 *   a few apart, either way     vectors, shuffled        lane by lane; vectors, if all between is too
 *   anything else               gather                   lane by lane
 *   anything, of a small array  a pick of registers      -
 *
 * Lanes that the index masks out do not touch memory; what they yield is some number. */
#include "engine/codegen/codegen.h"

#include "base/fail.h"

#include <string.h>

LLVMTypeRef int_type(Kernel *k, int bits)
{
    return LLVMIntTypeInContext(k->c, (unsigned)bits);
}

LLVMTypeRef lanes_of(LLVMTypeRef type, int lanes)
{
    return lanes == 1 ? type : LLVMVectorType(type, (unsigned)lanes);
}

bool access_can(Element e)
{
    return element_info[e].kind != TOKENS;
}

LLVMTypeRef memory_type(Kernel *k, Element e)
{
    switch (e) {
    case F64:
    case C128: return LLVMDoubleTypeInContext(k->c);
    case F32:
    case C64: return LLVMFloatTypeInContext(k->c);
    default: return int_type(k, 8 * element_info[e].bytes);
    }
}

LLVMTypeRef part_type(Kernel *k, Element e)
{
    if (e == I1)
        return int_type(k, 1);
    if (e == F8E8M0FNU)
        return LLVMDoubleTypeInContext(k->c);
    if (e == F16 || e == BF16 || is_narrow(e))
        return LLVMFloatTypeInContext(k->c);
    return memory_type(k, e);
}

LLVMTypeRef value_type(Kernel *k, Element e)
{
    LLVMTypeRef part = lanes_of(part_type(k, e), k->lanes);
    if (element_info[e].kind != COMPLEX)
        return part;
    LLVMTypeRef both[] = { part, part };
    return LLVMStructTypeInContext(k->c, both, 2, false);
}

static bool is_struct(V v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMStructTypeKind;
}

static V pair(Kernel *k, V re, V im)
{
    LLVMTypeRef both[] = { LLVMTypeOf(re), LLVMTypeOf(im) };
    V v = LLVMGetPoison(LLVMStructTypeInContext(k->c, both, 2, false));
    v = LLVMBuildInsertValue(k->b, v, re, 0, "");
    return LLVMBuildInsertValue(k->b, v, im, 1, "");
}

V splat(Kernel *k, V scalar, int lanes)
{
    if (lanes == 1)
        return scalar;
    if (is_struct(scalar))
        return pair(k, splat(k, LLVMBuildExtractValue(k->b, scalar, 0, ""), lanes),
                    splat(k, LLVMBuildExtractValue(k->b, scalar, 1, ""), lanes));
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), (unsigned)lanes);
    LLVMTypeRef order = LLVMVectorType(int_type(k, 32), (unsigned)lanes);
    V one = LLVMBuildInsertElement(k->b, LLVMGetPoison(type), scalar, const_i64(k, 0), "");
    return LLVMBuildShuffleVector(k->b, one, LLVMGetPoison(type), LLVMConstNull(order), "");
}

V splat_source(V v)
{
    bool is_splat = LLVMIsAShuffleVectorInst(v) && LLVMIsAInsertElementInst(LLVMGetOperand(v, 0)) &&
                    LLVMIsPoison(LLVMGetOperand(LLVMGetOperand(v, 0), 0));
    return is_splat ? LLVMGetOperand(LLVMGetOperand(v, 0), 1) : NULL;
}

V extract_lane(Kernel *k, V v, int lane)
{
    if (is_struct(v))
        return pair(k, extract_lane(k, LLVMBuildExtractValue(k->b, v, 0, ""), lane),
                    extract_lane(k, LLVMBuildExtractValue(k->b, v, 1, ""), lane));
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVectorTypeKind)
        return v;
    return LLVMBuildExtractElement(k->b, v, const_i64(k, lane), "");
}

/* ---- what is in memory, and what in registers ---- */

/* Left to itself LLVM compares extended halves, and takes the larger of them, as halves: lane by
 * lane where the machine has no such arithmetic, and losing NaN beside zero.  The fence, which is
 * no code, keeps them f32. */
V half_widen(Kernel *k, V half)
{
    V wide = LLVMBuildFPExt(k->b, half, like_type(k, half, LLVMFloatTypeInContext(k->c)), "");
    return LLVMIsConstant(wide) ? wide : INTRINSIC(k, "llvm.arithmetic.fence", wide);
}

/* The half of which half_widen made x, or NULL. */
static V half_behind(V x)
{
    static const char fence[] = "llvm.arithmetic.fence";
    bool is_fence = LLVMIsACallInst(x) && LLVMGetIntrinsicID(LLVMGetCalledValue(x)) ==
                                              LLVMLookupIntrinsicID(fence, sizeof fence - 1);
    return is_fence ? LLVMGetOperand(LLVMGetOperand(x, 0), 0) : NULL;
}

V half_narrow(Kernel *k, V x)
{
    V half = half_behind(x);
    LLVMTypeRef type = like_type(k, x, LLVMHalfTypeInContext(k->c));
    return half ? half : LLVMBuildFPTrunc(k->b, x, type, "");
}

static V widen_float16(Kernel *k, Element e, V raw)
{
    int lanes = LLVMGetTypeKind(LLVMTypeOf(raw)) == LLVMVectorTypeKind
                    ? (int)LLVMGetVectorSize(LLVMTypeOf(raw))
                    : 1;
    LLVMTypeRef f32 = lanes_of(LLVMFloatTypeInContext(k->c), lanes);
    if (e == F16) {
        LLVMTypeRef half = lanes_of(LLVMHalfTypeInContext(k->c), lanes);
        return half_widen(k, LLVMBuildBitCast(k->b, raw, half, ""));
    }
    LLVMTypeRef i32 = lanes_of(int_type(k, 32), lanes);
    V high = LLVMBuildShl(k->b, LLVMBuildZExt(k->b, raw, i32, ""), const_i(k, i32, 16), "");
    return LLVMBuildBitCast(k->b, high, f32, "");
}

static V from_memory(Kernel *k, Element e, V raw)
{
    if (e == I1)
        return LLVMBuildICmp(k->b, LLVMIntNE, raw, LLVMConstNull(LLVMTypeOf(raw)), "");
    if (is_coded(k, e))
        return narrow_decode(k, e, raw);
    return e == F16 || e == BF16 ? widen_float16(k, e, raw) : raw;
}

/* Narrow floats are already rounded, so taking their bits is exact. */
static V to_memory(Kernel *k, Element e, V v, int lanes)
{
    LLVMTypeRef raw = lanes_of(memory_type(k, e), lanes);
    if (e == I1)
        return LLVMBuildZExt(k->b, v, raw, "");
    if (is_coded(k, e))
        return narrow_encode(k, e, v);
    if (e == F16)
        return LLVMBuildBitCast(k->b, half_narrow(k, v), raw, "");
    if (e == BF16) {
        LLVMTypeRef i32 = lanes_of(int_type(k, 32), lanes);
        V bits = LLVMBuildBitCast(k->b, v, i32, "");
        return LLVMBuildTrunc(k->b, LLVMBuildLShr(k->b, bits, const_i(k, i32, 16), ""), raw, "");
    }
    return v;
}

V constant_value(Kernel *k, Element e, const void *data)
{
    size_t bytes = (size_t)element_info[e].bytes;
    bool is_complex = element_info[e].kind == COMPLEX;
    V parts[2];
    for (int i = 0; i < (is_complex ? 2 : 1); i++) {
        size_t size = is_complex ? bytes / 2 : bytes;
        uint64_t bits = 0;
        memcpy(&bits, (const char *)data + (size_t)i * size, size);
        V raw = LLVMConstInt(int_type(k, (int)size * 8), bits, false);
        LLVMTypeRef type = memory_type(k, e);
        parts[i] = from_memory(k, e, LLVMConstBitCast(raw, type));
    }
    V one = is_complex ? LLVMConstStructInContext(k->c, parts, 2, false) : parts[0];
    return splat(k, one, k->lanes);
}

/* ---- addresses ---- */

/* Element `number` (i64) of an array, in parts: a complex is two. */
static V address(Kernel *k, V pointer, Element e, V number)
{
    LLVMTypeRef part = memory_type(k, e);
    if (element_info[e].kind == COMPLEX)
        number = LLVMBuildMul(k->b, number, const_i(k, LLVMTypeOf(number), 2), "");
    return LLVMBuildInBoundsGEP2(k->b, part, pointer, &number, 1, "");
}

/* What a complex number's bits are moved as lies where that may lie. */
static unsigned alignment(const Kernel *k, Element e)
{
    unsigned bytes = (unsigned)element_info[e].bytes;
    bool may_be_complex = element_info[e].kind == COMPLEX || (k->only_moves && e == U64);
    return may_be_complex ? bytes / 2 : bytes;
}

static V aligned_load(Kernel *k, LLVMTypeRef type, V from, Element e)
{
    V v = LLVMBuildLoad2(k->b, type, from, "");
    LLVMSetAlignment(v, alignment(k, e));
    return v;
}

static V shuffle(Kernel *k, V a, V b, int n, int first, int step)
{
    V order[MAX_LANES];
    require(n <= MAX_LANES);
    for (int i = 0; i < n; i++)
        order[i] = LLVMConstInt(int_type(k, 32), (unsigned long long)(first + i * step), false);
    return LLVMBuildShuffleVector(k->b, a, b, LLVMConstVector(order, (unsigned)n), "");
}

static V reversed(Kernel *k, V v, int lanes)
{
    return shuffle(k, v, v, lanes, lanes - 1, -1);
}

static V any_lane(Kernel *k, V mask, int lanes)
{
    V one = lanes == 1 ? NULL : splat_source(mask);
    if (one)
        return one;
    return lanes == 1 ? mask : INTRINSIC(k, "llvm.vector.reduce.or", mask);
}

/* A real type's load of one element by one lane, or by all lanes the same. */
static V load_one(Kernel *k, V pointer, Element e, V number, V mask, int lanes)
{
    if (mask)
        number = LLVMBuildSelect(k->b, any_lane(k, mask, lanes), number, const_i64(k, 0), "");
    V from = address(k, pointer, e, number);
    V re = from_memory(k, e, aligned_load(k, memory_type(k, e), from, e));
    if (element_info[e].kind != COMPLEX)
        return splat(k, re, lanes);
    V next = byte_offset(k, from, element_info[e].bytes / 2);
    V im = aligned_load(k, memory_type(k, e), next, e);
    return pair(k, splat(k, re, lanes), splat(k, im, lanes));
}

V load_masked(Kernel *k, const char *name, LLVMTypeRef type, V from, unsigned align, V mask)
{
    V args[] = { from, LLVMConstInt(int_type(k, 32), align, false), mask, LLVMConstNull(type) };
    LLVMTypeRef types[] = { type, LLVMTypeOf(from) };
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    V f = LLVMGetIntrinsicDeclaration(k->e->llvm, id, types, 2);
    return LLVMBuildCall2(k->b, LLVMGlobalGetValueType(f), f, args, 4, "");
}

/* The lanes that a mask which is known turns on, if they are neighbours: the first, and how many; -1: it is
 * not so. */
static int known_run(V mask, int lanes, int *first)
{
    int n = 0;
    *first = 0;
    for (int i = 0; i < lanes; i++) {
        V lane = LLVMIsConstant(mask) ? LLVMGetAggregateElement(mask, (unsigned)i) : NULL;
        if (!lane || !LLVMIsAConstantInt(lane))
            return -1;
        if (!LLVMConstIntGetZExtValue(lane))
            continue;
        if (n == 0)
            *first = i;
        if (i != *first + n++)
            return -1;
    }
    return n;
}

/* Just n elements, which become the lanes from `first` on; the others are 0.  LLVM keeps a variable in registers
 * that is read so, not one of which masked loads are made. */
static V load_run(Kernel *k, V pointer, Element e, V number, int first, int n, int lanes)
{
    LLVMTypeRef type = LLVMVectorType(memory_type(k, e), (unsigned)n);
    V from = LLVMBuildAdd(k->b, number, const_i64(k, first), ""), order[MAX_LANES];
    V run = aligned_load(k, type, address(k, pointer, e, from), e);
    require(lanes <= MAX_LANES);
    for (int i = 0; i < lanes; i++) {
        bool is_on = i >= first && i < first + n;
        order[i] = LLVMConstInt(int_type(k, 32), (unsigned)(is_on ? i - first : n), false);
    }
    return LLVMBuildShuffleVector(k->b, run, LLVMConstNull(type),
                                  LLVMConstVector(order, (unsigned)lanes), "");
}

/* Lanes that are off may stand before or behind the array, by less than a vector where one is on: a
 * masked load does not touch them.  One of which no lane is wanted goes to the array's start: from
 * memory that is not there it would be right but take a trap's time. */
static V load_raw(Kernel *k, V pointer, Element e, V number, V mask, int lanes)
{
    int first, n = mask ? known_run(mask, lanes, &first) : -1;
    if (n > 0)
        return load_run(k, pointer, e, number, first, n, lanes);
    if (mask)
        number = LLVMBuildSelect(k->b, any_lane(k, mask, lanes), number, const_i64(k, 0), "");
    V from = address(k, pointer, e, number);
    if (mask)
        LLVMSetIsInBounds(from, false);
    LLVMTypeRef type = LLVMVectorType(memory_type(k, e), (unsigned)lanes);
    return mask ? load_masked(k, "llvm.masked.load", type, from, alignment(k, e), mask)
                : aligned_load(k, type, from, e);
}

static V load_pairs(Kernel *k, V pointer, Element e, V number, int lanes)
{
    LLVMTypeRef type = LLVMVectorType(memory_type(k, e), (unsigned)lanes * 2);
    V both = aligned_load(k, type, address(k, pointer, e, number), e);
    return pair(k, shuffle(k, both, both, lanes, 0, 2), shuffle(k, both, both, lanes, 1, 2));
}

static V gather_part(Kernel *k, LLVMTypeRef type, V pointers, V mask, unsigned align)
{
    int lanes = (int)LLVMGetVectorSize(type);
    if (!mask)
        mask = LLVMConstAllOnes(LLVMVectorType(int_type(k, 1), (unsigned)lanes));
    return load_masked(k, "llvm.masked.gather", type, pointers, align, mask);
}

/* Lanes that are off may have any number: one that is outside becomes the last one that is not. */
static V load_gather(Kernel *k, V pointer, Element e, Coord number, V mask, int64_t n, int lanes)
{
    V numbers = coord_lanes(k, number, lanes);
    if (is_small_table(k, e, n))
        return from_memory(k, e, small_table_lookup(k, pointer, e, n, numbers));
    if (mask)
        numbers = INTRINSIC(k, "llvm.umin", numbers, const_i(k, LLVMTypeOf(numbers), n - 1));
    V pointers = address(k, pointer, e, numbers);
    LLVMTypeRef type = LLVMVectorType(memory_type(k, e), (unsigned)lanes);
    unsigned align = alignment(k, e);
    if (element_info[e].kind != COMPLEX)
        return from_memory(k, e, gather_part(k, type, pointers, mask, align));
    V re = gather_part(k, type, pointers, mask, align);
    V next = byte_offset(k, pointers, element_info[e].bytes / 2);
    return pair(k, re, gather_part(k, type, next, mask, align));
}

/* Of vector c of those that hold lanes `step` apart: which of its elements are a lane's that is on. */
static V stepped_mask(Kernel *k, V mask, int c, int step, int lanes)
{
    V of[MAX_LANES];
    require(lanes <= MAX_LANES);
    for (int l = 0; l < lanes; l++) {
        int at = c * lanes + l;
        bool is_lane = at % step == 0 && at / step < lanes;
        of[l] = LLVMConstInt(int_type(k, 32), (unsigned)(is_lane ? at / step : lanes), false);
    }
    return LLVMBuildShuffleVector(k->b, mask, LLVMConstNull(LLVMTypeOf(mask)),
                                  LLVMConstVector(of, (unsigned)lanes), "");
}

/* Vector c of those that hold lanes `step` apart from element `first` on: nothing behind the last lane is
 * touched, and under a mask only what is a lane's. */
static V stepped_vector(Kernel *k, V pointer, Element e, V first, int c, int step, V mask,
                        int lanes)
{
    LLVMTypeRef type = LLVMVectorType(memory_type(k, e), (unsigned)lanes);
    V all = LLVMConstAllOnes(LLVMVectorType(int_type(k, 1), (unsigned)lanes));
    V at = LLVMBuildAdd(k->b, first, const_i64(k, (int64_t)c * lanes), "");
    if (mask)
        return load_raw(k, pointer, e, at, stepped_mask(k, mask, c, step, lanes), lanes);
    if (c + 1 < step)
        return load_raw(k, pointer, e, at, NULL, lanes);
    return load_masked(k, "llvm.masked.load", type, address(k, pointer, e, at), alignment(k, e),
                       stepped_mask(k, all, c, step, lanes));
}

/* Every second bf16, the first of each two or (is_second) the other: two of them are an i32, of which either
 * half is a shift or a mask away from being an f32. */
static V load_half_pairs(Kernel *k, V pointer, V first, bool is_second, int lanes)
{
    LLVMTypeRef i32 = lanes_of(int_type(k, 32), lanes);
    V both = aligned_load(k, i32, address(k, pointer, BF16, first), BF16);
    V bits = is_second ? LLVMBuildAnd(k->b, both, const_i(k, i32, 0xffff0000), "")
                       : LLVMBuildShl(k->b, both, const_i(k, i32, 16), "");
    return same_bits(k, bits, true);
}

/* Of `step` vectors, a power of two, whose elements follow one another: every one that is `rest` of its group of
 * `step`.  Each round takes those of even or of odd number, so what is taken for other rests is made of the
 * same. */
static V every_stepth(Kernel *k, int step, int rest, V *vectors, int lanes, int bytes)
{
    /* Of vectors of so many bytes LLVM soon finds one instruction for a chain. */
    enum { SHORT = 16 };
    for (; step > 1; step /= 2, rest /= 2)
        for (int i = 0; i < step / 2; i++) {
            vectors[i] = shuffle(k, vectors[2 * i], vectors[2 * i + 1], lanes, rest % 2, 2);
            if (step > 2 && lanes * bytes > SHORT)
                vectors[i] = fenced(k, vectors[i], lanes * bytes);
        }
    return vectors[0];
}

/* Lanes `step` apart, of an array of n elements: all that lies from the first to the last is loaded.  Where
 * the array is made of groups of `step`, and it is known which of a group the lanes are, groups are loaded
 * whole: what reads the others then loads the same. */
static V load_stepped(Kernel *k, V pointer, Element e, Coord number, V mask, int64_t n, int lanes)
{
    int step = (int)number.step;
    bool is_whole = !mask && n % step == 0 && number.multiple % step == 0;
    int rest = is_whole ? (int)((number.beyond % step + step) % step) : 0;
    V found = LLVMGetPoison(LLVMVectorType(memory_type(k, e), (unsigned)lanes)), order[MAX_LANES];
    V first = rest ? LLVMBuildSub(k->b, number.base, const_i64(k, rest), "") : number.base;
    if (e == BF16 && step == 2 && is_whole)
        return load_half_pairs(k, pointer, first, rest, lanes);
    require(lanes <= MAX_LANES);
    if (is_whole && (step & (step - 1)) == 0) {
        V vectors[MAX_LANES];
        for (int c = 0; c < step; c++)
            vectors[c] = load_raw(k, pointer, e,
                                  LLVMBuildAdd(k->b, first, const_i64(k, (int64_t)c * lanes), ""),
                                  NULL, lanes);
        return from_memory(k, e,
                           every_stepth(k, step, rest, vectors, lanes, element_info[e].bytes));
    }
    for (int c = 0; c < step; c++) {
        for (int l = 0; l < lanes; l++) {
            int at = l * step + rest;
            order[l] = LLVMConstInt(int_type(k, 32),
                                    (unsigned)(at / lanes == c ? lanes + at % lanes : l), false);
        }
        V from = LLVMBuildAdd(k->b, first, const_i64(k, (int64_t)c * lanes), "");
        V vector = is_whole ? load_raw(k, pointer, e, from, NULL, lanes)
                            : stepped_vector(k, pointer, e, first, c, step, mask, lanes);
        found = LLVMBuildShuffleVector(k->b, found, vector, LLVMConstVector(order, (unsigned)lanes),
                                       "");
    }
    return from_memory(k, e, found);
}

/* The address may lie behind the array: nothing is read. */
void prefetch_element(Kernel *k, V pointer, Element e, V number)
{
    static const char name[] = "llvm.prefetch";
    V at = address(k, pointer, e, number);
    LLVMSetIsInBounds(at, false);
    LLVMTypeRef type = LLVMTypeOf(at), i32 = int_type(k, 32);
    /* to be read, and kept in all caches; data */
    V args[] = { at, LLVMConstInt(i32, 0, false), LLVMConstInt(i32, 3, false),
                 LLVMConstInt(i32, 1, false) };
    unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
    V f = LLVMGetIntrinsicDeclaration(k->e->llvm, id, &type, 1);
    LLVMBuildCall2(k->b, LLVMGlobalGetValueType(f), f, args, 4, "");
}

/* The same numbers, the last lane's first. */
static Coord coord_turned(Kernel *k, Coord c, int lanes)
{
    c = coord_add_const(k, c, c.step * (lanes - 1), lanes);
    c.step = -c.step;
    return c;
}

/* A gather takes as long as it has lanes, or longer; this as many loads and shuffles as the step is, and under a
 * mask as many shuffles more. */
static bool is_short_step(int64_t step, const Index *at)
{
    enum { FEWEST = 8 }; /* lanes */
    return at->lanes >= FEWEST && step >= 2 && step * (at->mask ? 6 : 3) <= at->lanes * 2;
}

V load_element(Kernel *k, V pointer, Element e, Index *at)
{
    bool is_complex = element_info[e].kind == COMPLEX;
    Coord number = index_linear(k, at);
    if (at->lanes == 1 || coord_is_uniform(number))
        return load_one(k, pointer, e, number.base, at->mask, at->lanes);
    if (!number.vector && number.step == 1 && is_complex && !at->mask)
        return load_pairs(k, pointer, e, number.base, at->lanes);
    if (!number.vector && number.step == 1 && !is_complex)
        return from_memory(k, e, load_raw(k, pointer, e, number.base, at->mask, at->lanes));
    if (!number.vector && number.step == -1 && !is_complex) {
        V first = LLVMBuildAdd(k->b, number.base, const_i64(k, 1 - at->lanes), "");
        V mask = at->mask ? reversed(k, at->mask, at->lanes) : NULL;
        V raw = load_raw(k, pointer, e, first, mask, at->lanes);
        return from_memory(k, e, reversed(k, raw, at->lanes));
    }
    if (!number.vector && !is_complex && is_short_step(number.step, at))
        return load_stepped(k, pointer, e, number, at->mask, index_count(at), at->lanes);
    if (!number.vector && !is_complex && is_short_step(-number.step, at)) {
        V mask = at->mask ? reversed(k, at->mask, at->lanes) : NULL;
        V found = load_stepped(k, pointer, e, coord_turned(k, number, at->lanes), mask,
                               index_count(at), at->lanes);
        return reversed(k, found, at->lanes);
    }
    return load_gather(k, pointer, e, number, at->mask, index_count(at), at->lanes);
}

/* ---- stores ---- */

static V store_raw(Kernel *k, V to, Element e, V raw)
{
    V s = LLVMBuildStore(k->b, raw, to);
    LLVMSetAlignment(s, alignment(k, e));
    return s;
}

/* A store of so many lanes to `pointer` from `number` on goes past the caches if its result does and it
 * fills lines: results begin at a line. */
static void stream_store(Kernel *k, V store, V pointer, Element e, Coord number, int lanes)
{
    enum { LINE = 64 };
    static const char kind[] = "nontemporal";
    int bytes = element_info[e].bytes;
    bool streams = false;
    for (int i = 0; k->streams && i < region_return(k->m, k->region)->nin; i++)
        streams = streams || (k->streams[i] && k->outs[i] == pointer);
    if (!streams || lanes * bytes % LINE || coord_multiple(number) * bytes % LINE)
        return;
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(int_type(k, 32), 1, false));
    LLVMMetadataRef all = LLVMMDNodeInContext2(k->c, &one, 1);
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(k->c, kind, sizeof kind - 1),
                    LLVMMetadataAsValue(k->c, all));
    LLVMSetAlignment(store, LINE);
}

static void store_one(Kernel *k, V to, Element e, V v)
{
    if (element_info[e].kind != COMPLEX) {
        store_raw(k, to, e, to_memory(k, e, v, 1));
        return;
    }
    store_raw(k, to, e, LLVMBuildExtractValue(k->b, v, 0, ""));
    store_raw(k, byte_offset(k, to, element_info[e].bytes / 2), e,
              LLVMBuildExtractValue(k->b, v, 1, ""));
}

static V store_vector(Kernel *k, V to, Element e, V v, int lanes)
{
    if (element_info[e].kind != COMPLEX)
        return store_raw(k, to, e, to_memory(k, e, v, lanes));
    V order[MAX_LANES];
    require(2 * lanes <= MAX_LANES);
    for (int i = 0; i < 2 * lanes; i++)
        order[i] = LLVMConstInt(int_type(k, 32), (unsigned)(i / 2 + (i & 1 ? lanes : 0)), false);
    V both = LLVMBuildShuffleVector(k->b, LLVMBuildExtractValue(k->b, v, 0, ""),
                                    LLVMBuildExtractValue(k->b, v, 1, ""),
                                    LLVMConstVector(order, (unsigned)lanes * 2), "");
    return store_raw(k, to, e, both);
}

void store_element(Kernel *k, V pointer, Element e, Index *at, V v)
{
    Coord number = index_linear(k, at);
    if (at->lanes == 1) {
        store_one(k, address(k, pointer, e, number.base), e, v);
    } else if (!number.vector && number.step == 1) {
        V store = store_vector(k, address(k, pointer, e, number.base), e, v, at->lanes);
        stream_store(k, store, pointer, e, number, at->lanes);
    } else {
        V numbers = coord_lanes(k, number, at->lanes);
        for (int i = 0; i < at->lanes; i++) {
            V one = LLVMBuildExtractElement(k->b, numbers, const_i64(k, i), "");
            one = LLVMBuildSExt(k->b, one, int_type(k, 64), "");
            store_one(k, address(k, pointer, e, one), e, extract_lane(k, v, i));
        }
    }
}

/* a0 b0 a1 b1 ..: its first half, or its second. */
static V interleaved(Kernel *k, V a, V b, int lanes, bool is_second)
{
    V order[MAX_LANES];
    require(lanes <= MAX_LANES);
    for (int l = 0; l < lanes; l++) {
        int at = (is_second ? lanes : 0) + l;
        order[l] = LLVMConstInt(int_type(k, 32), (unsigned)(at / 2 + at % 2 * lanes), false);
    }
    return LLVMBuildShuffleVector(k->b, a, b, LLVMConstVector(order, (unsigned)lanes), "");
}

/* n columns, a power of two, become n vectors of rows: each round interleaves those n / 2 apart. */
static void interleave_all(Kernel *k, int n, int lanes, V *vectors)
{
    V *next = ARENA_ARRAY(k->arena, V, n);
    for (int round = 1; round < n; round *= 2) {
        for (int i = 0; i < n; i++)
            next[i] = interleaved(k, vectors[i / 2], vectors[i / 2 + n / 2], lanes, i % 2);
        memcpy(vectors, next, sizeof *next * (size_t)n);
    }
}

/* Vector c of the rows. */
static V pick_row_vector(Kernel *k, int n, int lanes, int c, const V *columns)
{
    V vector = LLVMGetPoison(LLVMTypeOf(columns[0])), order[MAX_LANES];
    require(lanes <= MAX_LANES);
    for (int j = 0; j < n; j++) {
        for (int l = 0; l < lanes; l++) {
            int at = c * lanes + l;
            order[l] =
                LLVMConstInt(int_type(k, 32), (unsigned)(at % n == j ? lanes + at / n : l), false);
        }
        vector = LLVMBuildShuffleVector(k->b, vector, columns[j],
                                        LLVMConstVector(order, (unsigned)lanes), "");
    }
    return vector;
}

void store_columns(Kernel *k, V pointer, Element e, Index *first, int n, const V *columns)
{
    int lanes = first->lanes;
    V to = address(k, pointer, e, index_linear(k, first).base);
    V *raw = ARENA_ARRAY(k->arena, V, n);
    bool is_power = (n & (n - 1)) == 0;
    if (lanes == 1) {
        for (int j = 0; j < n; j++)
            store_one(k, byte_offset(k, to, (int64_t)j * element_info[e].bytes), e, columns[j]);
        return;
    }
    for (int j = 0; j < n; j++)
        raw[j] = to_memory(k, e, columns[j], lanes);
    if (is_power)
        interleave_all(k, n, lanes, raw);
    for (int c = 0; c < n; c++) {
        V vector = is_power ? raw[c] : pick_row_vector(k, n, lanes, c, raw);
        V at = byte_offset(k, to, (int64_t)c * lanes * element_info[e].bytes);
        stream_store(k, store_raw(k, at, e, vector), pointer, e, index_linear(k, first), lanes);
    }
}
