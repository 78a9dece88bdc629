/* open.h - programs whose arguments have open extents. */
#ifndef TUTTI_CLI_OPEN_H
#define TUTTI_CLI_OPEN_H
#include "base/error.h"
#include "hlo/module.h"

/* If arguments of main have open extents, the program for the inputs' shapes, as text; empty: it
 * can be compiled as it is.  m has just been read; it is used up. */
MUST_USE Error *open_program(const char *path, Module *m, int ninputs, const char *const *inputs,
                             Text *out);
#endif
