/* cpu_level.h - which instructions code may use: TUTTI_CPU_LEVEL, else all that the machine has. */
#ifndef TUTTI_ENGINE_CPU_LEVEL_H
#define TUTTI_ENGINE_CPU_LEVEL_H
#include "base/error.h"

#include <stdbool.h>

typedef enum CpuLevel { CPU_NATIVE, CPU_DOTS, CPU_AVX512, CPU_AVX2, CPU_SSE } CpuLevel;

/* Checks TUTTI_CPU_LEVEL as it is now; the first compilation settles it for the process. */
MUST_USE Error *cpu_level_check(void);
/* CPU_NATIVE also where the word is wrong: cpu_level_check has returned the error. */
CpuLevel cpu_level(void);

/* What a machine must have to run code that was made for it elsewhere, more from one to the next. */
typedef enum MachineLevel {
    MACHINE_ANY,
    MACHINE_X86_64_V2, /* SSE4.2 */
    MACHINE_X86_64_V3, /* AVX2, FMA */
    MACHINE_X86_64_V4, /* AVX-512 F, VL, DQ, BW, CD */
} MachineLevel;
bool machine_has(MachineLevel level); /* this machine, whatever TUTTI_CPU_LEVEL says */

/* The bytes of a vector register that ready-made loops may use, at that level on this machine: 64
 * (AVX-512), 32 (AVX2 and FMA) or 16.  Found once. */
int cpu_vector_bytes(void);

/* Instructions beyond those: sums of products of two bf16, of four i8 or two i16, in vectors of 64 bytes,
 * from the level `dots` on; and only with all that the machine has, products of whole tiles of bf16 and of i8
 * (AMX), for which Linux is asked. */
typedef enum CpuFeature { CPU_BF16_DOTS, CPU_INTEGER_DOTS, CPU_TILES, CPU_FEATURES } CpuFeature;
bool cpu_has(CpuFeature feature);

/* The two above at the level that TUTTI_CPU_LEVEL asks for now, which settles nothing. */
typedef struct CpuAbility {
    int vector_bytes;
    bool has[CPU_FEATURES];
} CpuAbility;
CpuAbility cpu_ability(void);
#endif
