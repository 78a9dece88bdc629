/* lapack_provider.h - whose LAPACK: the routines of a library that is there, or none.
 *
 * Found once, when the first program that has a use for it is compiled: what TUTTI_LAPACK names,
 * else what the host offers (Python hands over SciPy's), else the system's.  A provider has all the
 * routines or counts for nothing.  With none, our own are played (lapack_routines.c). */
#ifndef TUTTI_ENGINE_NUMERICS_LAPACK_PROVIDER_H
#define TUTTI_ENGINE_NUMERICS_LAPACK_PROVIDER_H
#include "base/error.h"
#include "ops/type.h"
#include "pjrt/extension.h"

/* By the names of the real ones. */
typedef enum LapackName {
    LAPACK_GETRF, LAPACK_POTRF, LAPACK_TRSM, LAPACK_GEQRF, LAPACK_ORGQR, LAPACK_ORMQR,
    LAPACK_GEQP3, LAPACK_GESDD, LAPACK_GESVD, LAPACK_SYEVD, LAPACK_GEEV, LAPACK_GEES,
    LAPACK_GEHRD, LAPACK_SYTRD, LAPACK_GTSV, LAPACK_NAMES
} LapackName;

/* Fortran's: every argument is an address, integers have 32 bits; behind the last stands the
 * length of each argument that is a letter.  The caller knows the rest. */
typedef void LapackFn(void);

/* The host's own: called once, by the thread that compiles, if ever. */
void lapack_offer(TuttiFindRoutine *find);

/* Looks, at the first call.  An error: TUTTI_LAPACK names what cannot be used. */
MUST_USE Error *lapack_find(void);
/* NULL: nobody has looked, or there is no library. */
LapackFn *lapack_routine(LapackName name, Element e);
/* The library's file, "own" or, before anybody has looked, "none wanted yet". */
const char *lapack_provider(void);

/* Around a segment of calls by one thread.  The library may use that many threads: 1 along with
 * others that ask for 1, more only alone, so that results do not depend on who else calls.  At the
 * end the number is what it was before. */
void lapack_begin(int nthreads);
void lapack_end(void);
#endif
