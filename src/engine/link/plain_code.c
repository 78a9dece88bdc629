/* plain_code.c - functions that only call others: LLVM's form in, x86-64 code out, without LLVM.
 *
 *     %1 = getelementptr i8, ptr %0, i64 24      mov rax, [rbp - 8];  add rax, 24;  mov [rbp - 16], rax
 *     call void @k0(ptr %0, ptr %1)              mov rdi, [rbp - 8];  mov rsi, [rbp - 16]
 *                                                call [rip + the word of k0]
 *
 * Every value has a place of eight bytes on the stack, where each instruction finds its operands and
 * leaves its result; integers of fewer bits have zeros above them.  That is what LLVM makes of such code
 * without optimisation, for which it takes 0.3 ms, and twice that where its own code is not in the
 * caches.
 *
 * What others define is called by way of a word behind the code.  A function that LLVM's code names
 * stays LLVM's; and all do when anything in them is not known here. */
#include "engine/link/plain_code.h"

#include "base/grow.h"
#include "base/table.h"

#include <llvm-c/Target.h>

#include <stdio.h>
#include <string.h>

#ifdef __x86_64__

/* ---- what is known while code is made ---- */

typedef enum Register { AX, CX, DX, BX, SP, BP, SI, DI, R8, R9 } Register;

typedef struct Place {
    LLVMValueRef value; /* NULL: none */
    int below;          /* bytes below rbp: of the value, or of memory whose address it is */
} Place;

typedef struct Jump {
    int at; /* of its distance, in the code */
    LLVMBasicBlockRef to;
} Jump;

typedef struct Use {
    int at; /* of the distance, in the code */
    int number;
} Use;

typedef struct Writer {
    Emit *e;
    PlainCode *out;
    LLVMTargetDataRef layout;
    Arena *arena;
    int nfunctions;
    LLVMValueRef *functions; /* that are made here */
    Table numbers;           /* of functions that are made here, and */
    Table words;             /* of the words of others */
    bool is_unknown;         /* something in them is */

    Place *places; /* of this function's values: a hash table */
    unsigned nplaces;
    LLVMBasicBlockRef *blocks; /* of this function, and where they begin */
    int *begins;
    int nblocks, blocks_room, begins_room;
    Jump *jumps;
    int njumps, jumps_room;
    int frame;        /* bytes below rbp */
    int most_stacked; /* arguments of a call that go by the stack */

    Use *calls; /* of functions made here */
    int ncalls, calls_room;
    Use *uses; /* of words */
    int nuses, uses_room;
} Writer;

static void put(Writer *w, int byte)
{
    PlainCode *p = w->out;
    ROOM(w->arena, p->code, p->n, &p->room);
    p->code[p->n++] = (unsigned char)byte;
}

static void put_bytes(Writer *w, uint64_t bytes, int n)
{
    for (int i = 0; i < n; i++)
        put(w, (int)(bytes >> (8 * i) & 255));
}

static void patch(Writer *w, int at, int value)
{
    memcpy(w->out->code + at, &value, sizeof value);
}

static void unknown(Writer *w)
{
    w->is_unknown = true;
}

/* ---- values and their places ---- */

static Place *place_of(Writer *w, LLVMValueRef value)
{
    unsigned i = (unsigned)((uintptr_t)value >> 4) * 2654435761u;
    for (;; i++) {
        Place *p = &w->places[i & (w->nplaces - 1)];
        if (!p->value || p->value == value)
            return p;
    }
}

static Place *place_new(Writer *w, LLVMValueRef value, int bytes)
{
    Place *p = place_of(w, value);
    w->frame += bytes;
    *p = (Place){ value, w->frame };
    return p;
}

/* Bits of integers and pointers that are known here; 0: it is another type. */
static int width_of(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return 64;
    int bits = LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? (int)LLVMGetIntTypeWidth(type) : 0;
    return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits : 0;
}

/* op reg, [rbp - below] */
static void at_place(Writer *w, int opcode, Register reg, int below)
{
    put(w, 0x48 | (reg >= R8 ? 4 : 0));
    put(w, opcode);
    put(w, 0x80 | (reg & 7) << 3 | BP);
    put_bytes(w, (uint64_t)-below, 4);
}

