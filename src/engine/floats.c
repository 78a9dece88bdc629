/* floats.c - how this thread's processor computes with floating-point numbers. */
#include "engine/floats.h"

static _Thread_local bool is_ours;
static _Thread_local uint64_t theirs;

#if defined __x86_64__
#include <xmmintrin.h>
enum { PLAIN = 0x1f80, OURS = PLAIN | 0x8040, PLAIN_X87 = 0x037f }; /* FTZ and DAZ */

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
enum { PLAIN = 0, OURS = 1 << 24, PLAIN_X87 = 0 }; /* FZ */

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
    Floats before = { .control = get(), .theirs = theirs, .is_ours = is_ours };
    if (!is_ours)
        theirs = before.control;
    is_ours = true;
    set(OURS);
    return before;
}

static Floats leave_ours(uint64_t control)
{
    Floats before = { get(), theirs, is_ours, true, get_x87() };
    is_ours = false;
    set(control);
    return before;
}

Floats floats_enter_foreign(void)
{
    return leave_ours(is_ours ? theirs : get());
}

Floats floats_enter_default(void)
{
    Floats before = leave_ours(PLAIN);
    set_x87(PLAIN_X87);
    return before;
}

void floats_restore(Floats before)
{
    theirs = before.theirs;
    is_ours = before.is_ours;
    set(before.control);
    if (before.has_x87)
        set_x87(before.x87);
}
