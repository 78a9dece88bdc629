/* plain_code.h - machine code of functions that only call, made without LLVM. */
#ifndef TUTTI_ENGINE_LINK_PLAIN_CODE_H
#define TUTTI_ENGINE_LINK_PLAIN_CODE_H
#include "engine/codegen/codegen.h"

/* Code that may lie anywhere, in the arena that it was made with; starts as { 0 }.  Behind it, at a
 * multiple of eight bytes, belong words with the addresses of what it calls. */
typedef struct PlainCode {
    unsigned char *code;
    int n, room;
    int nfunctions;
    const char **names;
    int *at; /* where in the code each function begins */
    int nwords, words_room;
    const char **words; /* names of functions that others define */
} PlainCode;

/* No number is computed in it, but for addresses and counts, and no branch goes back, unless that is the end. */
bool only_calls(LLVMValueRef function);
/* Takes such functions out of the module, as far as their code can be made here. */
void plain_code_take(Emit *e, Arena *arena, PlainCode *out);
/* How many bytes code and words take. */
size_t plain_code_bytes(const PlainCode *p);
/* Where in them the words are. */
size_t plain_code_words_at(const PlainCode *p);
#endif
