/* transpose.c - squares of elements, transposed in registers; and pixels, spread over lanes and packed again.
 *
 * In: vectors, as many as a square has rows; each holds a row of every square, side by side.  Out: the
 * squares transposed, by rounds in which blocks of 1, 2, 4 ... change places:
 *
 *     a b c d      a e c g      a e i m
 *     e f g h  ->  b f d h  ->  b f j n
 *     i j k l      i m k o      c g k o
 *     m n o p      j n l p      d h l p  */
#include "engine/codegen/codegen.h"

#include "base/fail.h"

/* Exchanges the upper right and lower left blocks of s x s elements, each of so many lanes. */
static void transpose_step(Kernel *k, int side, int lanes, int s, int each, V *rows)
{
    V upper[MAX_LANES], lower[MAX_LANES];
    require(lanes <= MAX_LANES);
    for (int j = 0; j < lanes; j++) {
        bool is_right = j / each & s;
        int by = s * each, from_a = is_right ? lanes + j - by : j;
        int from_b = is_right ? lanes + j : j + by;
        upper[j] = LLVMConstInt(int_type(k, 32), (unsigned)from_a, false);
        lower[j] = LLVMConstInt(int_type(k, 32), (unsigned)from_b, false);
    }
    V high = LLVMConstVector(upper, (unsigned)lanes), low = LLVMConstVector(lower, (unsigned)lanes);
    for (int i = 0; i < side; i++) {
        if (i & s)
            continue;
        V a = rows[i], b = rows[i + s];
        rows[i] = LLVMBuildShuffleVector(k->b, a, b, high, "");
        rows[i + s] = LLVMBuildShuffleVector(k->b, a, b, low, "");
    }
}

/* Left to itself LLVM looks for one shuffle in place of each chain of them, and takes longer for that than
 * for all the rest of a program.  The fence, which is no code, ends a chain.  Shorter rows, in bytes, do
 * without. */
enum { MOST_MIXED = 8 };

V fenced(Kernel *k, V row, int bytes)
{
    LLVMTypeRef type = LLVMTypeOf(row);
    if (bytes < MOST_MIXED || bytes % (int)sizeof(float))
        return row;
    if (LLVMGetTypeKind(LLVMGetElementType(type)) != LLVMIntegerTypeKind)
        return INTRINSIC(k, "llvm.arithmetic.fence", row);
    LLVMTypeRef f32 = LLVMVectorType(LLVMFloatTypeInContext(k->c), (unsigned)bytes / sizeof(float));
    V same = LLVMBuildBitCast(k->b, row, f32, "");
    return LLVMBuildBitCast(k->b, INTRINSIC(k, "llvm.arithmetic.fence", same), type, "");
}

LLVMTypeRef square_type(Kernel *k, int bytes)
{
    switch (bytes) {
    case 4: return LLVMFloatTypeInContext(k->c);
    case 8: return LLVMDoubleTypeInContext(k->c);
    default: return int_type(k, 8 * (unsigned)bytes);
    }
}

void transpose_squares(Kernel *k, int side, int lanes, int bytes, V *rows)
{
    int each = (int)LLVMGetVectorSize(LLVMTypeOf(rows[0])) / lanes;
    for (int s = 1; s < side; s *= 2) {
        transpose_step(k, side, each * lanes, s, each, rows);
        for (int i = 0; i < side && 2 * s < side; i++)
            rows[i] = fenced(k, rows[i], lanes * bytes);
    }
}

/* ---- pixels ---- */

/* Machines move bytes within blocks of 16, and words of 4 anywhere. */
enum { BLOCK = 16, WORD = 4 };

/* The units of v, of so many bytes, in that order; -1: any. */
static V in_order(Kernel *k, V v, int unit, int n, const int *order)
{
    V lanes[MAX_LANES], any = LLVMGetPoison(int_type(k, 32));
    int had = (int)LLVMGetVectorSize(LLVMTypeOf(v)) / unit;
    LLVMTypeRef type = LLVMVectorType(int_type(k, 8 * unit), (unsigned)had);
    for (int i = 0; i < n; i++)
        lanes[i] = order[i] < 0 ? any : LLVMConstInt(int_type(k, 32), (unsigned)order[i], false);
    v = LLVMBuildShuffleVector(k->b, LLVMBuildBitCast(k->b, v, type, ""), LLVMGetPoison(type),
                               LLVMConstVector(lanes, (unsigned)n), "");
    return LLVMBuildBitCast(k->b, v, LLVMVectorType(int_type(k, 8), (unsigned)(n * unit)), "");
}

/* n groups of `from` bytes as groups of `to`: the first bytes of each stay. */
static V regrouped(Kernel *k, V bytes, int n, int from, int to)
{
    int order[MAX_LANES];
    require(n * to <= MAX_LANES);
    for (int i = 0; i < n * to; i++)
        order[i] = i % to < from ? i / to * from + i % to : -1;
    return in_order(k, bytes, 1, n * to, order);
}

static V load_bytes(Kernel *k, V at, int64_t offset, int n)
{
    V v = LLVMBuildLoad2(k->b, LLVMVectorType(int_type(k, 8), (unsigned)n),
                         byte_offset(k, at, offset), "");
    LLVMSetAlignment(v, 1);
    return v;
}

/* Of each block of 16 bytes that will be, its bytes are loaded, and some behind them; of the last, some before. */
V spread_load(Kernel *k, V at, int n, int packed, int wide)
{
    int each = BLOCK / wide, used = each * packed, blocks = n / each, order[MAX_LANES];
    if (n % each || n * packed < BLOCK || (blocks & (blocks - 1)))
        return regrouped(k, load_bytes(k, at, 0, n * packed), n, packed, wide);
    V parts[MAX_LANES];
    int last = n * packed - BLOCK;
    for (int b = 0; b < blocks; b++) {
        int from = b * used < last ? b * used : last;
        parts[b] = load_bytes(k, at, from, BLOCK);
        for (int i = 0; i < BLOCK; i++)
            order[b * BLOCK + i] =
                i % wide < packed ? b * BLOCK + b * used - from + i / wide * packed + i % wide : -1;
    }
    for (int size = BLOCK; blocks > 1; blocks /= 2, size *= 2) {
        V both[MAX_LANES];
        for (int i = 0; i < 2 * size; i++)
            both[i] = LLVMConstInt(int_type(k, 32), (unsigned)i, false);
        for (int b = 0; b < blocks / 2; b++)
            parts[b] = LLVMBuildShuffleVector(k->b, parts[2 * b], parts[2 * b + 1],
                                              LLVMConstVector(both, (unsigned)(2 * size)), "");
    }
    return in_order(k, fenced(k, parts[0], n * wide), 1, n * wide, order);
}

/* Within blocks first, then their words. */
V packed_bytes(Kernel *k, V bytes, int n, int wide, int packed)
{
    int each = BLOCK / wide, used = each * packed, order[MAX_LANES];
    if (n % each || used % WORD)
        return regrouped(k, bytes, n, wide, packed);
    require(n * wide <= MAX_LANES);
    for (int i = 0; i < n * wide; i++) {
        int of_block = i % BLOCK / packed * wide + i % BLOCK % packed;
        order[i] = i % BLOCK < used ? i / BLOCK * BLOCK + of_block : -1;
    }
    bytes = fenced(k, in_order(k, bytes, 1, n * wide, order), n * wide);
    int words = used / WORD;
    for (int i = 0; i < n / each * words; i++)
        order[i] = i / words * (BLOCK / WORD) + i % words;
    return in_order(k, bytes, WORD, n / each * words, order);
}
