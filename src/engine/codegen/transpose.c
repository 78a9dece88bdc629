/* transpose.c - squares of elements, transposed in registers.
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

/* Exchanges the upper right and lower left blocks of s x s. */
static void transpose_step(Kernel *k, int side, int lanes, int s, V *rows)
{
    V upper[MAX_LANES], lower[MAX_LANES];
    require(lanes <= MAX_LANES);
    for (int j = 0; j < lanes; j++) {
        int from_a = j & s ? lanes + j - s : j, from_b = j & s ? lanes + j : j + s;
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

static V fenced(Kernel *k, V row, int bytes)
{
    LLVMTypeRef type = LLVMTypeOf(row);
    LLVMTypeRef f32 = LLVMVectorType(LLVMFloatTypeInContext(k->c), (unsigned)bytes / 4);
    V same = LLVMBuildBitCast(k->b, row, f32, "");
    return LLVMBuildBitCast(k->b, INTRINSIC(k, "llvm.arithmetic.fence", same), type, "");
}

void transpose_squares(Kernel *k, int side, int lanes, int bytes, V *rows)
{
    for (int s = 1; s < side; s *= 2) {
        transpose_step(k, side, lanes, s, rows);
        for (int i = 0; i < side && lanes * bytes >= MOST_MIXED; i++)
            rows[i] = fenced(k, rows[i], lanes * bytes);
    }
}
