/* floats.h - the floating-point state of the calling thread's processor.
 *
 * Compiled code runs in one state on every thread: rounding to nearest, no traps, denormals taken
 * for zeros.  Foreign code (custom calls, callbacks of events, functions that take memory back)
 * runs in the state that its thread had before. */
#ifndef TUTTI_ENGINE_FLOATS_H
#define TUTTI_ENGINE_FLOATS_H
#include <stdbool.h>
#include <stdint.h>

/* A state to return to. */
typedef struct Floats {
    uint64_t control; /* MXCSR, or FPCR */
    uint64_t foreign; /* if is_compiled: the state that foreign code gets */
    bool is_compiled; /* the state of compiled code */
    bool has_x87;     /* false: compiled code does not use it, so it is left as it is */
    uint16_t x87;
} Floats;

/* Each returns the state before, for floats_restore. */
Floats floats_enter_compiled(void);
Floats floats_enter_foreign(void); /* the thread's own: that before floats_enter_compiled */
Floats floats_enter_default(void); /* as C begins: for threads of the engine, and to compile */
void floats_restore(Floats before);
#endif
