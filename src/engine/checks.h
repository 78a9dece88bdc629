/* checks.h - what code checks while it runs: TUTTI_CHECK, else nothing. */
#ifndef TUTTI_ENGINE_CHECKS_H
#define TUTTI_ENGINE_CHECKS_H
#include "base/error.h"

#include <stdbool.h>

/* Of the environment as it is now; each compilation asks anew. */
MUST_USE Error *checks_validate(void);
/* Every access is compared with the array it is made to (codegen/bounds.h). */
bool checks_bounds(void);
#endif