enum { LOAD = 0x8b, STORE = 0x89, ADDRESS = 0x8d };

static void load_number(Writer *w, Register reg, uint64_t number)
{
    bool is_wide = number >> 32;
    put(w, 0x40 | (is_wide ? 8 : 0) | (reg >= R8 ? 1 : 0));
    put(w, 0xb8 | (reg & 7));
    put_bytes(w, number, is_wide ? 8 : 4);
}

static bool is_here(const Writer *w, LLVMValueRef function)
{
    uint64_t number;
    return table_get(&w->numbers, &function, sizeof function, &number);
}

static int word_of(Writer *w, LLVMValueRef function)
{
    PlainCode *p = w->out;
    uint64_t known;
    if (table_get(&w->words, &function, sizeof function, &known))
        return (int)known;
    size_t n;
    const char *name = LLVMGetValueName2(function, &n);
    ROOM(w->arena, p->words, p->nwords, &p->words_room);
    p->words[p->nwords] = arena_copy(w->arena, name, n + 1);
    table_set(&w->words, &function, sizeof function, (uint64_t)p->nwords);
    return p->nwords++;
}

/* The distance from behind it, of four bytes, to a function made here or to another's word. */
static void put_distance(Writer *w, LLVMValueRef function)
{
    uint64_t number;
    if (table_get(&w->numbers, &function, sizeof function, &number)) {
        ROOM(w->arena, w->calls, w->ncalls, &w->calls_room);
        w->calls[w->ncalls++] = (Use){ w->out->n, (int)number };
    } else {
        ROOM(w->arena, w->uses, w->nuses, &w->uses_room);
        w->uses[w->nuses++] = (Use){ w->out->n, word_of(w, function) };
    }
    put_bytes(w, 0, 4);
}

/* Functions of LLVM's own have no address. */
static bool is_callable(LLVMValueRef function)
{
    size_t n;
    return strncmp(LLVMGetValueName2(function, &n), "llvm.", 5) != 0;
}

static void load_function(Writer *w, Register reg, LLVMValueRef function)
{
    if (!is_callable(function))
        unknown(w);
    put(w, 0x48 | (reg >= R8 ? 4 : 0));
    put(w, is_here(w, function) ? ADDRESS : LOAD);
    put(w, (reg & 7) << 3 | 5); /* [rip + distance] */
    put_distance(w, function);
}

static void load(Writer *w, Register reg, LLVMValueRef value)
{
    const Place *p;
    switch (LLVMGetValueKind(value)) {
    case LLVMConstantIntValueKind:
        if (!width_of(LLVMTypeOf(value)))
            unknown(w);
        else
            load_number(w, reg, LLVMConstIntGetZExtValue(value));
        return;
    case LLVMConstantPointerNullValueKind: load_number(w, reg, 0); return;
    case LLVMFunctionValueKind: load_function(w, reg, value); return;
    case LLVMArgumentValueKind:
    case LLVMInstructionValueKind: p = place_of(w, value); break;
    default: unknown(w); return;
    }
    if (!p->value || !width_of(LLVMTypeOf(value)))
        unknown(w);
    else
        at_place(w, LLVMIsAAllocaInst(value) ? ADDRESS : LOAD, reg, p->below);
}

static void keep(Writer *w, LLVMValueRef value, Register reg)
{
    at_place(w, STORE, reg, place_new(w, value, 8)->below);
}

/* ---- instructions ---- */

static void clear_above(Writer *w, Register reg, int bits)
{
    if (bits == 32) /* mov reg, reg clears the upper half */
        put(w, 0x89);
    else if (bits < 32) /* movzx reg, its byte or word */
        put(w, 0x0f), put(w, bits == 16 ? 0xb7 : 0xb6);
    else
        return;
    put(w, 0xc0 | reg << 3 | reg); /* AX, CX or DX */
}

static void make_alloca(Writer *w, LLVMValueRef x)
{
    LLVMValueRef count = LLVMGetOperand(x, 0);
    uint64_t bytes = LLVMABISizeOfType(w->layout, LLVMGetAllocatedType(x));
    LLVMBasicBlockRef first =
        LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(x)));
    if (LLVMGetInstructionParent(x) != first || !LLVMIsAConstantInt(count) ||
        LLVMConstIntGetZExtValue(count) != 1 || bytes > 1 << 16 || LLVMGetAlignment(x) > 16) {
        unknown(w);
        return;
    }
    w->frame = (w->frame + 15) & ~15;
    place_new(w, x, ((int)bytes + 15) & ~15);
}

