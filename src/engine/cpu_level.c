/* cpu_level.c - which instructions code may use: the words of TUTTI_CPU_LEVEL. */
#include "engine/cpu_level.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined __x86_64__ && defined __linux__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* NULL: nothing is asked for. */
static const char *asked(void)
{
    const char *word = getenv("TUTTI_CPU_LEVEL");
    return word && *word ? word : NULL;
}

CpuLevel cpu_level(void)
{
    const char *word = asked();
    if (word && !strcmp(word, "dots"))
        return CPU_DOTS;
    if (word && !strcmp(word, "avx512"))
        return CPU_AVX512;
    if (word && !strcmp(word, "avx2"))
        return CPU_AVX2;
    return word && !strcmp(word, "sse") ? CPU_SSE : CPU_NATIVE;
}

#if defined __x86_64__
#define HAS(feature) (__builtin_cpu_supports(feature) != 0)
#else
#define HAS(feature) false
#endif

bool machine_has(MachineLevel level)
{
    switch (level) {
    case MACHINE_ANY: return true;
    case MACHINE_X86_64_V2: return HAS("sse4.2") && HAS("popcnt");
    case MACHINE_X86_64_V3: return HAS("avx2") && HAS("fma");
    case MACHINE_X86_64_V4:
        return HAS("avx512f") && HAS("avx512vl") && HAS("avx512dq") && HAS("avx512bw");
    }
    return false;
}

#if defined __x86_64__ && defined __linux__
/* The processor has tiles of bf16 and of i8, the system saves them where threads are switched, and this
 * process may use them: they make what is saved larger by 8 KB, so Linux wants to be asked first, once for
 * all threads.  It refuses where a thread's stack for signals is too small for that. */
static bool tiles_allowed(void)
{
    enum { BF16 = 1 << 22, TILES = 1 << 24, I8 = 1 << 25, WANTED = BF16 | TILES | I8 };
    enum { OSXSAVE = 1 << 27, REQUEST = 0x1023, TILE_CONFIG = 17, TILE_DATA = 18 };
    unsigned a, b, c, d, saved, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE) ||
        !__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & WANTED) != WANTED)
        return false;
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    return saved >> TILE_CONFIG & 1 && saved >> TILE_DATA & 1 &&
           syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}
#else
static bool tiles_allowed(void)
{
    return false;
}
#endif

Error *cpu_level_check(void)
{
    if (asked() && cpu_level() == CPU_NATIVE)
        return error_new(
            CODE_INVALID,
            "TUTTI_CPU_LEVEL: there is no level '%s'; levels are dots, avx512, avx2 and sse, "
            "and without it code uses all that the machine has",
            asked());
    if (cpu_level() == CPU_DOTS && !HAS("avx512bf16") && !HAS("avx512vnni"))
        return error_new(
            CODE_INVALID,
            "TUTTI_CPU_LEVEL: this machine has no dots, which are sums of products of pairs "
            "or fours (AVX512_BF16, AVX512_VNNI)");
    if (cpu_level() == CPU_AVX512 && !machine_has(MACHINE_X86_64_V4))
        return error_new(CODE_INVALID, "TUTTI_CPU_LEVEL: this machine has no avx512");
    if (cpu_level() == CPU_AVX2 && !machine_has(MACHINE_X86_64_V3))
        return error_new(CODE_INVALID, "TUTTI_CPU_LEVEL: this machine has no avx2");
    if (cpu_level() == CPU_SSE && !machine_has(MACHINE_X86_64_V2))
        return error_new(CODE_INVALID, "TUTTI_CPU_LEVEL: this machine has no sse");
    return NULL;
}

static int vector_bytes;
static bool features[CPU_FEATURES];
static pthread_once_t vector_once = PTHREAD_ONCE_INIT;

CpuAbility cpu_ability(void)
{
    CpuLevel most = cpu_level();
    bool has_512 = most <= CPU_AVX512 && machine_has(MACHINE_X86_64_V4);
    bool has_256 = most != CPU_SSE && machine_has(MACHINE_X86_64_V3);
    bool has_dots = most <= CPU_DOTS && has_512;
    CpuAbility a = { .vector_bytes = has_512 ? 64 : has_256 ? 32 : 16 };
    a.has[CPU_BF16_DOTS] = has_dots && HAS("avx512bf16");
    a.has[CPU_INTEGER_DOTS] = has_dots && HAS("avx512vnni");
    a.has[CPU_TILES] = most == CPU_NATIVE && a.has[CPU_BF16_DOTS] && tiles_allowed();
    return a;
}

static void find_vector(void)
{
    CpuAbility a = cpu_ability();
    vector_bytes = a.vector_bytes;
    memcpy(features, a.has, sizeof features);
}

int cpu_vector_bytes(void)
{
    pthread_once(&vector_once, find_vector);
    return vector_bytes;
}

bool cpu_has(CpuFeature feature)
{
    pthread_once(&vector_once, find_vector);
    return features[feature];
}
