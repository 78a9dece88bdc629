/* small_tables.c - elements found by number in an array so small that it lies in registers.
 *
 * A table of 256 numbers is 16 registers of 64 bytes, which LLVM loads before the loop; one instruction picks of
 * two of them, by the low five bits of a lane's number, and each further bit halves what was picked:
 *
 *     number 0 1 1 0 ..  <- bits above    pick(r0, r1)  pick(r2, r3)  pick(r4, r5)  pick(r6, r7)
 *                                              \ bit 5 /                   \ bit 5 /
 *                                                     \_______ bit 6 _______/
 *
 * Where elements are shorter than four bytes, four bytes are found and shifted.  A gather takes two or three times
 * as long for the largest tables, and ten times for those of 16 numbers. */
#include "engine/codegen/codegen.h"

#include <string.h>

enum { LANES = 16, WORD = 4, REGISTER = LANES * WORD, MOST_REGISTERS = 16 };

/* Registers of 64 bytes are only AVX-512's. */
bool is_small_table(const Kernel *k, Element e, int64_t n)
{
    int64_t bytes = n * element_info[e].bytes;
    return k->e->vector_bytes == REGISTER && k->is_small && element_info[e].kind != COMPLEX &&
           element_info[e].bytes <= WORD && bytes <= MOST_REGISTERS * REGISTER && bytes % WORD == 0;
}

static V x86(Kernel *k, const char *name, int n, V *args)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    V f = LLVMGetIntrinsicDeclaration(k->e->llvm, id, NULL, 0);
    return LLVMBuildCall2(k->b, LLVMGlobalGetValueType(f), f, args, (unsigned)n, "");
}

/* Some lanes in another order; a number that no lane has: any value. */
static V lanes_from(Kernel *k, V v, int first, int n)
{
    V order[MAX_LANES];
    int lanes = (int)LLVMGetVectorSize(LLVMTypeOf(v));
    for (int l = 0; l < n; l++)
        order[l] = first + l < lanes ? LLVMConstInt(int_type(k, 32), (unsigned)(first + l), false)
                                     : LLVMGetPoison(int_type(k, 32));
    return LLVMBuildShuffleVector(k->b, v, LLVMGetPoison(LLVMTypeOf(v)),
                                  LLVMConstVector(order, (unsigned)n), "");
}

/* Words 16 i to 16 i + 15 of the table; behind its end nothing is read. */
static V table_register(Kernel *k, V pointer, int i, int64_t words)
{
    LLVMTypeRef type = LLVMVectorType(int_type(k, 32), LANES);
    V from = byte_offset(k, pointer, (int64_t)i * REGISTER), on[LANES];
    int64_t there = words - (int64_t)i * LANES;
    if (there >= LANES) {
        V v = LLVMBuildLoad2(k->b, type, from, "");
        LLVMSetAlignment(v, 1);
        return v;
    }
    for (int l = 0; l < LANES; l++)
        on[l] = LLVMConstInt(int_type(k, 1), l < there, false);
    return load_masked(k, "llvm.masked.load", type, from, 1, LLVMConstVector(on, LANES));
}

static V has_bit(Kernel *k, V numbers, int bit)
{
    V one = LLVMBuildAnd(k->b, numbers, const_i(k, LLVMTypeOf(numbers), INT64_C(1) << bit), "");
    return LLVMBuildICmp(k->b, LLVMIntNE, one, LLVMConstNull(LLVMTypeOf(numbers)), "");
}

/* Of 16 lanes the word with each one's number. */
static V words_at(Kernel *k, V pointer, int64_t words, V numbers)
{
    enum { BITS_OF_LANES = 4 };
    int n = (int)((words + LANES - 1) / LANES);
    V found[MOST_REGISTERS];
    for (int i = 0; i < n; i++)
        found[i] = table_register(k, pointer, i, words);
    if (n == 1)
        return x86(k, "llvm.x86.avx512.permvar.si.512", 2, (V[]){ found[0], numbers });
    for (int i = 0; i < n; i += 2) {
        V args[] = { found[i], numbers, found[i + 1 < n ? i + 1 : i] };
        found[i / 2] = x86(k, "llvm.x86.avx512.vpermi2var.d.512", 3, args);
    }
    n = (n + 1) / 2;
    for (int bit = BITS_OF_LANES + 1; n > 1; bit++, n = (n + 1) / 2) {
        V is_upper = has_bit(k, numbers, bit);
        for (int i = 0; i < n; i += 2)
            found[i / 2] =
                i + 1 < n ? LLVMBuildSelect(k->b, is_upper, found[i + 1], found[i], "") : found[i];
    }
    return found[0];
}

V small_table_lookup(Kernel *k, V pointer, Element e, int64_t n, V numbers)
{
    enum { BITS_OF_BYTE = 8 };
    int lanes = (int)LLVMGetVectorSize(LLVMTypeOf(numbers)), bytes = element_info[e].bytes;
    int each = WORD / bytes, log = each == 4 ? 2 : each - 1;
    int padded = (lanes + LANES - 1) / LANES * LANES;
    LLVMTypeRef type = LLVMTypeOf(numbers), raw = lanes_of(memory_type(k, e), lanes);
    V shift = const_i(k, type, log), all = NULL, parts[MAX_LANES / LANES];
    V places = lanes_from(k, LLVMBuildLShr(k->b, numbers, shift, ""), 0, padded);
    for (int g = 0; g < padded / LANES; g++)
        parts[g] = words_at(k, pointer, n / each, lanes_from(k, places, g * LANES, LANES));
    for (int g = 0; g < padded / LANES; g++) {
        V wide = lanes_from(k, parts[g], 0, lanes);
        V order[MAX_LANES];
        for (int l = 0; l < lanes; l++)
            order[l] = LLVMConstInt(int_type(k, 32),
                                    (unsigned)(l / LANES == g ? lanes + l % LANES : l), false);
        all =
            g ? LLVMBuildShuffleVector(k->b, all, wide, LLVMConstVector(order, (unsigned)lanes), "")
              : wide;
    }
    if (each == 1)
        return LLVMBuildBitCast(k->b, all, raw, "");
    V part = LLVMBuildAnd(k->b, numbers, const_i(k, type, each - 1), "");
    V by = LLVMBuildMul(k->b, part, const_i(k, type, (int64_t)bytes * BITS_OF_BYTE), "");
    return LLVMBuildTrunc(k->b, LLVMBuildLShr(k->b, all, by, ""), raw, "");
}