/* One that others see in the order of the code would need more than a move. */
static void see_order(Writer *w, LLVMValueRef x)
{
    if (LLVMGetOrdering(x) > LLVMAtomicOrderingMonotonic)
        unknown(w);
}

/* rax = so many bits at [rax] */
static void from_memory(Writer *w, int bits)
{
    switch (bits) {
    case 64: put_bytes(w, 0x008b48, 3); break;
    case 32: put_bytes(w, 0x008b, 2); break;
    case 16: put_bytes(w, 0x00b70f, 3); break;
    case 8:
    case 1: put_bytes(w, 0x00b60f, 3); break;
    default: unknown(w);
    }
}

/* so many bits at [rcx] = rax */
static void to_memory(Writer *w, int bits)
{
    switch (bits) {
    case 64: put_bytes(w, 0x018948, 3); break;
    case 32: put_bytes(w, 0x0189, 2); break;
    case 16: put_bytes(w, 0x018966, 3); break;
    case 8:
    case 1: put_bytes(w, 0x0188, 2); break;
    default: unknown(w);
    }
}

static void make_load(Writer *w, LLVMValueRef x)
{
    see_order(w, x);
    load(w, AX, LLVMGetOperand(x, 0));
    from_memory(w, width_of(LLVMTypeOf(x)));
    keep(w, x, AX);
}

static void make_store(Writer *w, LLVMValueRef x)
{
    LLVMValueRef value = LLVMGetOperand(x, 0);
    see_order(w, x);
    load(w, AX, value);
    load(w, CX, LLVMGetOperand(x, 1));
    to_memory(w, width_of(LLVMTypeOf(value)));
}

/* A pointer and one index. */
static void make_address(Writer *w, LLVMValueRef x)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(x);
    LLVMValueRef index = LLVMGetOperand(x, 1);
    if (LLVMGetNumOperands(x) != 2 || LLVMGetTypeKind(LLVMTypeOf(x)) != LLVMPointerTypeKind ||
        width_of(LLVMTypeOf(index)) != 64 || !LLVMTypeIsSized(type)) {
        unknown(w);
        return;
    }
    uint64_t size = LLVMABISizeOfType(w->layout, type);
    load(w, AX, LLVMGetOperand(x, 0));
    if (LLVMIsAConstantInt(index))
        load_number(w, CX, (uint64_t)LLVMConstIntGetSExtValue(index) * size);
    else {
        load(w, CX, index);
        load_number(w, DX, size);
        put_bytes(w, 0xcaaf0f48, 4); /* imul rcx, rdx */
    }
    put_bytes(w, 0xc80148, 3); /* add rax, rcx */
    keep(w, x, AX);
}

static void make_sum_or_product(Writer *w, LLVMValueRef x)
{
    int bits = width_of(LLVMTypeOf(x));
    load(w, AX, LLVMGetOperand(x, 0));
    load(w, CX, LLVMGetOperand(x, 1));
    if (LLVMGetInstructionOpcode(x) == LLVMAdd)
        put_bytes(w, 0xc80148, 3); /* add rax, rcx */
    else
        put_bytes(w, 0xc1af0f48, 4); /* imul rax, rcx */
    if (bits < 32)
        unknown(w);
    clear_above(w, AX, bits);
    keep(w, x, AX);
}

/* The second byte of setcc. */
static int condition_of(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntEQ: return 0x94;
    case LLVMIntNE: return 0x95;
    case LLVMIntUGT: return 0x97;
    case LLVMIntUGE: return 0x93;
    case LLVMIntULT: return 0x92;
    case LLVMIntULE: return 0x96;
    case LLVMIntSGT: return 0x9f;
    case LLVMIntSGE: return 0x9d;
    case LLVMIntSLT: return 0x9c;
    case LLVMIntSLE: return 0x9e;
    }
    return 0;
}

