/* floats.c - the floating-point state of the calling thread's processor. */
#include "engine/floats.h"

static _Thread_local bool is_compiled;
static _Thread_local uint64_t foreign;

#if defined __x86_64__
#include <xmmintrin.h>
enum { DEFAULT = 0x1f80, COMPILED = DEFAULT | 0x8040, DEFAULT_X87 = 0x037f }; /* FTZ and DAZ */

static uint64_t get(void)
{
    return _mm_getcsr();
}

static void set(uint64_t control)
{
    _mm_setcsr((unsigned)control);
}

static uint16_t get_x87(void)
{
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return control;
}

static void set_x87(uint16_t control)
{
    __asm__ volatile("fldcw %0" ::"m"(control));
}
#else
enum { DEFAULT = 0, COMPILED = 1 << 24, DEFAULT_X87 = 0 }; /* FZ */

static uint64_t get(void)
{
    uint64_t control = 0;
#if defined __aarch64__
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
#endif
    return control;
}

static void set(uint64_t control)
{
    (void)control;
#if defined __aarch64__
    __asm__ volatile("msr fpcr, %0" ::"r"(control));
#endif
}

static uint16_t get_x87(void)
{
    return 0;
}

static void set_x87(uint16_t control)
{
    (void)control;
}
#endif

Floats floats_enter_compiled(void)
{
    Floats before = { .control = get(), .foreign = foreign, .is_compiled = is_compiled };
    if (!is_compiled)
        foreign = before.control;
    is_compiled = true;
    set(COMPILED);
    return before;
}

static Floats leave_compiled(uint64_t control)
{
    Floats before = { get(), foreign, is_compiled, true, get_x87() };
    is_compiled = false;
    set(control);
    return before;
}

Floats floats_enter_foreign(void)
{
    return leave_compiled(is_compiled ? foreign : get());
}

Floats floats_enter_default(void)
{
    Floats before = leave_compiled(DEFAULT);
    set_x87(DEFAULT_X87);
    return before;
}

void floats_restore(Floats before)
{
    foreign = before.foreign;
    is_compiled = before.is_compiled;
    set(before.control);
    if (before.has_x87)
        set_x87(before.x87);
}
