/* bounds.h - what this process may take. */
#ifndef TUTTI_CLI_BOUNDS_H
#define TUTTI_CLI_BOUNDS_H
#include "base/error.h"

#include <stddef.h>

/* From now on the process ends, with a word and EXIT_FAILED, when it has used more memory than that, or
 * lasted longer.  0: there is no limit. */
MUST_USE Error *bounds_watch(const char *what, size_t bytes, int seconds);
#endif