static void make_comparison(Writer *w, LLVMValueRef x)
{
    int bits = width_of(LLVMTypeOf(LLVMGetOperand(x, 0)));
    load(w, AX, LLVMGetOperand(x, 0));
    load(w, CX, LLVMGetOperand(x, 1));
    if (bits == 64)
        put_bytes(w, 0xc83948, 3); /* cmp rax, rcx */
    else if (bits == 32)
        put_bytes(w, 0xc839, 2); /* cmp eax, ecx */
    else
        unknown(w);
    put(w, 0x0f);
    put(w, condition_of(LLVMGetICmpPredicate(x)));
    put(w, 0xc0); /* al */
    clear_above(w, AX, 8);
    keep(w, x, AX);
}

static void jump(Writer *w, int opcode, int bytes, LLVMBasicBlockRef to)
{
    put_bytes(w, (uint64_t)opcode, bytes);
    ROOM(w->arena, w->jumps, w->njumps, &w->jumps_room);
    w->jumps[w->njumps++] = (Jump){ w->out->n, to };
    put_bytes(w, 0, 4);
}

static void make_branch(Writer *w, LLVMValueRef x)
{
    LLVMBasicBlockRef next = LLVMGetNextBasicBlock(LLVMGetInstructionParent(x));
    LLVMBasicBlockRef otherwise = LLVMGetSuccessor(x, LLVMGetNumSuccessors(x) - 1);
    if (LLVMIsConditional(x)) {
        load(w, AX, LLVMGetCondition(x));
        put_bytes(w, 0xc085, 2);                    /* test eax, eax */
        jump(w, 0x850f, 2, LLVMGetSuccessor(x, 0)); /* jnz */
    }
    if (otherwise != next)
        jump(w, 0xe9, 1, otherwise);
}

static void make_return(Writer *w, LLVMValueRef x)
{
    if (LLVMGetNumOperands(x))
        load(w, AX, LLVMGetOperand(x, 0));
    put_bytes(w, 0xc3c9, 2); /* leave; ret */
}

static const Register argument_registers[] = { DI, SI, DX, CX, R8, R9 };
enum { IN_REGISTERS = sizeof argument_registers / sizeof *argument_registers };

static bool is_copy(LLVMValueRef callee)
{
    static const char name[] = "llvm.memcpy.";
    size_t n;
    return strncmp(LLVMGetValueName2(callee, &n), name, sizeof name - 1) == 0;
}

/* As many bytes as a register may have are moved by one; of more the C library's function is called, which stays
 * where it is as long as this code is there. */
static void make_copy(Writer *w, LLVMValueRef x)
{
    LLVMValueRef to = LLVMGetOperand(x, 0), from = LLVMGetOperand(x, 1), n = LLVMGetOperand(x, 2);
    uint64_t bytes = LLVMIsAConstantInt(n) ? LLVMConstIntGetZExtValue(n) : 0;
    if (width_of(LLVMTypeOf(n)) != 64)
        unknown(w);
    if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) {
        load(w, AX, from);
        from_memory(w, 8 * (int)bytes);
        load(w, CX, to);
        to_memory(w, 8 * (int)bytes);
        return;
    }
    load(w, DI, to);
    load(w, SI, from);
    load(w, DX, n);
    load_number(w, AX, (uint64_t)(uintptr_t)memcpy);
    put_bytes(w, 0xd0ff, 2); /* call rax */
}

static void make_call(Writer *w, LLVMValueRef x)
{
    int n = (int)LLVMGetNumArgOperands(x);
    LLVMValueRef callee = LLVMGetCalledValue(x);
    if (is_copy(callee)) {
        make_copy(w, x);
        return;
    }
    LLVMTypeRef type = LLVMGetCalledFunctionType(x);
    LLVMTypeRef result = LLVMGetReturnType(type);
    bool is_void = LLVMGetTypeKind(result) == LLVMVoidTypeKind;
    if (LLVMIsFunctionVarArg(type) || (!is_void && !width_of(result)))
        unknown(w);
    for (int i = IN_REGISTERS; i < n; i++) { /* mov [rsp + 8 * ...], rax */
        load(w, AX, LLVMGetOperand(x, (unsigned)i));
        put_bytes(w, 0x24848948, 4);
        put_bytes(w, (uint64_t)(i - IN_REGISTERS) * 8, 4);
    }
    w->most_stacked = n - IN_REGISTERS > w->most_stacked ? n - IN_REGISTERS : w->most_stacked;
    for (int i = 0; i < n && i < IN_REGISTERS; i++)
        load(w, argument_registers[i], LLVMGetOperand(x, (unsigned)i));
    load(w, AX, callee);
    put_bytes(w, 0xd0ff, 2); /* call rax */
    if (is_void)
        return;
    clear_above(w, AX, width_of(result) == 1 ? 8 : width_of(result));
    keep(w, x, AX);
}

