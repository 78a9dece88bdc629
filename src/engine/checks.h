/* checks.h - what code checks while it runs: TUTTI_CHECK, else nothing. */
#ifndef TUTTI_ENGINE_CHECKS_H
#define TUTTI_ENGINE_CHECKS_H
#include "base/error.h"

#include <stdbool.h>

/* Checks TUTTI_CHECK as it is now; each compilation reads it anew. */
MUST_USE Error *checks_validate(void);
/* Is every access to be compared with the array it is made to (codegen/codegen.h)? */
bool checks_bounds(void);
/* Is every result to be looked through for a NaN (numerics/nans.c)?  Then each operation is a kernel of its
 * own, so that the one that made the first can be named. */
bool checks_nans(void);
#endif
