/* program_cache.h - the programs there are, found by function and signature; the last used are kept. */
#ifndef TUTTI_FRONT_RUN_PROGRAM_CACHE_H
#define TUTTI_FRONT_RUN_PROGRAM_CACHE_H
#include "front/run/program.h"

/* Everything that tells a call's program from others, as bytes. */
typedef struct Signature {
    const void *at;
    size_t n;
    uint64_t hash;
} Signature;

/* With a hold for the caller (program_release); NULL: there is none. */
Program *programs_find(const Signature *signature);
/* There is none with this signature, which is copied; the caller keeps its hold. False: no memory.
 */
bool programs_add(Program *p, const Signature *signature);

/* For tests: how many are kept; and none are from here on. */
extern int programs_most;
void programs_drop(void);
#endif