static void make_instruction(Writer *w, LLVMValueRef x)
{
    switch (LLVMGetInstructionOpcode(x)) {
    case LLVMAlloca: make_alloca(w, x); break;
    case LLVMLoad: make_load(w, x); break;
    case LLVMStore: make_store(w, x); break;
    case LLVMGetElementPtr: make_address(w, x); break;
    case LLVMAdd:
    case LLVMMul: make_sum_or_product(w, x); break;
    case LLVMICmp: make_comparison(w, x); break;
    case LLVMBr: make_branch(w, x); break;
    case LLVMRet: make_return(w, x); break;
    case LLVMCall: make_call(w, x); break;
    default: unknown(w);
    }
}

/* ---- functions ---- */

static void make_arguments(Writer *w, LLVMValueRef f)
{
    int n = (int)LLVMCountParams(f);
    for (int i = 0; i < n; i++) {
        LLVMValueRef argument = LLVMGetParam(f, (unsigned)i);
        int bits = width_of(LLVMTypeOf(argument));
        if (bits != 64) /* who calls may leave anything above fewer */
            unknown(w);
        if (i < IN_REGISTERS)
            keep(w, argument, argument_registers[i]);
        else /* above the frame, the address of return and the caller's rbp */
            *place_of(w, argument) = (Place){ argument, -(16 + 8 * (i - IN_REGISTERS)) };
    }
}

static void find_room(Writer *w, LLVMValueRef f)
{
    unsigned values = LLVMCountParams(f);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef x = LLVMGetFirstInstruction(b); x; x = LLVMGetNextInstruction(x))
            values++;
    for (w->nplaces = 16; w->nplaces < 2 * values;)
        w->nplaces *= 2;
    w->places = ARENA_ARRAY(w->arena, Place, w->nplaces);
    w->frame = w->most_stacked = w->nblocks = w->njumps = 0;
}

static void join_jumps(Writer *w)
{
    for (int i = 0; i < w->njumps; i++)
        for (int b = 0; b < w->nblocks; b++)
            if (w->blocks[b] == w->jumps[i].to)
                patch(w, w->jumps[i].at, w->begins[b] - (w->jumps[i].at + 4));
}

static void make_function(Writer *w, LLVMValueRef f)
{
    find_room(w, f);
    put(w, 0x55);              /* push rbp */
    put_bytes(w, 0xe58948, 3); /* mov rbp, rsp */
    put_bytes(w, 0xec8148, 3); /* sub rsp, the frame */
    int frame_at = w->out->n;
    put_bytes(w, 0, 4);
    make_arguments(w, f);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        ROOM(w->arena, w->blocks, w->nblocks, &w->blocks_room);
        ROOM(w->arena, w->begins, w->nblocks, &w->begins_room);
        w->blocks[w->nblocks] = b;
        w->begins[w->nblocks++] = w->out->n;
        for (LLVMValueRef x = LLVMGetFirstInstruction(b); x; x = LLVMGetNextInstruction(x))
            make_instruction(w, x);
    }
    join_jumps(w);
    patch(w, frame_at, (w->frame + 8 * w->most_stacked + 15) & ~15);
}

static void join_functions(Writer *w)
{
    const PlainCode *p = w->out;
    for (int i = 0; i < w->ncalls; i++)
        patch(w, w->calls[i].at, p->at[w->calls[i].number] - (w->calls[i].at + 4));
    for (int i = 0; i < w->nuses; i++) {
        int word = (int)plain_code_words_at(p) + 8 * w->uses[i].number;
        patch(w, w->uses[i].at, word - (w->uses[i].at + 4));
    }
}

/* ---- which are taken ---- */

