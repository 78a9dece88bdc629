/* floats.h - how this thread's processor computes with floating-point numbers.
 *
 * Compiled code runs in one state, whoever calls it: rounding to nearest, no traps, denormals taken
 * for zeros.  Everybody else's code runs in the state that its thread had: custom calls, callbacks of
 * events, functions that take memory back. */
#ifndef TUTTI_ENGINE_FLOATS_H
#define TUTTI_ENGINE_FLOATS_H
#include <stdbool.h>
#include <stdint.h>

/* What to go back to. */
typedef struct Floats {
    uint64_t control; /* MXCSR, or FPCR */
    uint64_t theirs;  /* if is_ours: what foreign code gets */
    bool is_ours;
    bool has_x87; /* compiled code has no use for it: it stays as it is there */
    uint16_t x87;
} Floats;

Floats floats_enter_compiled(void);   /* for compiled code; what was before */
Floats floats_enter_foreign(void); /* for foreign code: as it was before floats_enter_compiled, if that was called */
Floats floats_enter_default(void);  /* as C begins: for threads of our own, and to compile */
void floats_restore(Floats before);
#endif
