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

static bool has_512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

Error *cpu_level_check(void)
{
    if (asked() && cpu_level() == CPU_NATIVE)
        return error_new(
            CODE_INVALID,
            "TUTTI_CPU_LEVEL: there is no level '%s'; levels are avx512, avx2 and sse, "
            "and without it code uses all that the machine has",
            asked());
    if (cpu_level() == CPU_AVX512 && !has_512())
        return error_new(CODE_INVALID, "TUTTI_CPU_LEVEL: this machine has no avx512");
    if (cpu_level() == CPU_AVX2 &&
        !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
        return error_new(CODE_INVALID, "TUTTI_CPU_LEVEL: this machine has no avx2");
    return NULL;
}

static int vector_bytes;
static bool features[CPU_FEATURES];
static pthread_once_t vector_once = PTHREAD_ONCE_INIT;

static void find_vector(void)
{
    CpuLevel most = cpu_level();
    bool has_256 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    vector_bytes = most <= CPU_AVX512 && has_512() ? 64 : most != CPU_SSE && has_256 ? 32 : 16;
    bool is_all = most == CPU_NATIVE && vector_bytes == 64;
    features[CPU_BF16_DOTS] = is_all && __builtin_cpu_supports("avx512bf16");
    features[CPU_INTEGER_DOTS] = is_all && __builtin_cpu_supports("avx512vnni");
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