/* Only functions that are made here too name it. */
static bool is_named_here(const Writer *w, LLVMValueRef f)
{
    for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMIsAInstruction(LLVMGetUser(use));
        if (!user || !is_here(w, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user))))
            return false;
    }
    return true;
}

static void number_functions(Writer *w)
{
    table_free(&w->numbers);
    for (int i = 0; i < w->nfunctions; i++)
        table_set(&w->numbers, &w->functions[i], sizeof *w->functions, (uint64_t)i);
}

/* Functions that others name go, and then those that these named. */
static void drop_named(Writer *w)
{
    for (int before = -1; before != w->nfunctions;) {
        before = w->nfunctions;
        number_functions(w);
        w->nfunctions = 0;
        for (int i = 0; i < before; i++)
            if (is_named_here(w, w->functions[i]))
                w->functions[w->nfunctions++] = w->functions[i];
    }
}

static void find_functions(Writer *w)
{
    int room = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(w->e->llvm); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || !only_calls(f))
            continue;
        ROOM(w->arena, w->functions, w->nfunctions, &room);
        w->functions[w->nfunctions++] = f;
    }
    drop_named(w);
}

static void make_functions(Writer *w)
{
    PlainCode *p = w->out;
    p->names = ARENA_ARRAY(w->arena, const char *, w->nfunctions);
    p->at = ARENA_ARRAY(w->arena, int, w->nfunctions);
    for (int i = 0; i < w->nfunctions && !w->is_unknown; i++) {
        size_t n;
        const char *name = LLVMGetValueName2(w->functions[i], &n);
        p->names[i] = arena_copy(w->arena, name, n + 1);
        p->at[i] = p->n;
        make_function(w, w->functions[i]);
    }
    p->nfunctions = w->nfunctions;
    join_functions(w);
}

/* A name that no other module has: of a function that others find by it. */
static const char *only_name(const Writer *w)
{
    for (int i = 0; i < w->nfunctions; i++)
        if (LLVMGetLinkage(w->functions[i]) != LLVMInternalLinkage)
            return w->out->names[i];
    return "plain";
}

/* What they call is found by its name from now on.  A function of the module's own may be called as one of
 * another module is, so a name that only this module has is put before its own. */
static void give_away(Writer *w)
{
    const char *prefix = only_name(w);
    for (int i = 0; i < w->nfunctions; i++)
        LLVMReplaceAllUsesWith(w->functions[i], LLVMGetUndef(LLVMTypeOf(w->functions[i])));
    for (int i = 0; i < w->nfunctions; i++)
        LLVMDeleteFunction(w->functions[i]);
    for (int i = 0; i < w->out->nwords; i++) {
        const char *own = w->out->words[i];
        LLVMValueRef f = LLVMGetNamedFunction(w->e->llvm, own);
        if (LLVMGetLinkage(f) != LLVMInternalLinkage)
            continue;
        size_t n = strlen(prefix) + 1 + strlen(own);
        char *name = arena_alloc(w->arena, n + 1);
        snprintf(name, n + 1, "%s.%s", prefix, own);
        LLVMSetValueName2(f, name, n);
        LLVMSetLinkage(f, LLVMExternalLinkage);
        LLVMSetVisibility(f, LLVMHiddenVisibility);
        w->out->words[i] = name;
    }
}

void plain_code_take(Emit *e, Arena *arena, PlainCode *out)
{
    if (e->bounds) /* which is still to write checks into all of them */
        return;
    Writer w = { .e = e, .arena = arena, .out = out, .layout = LLVMGetModuleDataLayout(e->llvm) };
    find_functions(&w);
    if (w.nfunctions)
        make_functions(&w);
    if (w.is_unknown)
        *out = (PlainCode){ 0 };
    else
        give_away(&w);
    table_free(&w.numbers);
    table_free(&w.words);
}

#else

void plain_code_take(Emit *e, Arena *arena, PlainCode *out)
{
    (void)e, (void)arena, (void)out; /* all of them stay LLVM's */
}

#endif

size_t plain_code_words_at(const PlainCode *p)
{
    return ((size_t)p->n + 7) & ~(size_t)7;
}

size_t plain_code_bytes(const PlainCode *p)
{
    return plain_code_words_at(p) + 8 * (size_t)p->nwords;
}
