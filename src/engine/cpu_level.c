/* cpu_level.c - which instructions code may use: the words of TUTTI_CPU_LEVEL. */
#include "engine/cpu_level.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* NULL: nothing is asked for. */
static const char *asked(void)
{
    const char *word = getenv("TUTTI_CPU_LEVEL");
    return word && *word ? word : NULL;
}

CpuLevel cpu_level(void)
{
    const char *word = asked();
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

Error *cpu_level_check(void)
{
    if (asked() && cpu_level() == CPU_NATIVE)
        return error_new(
            CODE_INVALID,
            "TUTTI_CPU_LEVEL: there is no level '%s'; levels are avx512, avx2 and sse, "
            "and without it code uses all that the machine has",
            asked());
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
    bool is_all = most == CPU_NATIVE && has_512;
    CpuAbility a = { .vector_bytes = has_512 ? 64 : has_256 ? 32 : 16 };
    a.has[CPU_BF16_DOTS] = is_all && HAS("avx512bf16");
    a.has[CPU_INTEGER_DOTS] = is_all && HAS("avx512vnni");
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
